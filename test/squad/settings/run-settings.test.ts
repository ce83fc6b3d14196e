import { fc, it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { problemText } from '../../../src/text/problem.ts';
import { someLimitsSchema, limitsSchema } from '../../../src/model/limits.ts';
import { nearest } from '../../../src/text/nearest.ts';
import { parseSettings } from '../../../src/squad/settings/parse-settings.ts';
import { commandsToTrust } from '../../../src/squad/preflight/trust.ts';
import { trustHash } from '../../../src/squad/preflight/trust-hash.ts';
import { KNOWN_NAMES } from '../../support/known-names.ts';

describe('limits', () => {
  it('are the same everywhere, without defaults where they only change some', () => {
    expect(Object.keys(someLimitsSchema.shape)).toEqual(Object.keys(limitsSchema.shape));
    expect(someLimitsSchema.parse({})).toEqual({});
  });
});

describe('trust', () => {
  it('is asked for everything that comes from the repository or the objective', () => {
    const parsed = parseSettings(
      'setup: [{ run: a }]\nverify: [{ run: b }]\nruntimes: { claude: { command: claude }, codex: { command: ./codex, config: { notify: [x] } } }',
      's',
      KNOWN_NAMES,
    );
    const criteria = [
      { text: 't', command: 'c', done: false, line: 1 },
      { text: 'u', done: false, line: 2 },
    ];
    expect(parsed.ok && commandsToTrust(parsed.value, { criteria })).toEqual([
      { from: 'setup', run: 'a' },
      { from: 'verify', run: 'b' },
      { from: 'criterion', run: 'c' },
      { from: 'runtime', run: 'codex: ./codex' },
      { from: 'runtime', run: 'codex with config.notify = ["x"]' },
    ]);
  });

  it('is the same hash for ever', () => {
    expect(trustHash(['npm test', 'npm ci'])).toBe(trustHash(['npm ci', 'npm test', 'npm ci']));
    expect(trustHash(['npm test', 'npm ci'])).toMatch(/^[0-9a-f]{64}$/);
    expect(trustHash(['a', 'b'])).not.toBe(trustHash(['a,b']));
    expect(trustHash(['a'])).not.toBe(trustHash(['a ']));
  });

  property.prop([fc.array(fc.string()), fc.array(fc.string())])(
    'tells sets of commands apart, and nothing else',
    (one, other) => {
      const same = one.every((text) => other.includes(text)) && other.every((text) => one.includes(text));
      expect(trustHash(one) === trustHash(other)).toBe(same);
      expect(trustHash([...one, ...other])).toBe(trustHash([...other, ...one]));
    },
  );
});

describe('the nearest known word', () => {
  it.each([
    ['limts', 'limits'],
    ['limit', 'limits'],
    ['VERIFY', 'verify'],
    ['stepu', 'setup'],
    ['colour', undefined],
    ['', undefined],
    ['x'.repeat(100_000), undefined],
  ])('%.20j → %j', (word, expected) => {
    expect(nearest(word, ['limits', 'verify', 'setup', 'mail'])).toBe(expected);
  });
});

describe('a problem as text', () => {
  const problem = { file: 'o.md', line: 3, message: 'is wrong' };
  it.each([
    [problem, 'o.md:3: is wrong'],
    [{ ...problem, column: 7 }, 'o.md:3:7: is wrong'],
    [{ ...problem, example: '## A\n\n- b' }, 'o.md:3: is wrong; for example:\n    ## A\n    - b'],
  ])('%j', (value, expected) => {
    expect(problemText(value)).toBe(expected);
  });
});
