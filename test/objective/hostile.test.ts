import { fc, it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { objectiveSchema } from '../../src/model/objective.ts';
import { problemSchema } from '../../src/model/problem.ts';
import { parseObjective } from '../../src/objective/parse-objective.ts';

/** Whatever the text: an objective that fits its schema, or at least one problem in order, within the file. */
function holds(text: string): void {
  const result = parseObjective(text, 'o.md');
  if (result.ok) {
    objectiveSchema.parse(result.objective);
    expect(result.objective.text).toBe(text);
    return;
  }
  const lines = result.problems.map((problem) => problemSchema.parse(problem).line);
  expect(lines.length).toBeGreaterThan(0);
  expect(lines).toEqual([...lines].sort((a, b) => a - b));
  expect(lines.at(-1)).toBeLessThanOrEqual(text.split(/\r\n?|\n/).length);
}

const HEAD = '# T\n## Goals\n- g\n## Success Criteria\n';
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

describe('hostile objectives', () => {
  it.each(UNITS)('%j, half a megabyte of it, costs seconds at most', (unit) => {
    for (const start of ['', HEAD, `${HEAD}- a (run: `]) {
      const before = process.cpuUsage();
      holds(start + fill(unit));
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1e6).toBeLessThan(4);
    }
  });

  it('a megabyte is refused at once', () => {
    const before = performance.now();
    holds(HEAD + '- [ ] x\n'.repeat(131_072));
    expect(performance.now() - before).toBeLessThan(1000);
  });

  it('deep lists and quotes are read', () => {
    holds(HEAD + Array.from({ length: 700 }, (_, index) => `${'  '.repeat(index)}- x`).join('\n'));
    holds(`${HEAD}- ${'> '.repeat(10_000)}x`);
  });

  it('ten thousand criteria are ten thousand criteria', () => {
    const result = parseObjective(HEAD + '- [x] c (run: make)\n'.repeat(10_000), 'o.md');
    expect(result.ok && result.objective.criteria).toHaveLength(10_000);
    expect(result.ok && result.objective.criteria.at(-1)).toEqual({
      text: 'c',
      command: 'make',
      done: true,
      line: 10_004,
    });
  });

  const words = fc.constantFrom(
    ...[
      '---\n',
      '# T\n',
      '# Objective: X\n',
      '## Goals\n',
      '## Success Criteria\n',
      '## Constraints\n',
      '## Context\n',
      '### Goals\n',
    ],
    ...[
      '## Priority\n',
      '## Deadline\n',
      '2026-12-24\n',
      '- ',
      '1. ',
      '  - ',
      '[ ] ',
      '[x] ',
      '[',
      ']',
      '(run: ',
      '(run: `',
      ')',
      '`',
      '"',
    ],
    ...[
      'name: a\n',
      'limits: {',
      'minutes: 3',
      '}',
      'playbook: ',
      '&a ',
      '*a',
      '!t ',
      '__proto__: ',
      '? ',
      '|\n',
      '\t',
      '> ',
      '```\n',
    ],
    ...[
      '<!--',
      '-->',
      '\r\n',
      '\r',
      '\n',
      '\n\n',
      '\0',
      '\ufeff',
      '\u202e',
      'word ',
      'ä',
      '🚀',
      '\\',
      "'",
      '=\n',
      ': ',
      '#',
    ],
  );
  const text = fc.array(
    fc.oneof({ weight: 6, arbitrary: words }, fc.string({ unit: 'binary', maxLength: 8 }), fc.string()),
    { maxLength: 40 },
  );
  property.prop([text, fc.constantFrom('', HEAD, '---\n')], { numRuns: 2000 })('never throws', (parts, start) => {
    holds(start + parts.join(''));
  });
});
