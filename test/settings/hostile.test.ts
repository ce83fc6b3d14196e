import { fc, it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { problemSchema } from '../../src/model/problem.ts';
import { settingsSchema } from '../../src/model/settings.ts';
import { parseSettings } from '../../src/settings/parse-settings.ts';

function holds(text: string): void {
  const result = parseSettings(text, 'squad.yaml');
  if (result.ok) {
    settingsSchema.parse(result.value);
    return;
  }
  const lines = result.problems.map((problem) => problemSchema.parse(problem).line);
  expect(lines.length).toBeGreaterThan(0);
  expect(lines).toEqual([...lines].sort((a, b) => a - b));
  expect(lines.at(-1)).toBeLessThanOrEqual(text.split(/\r\n?|\n/).length);
}

const fill = (unit: string): string => unit.repeat(Math.floor((64 * 1024) / unit.length) - 8);
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

describe('hostile settings', () => {
  it.each(UNITS)('%j, as much of it as is read, costs seconds at most', (unit) => {
    for (const start of ['', 'agents:\n', 'playbook: "', 'setup: [']) {
      const before = process.cpuUsage();
      holds(start + fill(unit));
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1e6).toBeLessThan(4);
    }
  });

  it('thousands of different keys are read in linear time', () => {
    const keys = Array.from({ length: 5000 }, (_, index) => ` k${index}: 1`).join('\n');
    const before = process.cpuUsage();
    holds(keys);
    holds(`playbook:\n${keys}`);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(4);
  });

  it('an alias bomb never goes off', () => {
    const levels = Array.from({ length: 30 }, (_, index) => `l${index + 1}: &l${index + 1} [*l${index}, *l${index}]`);
    const result = parseSettings(`l0: &l0 [x]\n${levels.join('\n')}`, 's');
    expect(result.ok ? '' : result.problems[0]?.message).toBe('an alias (“*…”) is not supported; write the value out');
  });

  it('pollutes nothing', () => {
    holds(
      '__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }\nplaybook: { __proto__: { polluted: 1 } }',
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  const words = fc.constantFrom(
    ...Object.keys(settingsSchema.shape).map((key) => `${key}: `),
    ...[
      'name: ',
      'role: ',
      'runtime: ',
      'claude',
      'codex',
      'run: ',
      'minutes: ',
      'fallback: ',
      'env: ',
      'config: ',
      'remote: ',
      'toString: ',
    ],
    ...[
      '\n',
      '\n  ',
      '\n  - ',
      '{ ',
      ' }',
      '[',
      ']',
      ', ',
      '- ',
      '? ',
      ': ',
      '&a ',
      '*a',
      '!t ',
      '!!int ',
      '<<: ',
      '|\n',
      '>-\n',
      '"',
      "'",
      '#',
    ],
    ...[
      '1',
      '-1',
      '1.5',
      '.nan',
      '1e999',
      'null',
      'true',
      '~',
      '2026-12-24',
      '0x1f',
      '__proto__: ',
      '\t',
      '\r\n',
      '\0',
      '\u202e',
      '---\n',
      '%YAML 1.1\n',
    ],
  );
  const text = fc.array(
    fc.oneof({ weight: 8, arbitrary: words }, fc.string({ unit: 'binary', maxLength: 6 }), fc.string()),
    { maxLength: 40 },
  );
  property.prop([text], { numRuns: 2000 })('never throws', (parts) => {
    holds(parts.join(''));
  });
});
