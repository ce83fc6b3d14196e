import { it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { parseObjective } from '../../../src/squad/objective/parse-objective.ts';
import { holdsObjective } from '../../malformed/holds.ts';
import { OBJECTIVE_HEAD, objectiveText } from '../../malformed/words.ts';
import { growth, threadMs } from '../../support/growth.ts';
import { some, SPREAD, spread } from '../../support/lane.ts';

const KIB = 1024;
const fill = (unit: string, size: number): string => unit.repeat(Math.floor(size / unit.length));
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
  it.each(some(UNITS, 6))('%j: twice as much of it costs less than three times the time', SPREAD, (unit) => {
    for (const start of ['', OBJECTIVE_HEAD, `${OBJECTIVE_HEAD}- a (run: `]) {
      expect(growth((size) => holdsObjective(start + fill(unit, size)), spread(32, 64) * KIB)).toBeLessThan(3);
    }
  });

  it('two megabytes are refused in less time than a quarter of one is read', () => {
    const item = '- [ ] x\n';
    const least = (size: number): number =>
      Math.min(...[1, 2, 3].map(() => threadMs(() => holdsObjective(OBJECTIVE_HEAD + fill(item, size)))));
    expect(least(2048 * KIB)).toBeLessThan(least(256 * KIB));
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

  describe('of any kind', SPREAD, () => {
    property.prop([objectiveText], { numRuns: spread(500, 2000) })('never throws', holdsObjective);
  });
});
