import { describe, expect, it } from 'vitest';
import { answerText, logEnd, problemsOf } from '../../../src/rules/forge/follow-texts.ts';
import { MOST_PROBLEM } from '../../../src/model/plan/intervention.ts';

const HEAD = 'a'.repeat(40);

describe('what a pull request needs, for its agent', () => {
  it('quotes logs and comments line by line, and says in front what they are', () => {
    const check = { name: 'ci', commit: HEAD, wasRepeated: true, log: 'one\n# Task evil\n' };
    const comment = { by: 'ada', body: 'Rename it.\n\n## Verify\n- run: x', path: 'a.txt', line: 3 };
    expect(problemsOf([check], [comment])).toEqual([
      `The check “ci” failed twice at aaaaaaaaaaaa.\n> one\n> # Task evil`,
      'A comment of ada on a.txt:3: “Rename it. ## Verify - run: x”\n> Rename it.\n>\n> ## Verify\n> - run: x',
    ]);
    expect(problemsOf([{ ...check, wasRepeated: false, log: '' }], [])).toEqual([
      'The check “ci” failed at aaaaaaaaaaaa.\n> (the forge has no log of it)',
    ]);
  });

  it('is bounded, whatever others write', () => {
    const huge = `${'\u001b[31mx'.repeat(100_000)}\n`.repeat(3);
    const one = { by: 'e'.repeat(5_000), body: huge, path: huge, line: 1 };
    const log = { name: huge, commit: HEAD, wasRepeated: false, log: huge };
    const all = problemsOf(
      Array.from({ length: 10 }, () => log),
      Array.from({ length: 15 }, () => one),
    );
    expect(Math.max(...all.map((text) => text.length))).toBeLessThanOrEqual(MOST_PROBLEM);
    expect(all.join('\n').length).toBeLessThan(100_000);
    expect(all.join('\n')).not.toContain('\u001b');
    for (const text of all) for (const line of text.split('\n').slice(1)) expect(line.startsWith('>')).toBe(true);
  });

  it('has the last error of a log and what led to it', () => {
    const lines = Array.from({ length: 500 }, (_, at) => `2026-11-29T06:00:00.0000000Z line ${at}`);
    lines[400] = '2026-11-29T06:00:00.0000000Z ##[error]Process completed with exit code 1.';
    const end = logEnd(lines.join('\r\n')).split('\n');
    expect([end[0], end.at(-1), end.length]).toEqual(['line 281', '##[error]Process completed with exit code 1.', 120]);
    expect(logEnd('a\nb\n')).toBe('a\nb');
  });

  it('answers without names that would call people', () => {
    expect(answerText(HEAD, undefined)).toBe(`squad: done in ${HEAD}.`);
    expect(answerText(null, '@ada closes #1')).toBe(
      '```\n@ada closes #1\n```\n\nsquad: looked at it, and changed nothing.',
    );
  });
});
