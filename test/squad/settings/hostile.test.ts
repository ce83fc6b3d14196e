// @module-tag all
import { it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../../src/squad/settings/parse-settings.ts';
import { holdsSettings } from '../../malformed/holds.ts';
import { settingsText } from '../../malformed/words.ts';
import { growth } from '../../support/growth.ts';
import { some, SPREAD, spread } from '../../support/lane.ts';
import { KNOWN_NAMES } from '../../support/known-names.ts';

/** Of the smaller one. What is quadratic shows long before the 256 KiB that are read. */
const SIZE = spread(2, 12) * 1024;
const fill = (unit: string, size: number): string => unit.repeat(Math.floor(size / unit.length));
const UNITS = [
  ...[
    '[',
    '{',
    '{a: ',
    '- ',
    '? ',
    ': ',
    ':',
    'a:\n',
    'a: 1\n',
    '- &a 1\n',
    '*a ',
    '!a ',
    '#',
    '#\n',
    '\n',
    '\t',
    ' ',
    '"',
    "'",
    '|\n',
  ],
  ...['%a\n', '---\n', '...\n', '\\', 'x', 'ä', '\r', '\ufeff', '\ud800', '\u2028', '__proto__: 1\n', 'agents: [{}]\n'],
];

describe('T20 hostile settings', () => {
  it.each(some(UNITS, 0, 6))('%j: twice as much of it costs less than three times the time', SPREAD, (unit) => {
    for (const start of ['', 'agents:\n', 'playbook: "', 'setup: [']) {
      expect(growth((size) => holdsSettings(start + fill(unit, size)), SIZE)).toBeLessThan(3);
    }
  });

  it('thousands of different keys are read in linear time', () => {
    const keys = (count: number): string => Array.from({ length: count }, (_, index) => ` k${index}: 1`).join('\n');
    expect(growth((count) => holdsSettings(keys(count)), 1000)).toBeLessThan(3);
    expect(growth((count) => holdsSettings(`playbook:\n${keys(count)}`), 1200)).toBeLessThan(3);
  });

  it('an alias bomb never goes off', () => {
    const levels = Array.from({ length: 30 }, (_, index) => `l${index + 1}: &l${index + 1} [*l${index}, *l${index}]`);
    const result = parseSettings(`l0: &l0 [x]\n${levels.join('\n')}`, 's', KNOWN_NAMES);
    expect(result.ok ? '' : result.problems[0]?.message).toBe('an alias (“*…”) is not supported; write the value out');
  });

  it('pollutes nothing', () => {
    holdsSettings(
      '__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }\nplaybook: { __proto__: { polluted: 1 } }',
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  describe('of any kind', SPREAD, () => {
    property.prop([settingsText], { numRuns: spread(500, 2000) })('never throw', holdsSettings);
  });
});
