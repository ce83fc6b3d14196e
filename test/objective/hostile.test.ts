import { it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { parseObjective } from '../../src/objective/parse-objective.ts';
import { holdsObjective } from '../malformed/holds.ts';
import { OBJECTIVE_HEAD, objectiveText } from '../malformed/words.ts';

const SIZE = 500 * 1024;
const fill = (unit: string): string => unit.repeat(Math.floor(SIZE / unit.length));
const UNITS = [
  ...[
    '>',
    '> ',
    '- ',
    '1. ',
    '- \t',
    '\t',
    ' ',
    '\n',
    '\r',
    '*',
    '[',
    '(',
    '`',
    '` ',
    '\\',
    '&',
    'x',
    'ä',
    '<!--',
    '(run:',
    '# ',
  ],
  ...[
    '- [ ] x\n',
    '- [ ] x (run: y)\n',
    '> a\n',
    '- a\n\n1. b\n\n  * c\n',
    '## a\n',
    '## Goals\n',
    '# a\n',
    '```\n',
    'a\n=\n',
    'a\n-\n',
  ],
  ...[
    '[a]: b\n',
    '> - ',
    '<a\n',
    '<div>\n',
    '|a|b|\n|-|-|\n',
    '\n  b\n',
    '\n  (run: x)\n',
    '---\n',
    '__proto__: 1\n',
    '\ufeff',
    '\ud800',
  ],
];

describe('T20 hostile objectives', () => {
  it.each(UNITS)('%j, half a megabyte of it, costs seconds at most', (unit) => {
    for (const start of ['', OBJECTIVE_HEAD, `${OBJECTIVE_HEAD}- a (run: `]) {
      const before = process.cpuUsage();
      holdsObjective(start + fill(unit));
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1e6).toBeLessThan(4);
    }
  });

  it('a megabyte is refused at once', () => {
    const before = process.cpuUsage();
    holdsObjective(OBJECTIVE_HEAD + '- [ ] x\n'.repeat(131_072));
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1e6).toBeLessThan(1);
  });

  it('deep lists and quotes are read', () => {
    holdsObjective(OBJECTIVE_HEAD + Array.from({ length: 700 }, (_, index) => `${'  '.repeat(index)}- x`).join('\n'));
    holdsObjective(`${OBJECTIVE_HEAD}- ${'> '.repeat(10_000)}x`);
  });

  it('ten thousand criteria are ten thousand criteria', () => {
    const result = parseObjective(OBJECTIVE_HEAD + '- [x] c (run: make)\n'.repeat(10_000), 'o.md');
    expect(result.ok && result.objective.criteria).toHaveLength(10_000);
    expect(result.ok && result.objective.criteria.at(-1)).toEqual({
      text: 'c',
      command: 'make',
      done: true,
      line: 10_004,
    });
  });

  property.prop([objectiveText], { numRuns: 2000 })('never throws', holdsObjective);
});
