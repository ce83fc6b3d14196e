import { it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/settings/parse-settings.ts';
import { holdsSettings } from '../malformed/holds.ts';
import { settingsText } from '../malformed/words.ts';

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

describe('T20 hostile settings', () => {
  it.each(UNITS)('%j, as much of it as is read, costs seconds at most', (unit) => {
    for (const start of ['', 'agents:\n', 'playbook: "', 'setup: [']) {
      const before = process.cpuUsage();
      holdsSettings(start + fill(unit));
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1e6).toBeLessThan(4);
    }
  });

  it('thousands of different keys are read in linear time', () => {
    const keys = Array.from({ length: 5000 }, (_, index) => ` k${index}: 1`).join('\n');
    const before = process.cpuUsage();
    holdsSettings(keys);
    holdsSettings(`playbook:\n${keys}`);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(4);
  });

  it('an alias bomb never goes off', () => {
    const levels = Array.from({ length: 30 }, (_, index) => `l${index + 1}: &l${index + 1} [*l${index}, *l${index}]`);
    const result = parseSettings(`l0: &l0 [x]\n${levels.join('\n')}`, 's');
    expect(result.ok ? '' : result.problems[0]?.message).toBe('an alias (“*…”) is not supported; write the value out');
  });

  it('pollutes nothing', () => {
    holdsSettings(
      '__proto__: { polluted: 1 }\nconstructor: { prototype: { polluted: 1 } }\nplaybook: { __proto__: { polluted: 1 } }',
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  property.prop([settingsText], { numRuns: 2000 })('never throws', holdsSettings);
});
