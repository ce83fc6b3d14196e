import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openRunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, type Entry } from './run-script.ts';

describe('a plan that cannot be used', () => {
  const unusable: [string, Entry[], RegExp][] = [
    [
      'an answer of another shape',
      [
        { when: 'did not have the form', turn: 2, steps: [{ answer: 'no' }], structured: { tasks: 'many' } },
        { when: 'Split this objective', steps: [{ answer: 'no' }], structured: { tasks: 'none' } },
      ],
      /bad-output|plan/,
    ],
    [
      'a role that nobody has',
      [
        { ...plan([piece('a', { role: 'wizard' })], 'This plan cannot be used'), turn: 2 },
        plan([piece('a', { role: 'wizard' })]),
      ],
      /nobody has the role wizard/,
    ],
    [
      'a circle',
      [
        { ...plan([piece('a', { needs: ['b'] }), piece('b', { needs: ['a'] })], 'This plan cannot be used'), turn: 2 },
        plan([piece('a', { needs: ['b'] }), piece('b', { needs: ['a'] })]),
      ],
      /need each other in a circle: a, b/,
    ],
  ];

  it.concurrent.for(unusable)(
    '%s: one turn to mend it, then a clear stop',
    async ([, script, why], { onTestFinished }) => {
      const bench = openRunBench({ script });
      onTestFinished(() => bench.end());
      const ended = await bench.runAll();
      expect(ended.code, ended.stderr).toBe(1);
      expect(ended.lines.at(-1)).toMatchObject({ outcome: 'failed', why: expect.stringMatching(why) as string });
      expect(ended.lines.filter(({ type }) => type === 'attempt-ended')).toHaveLength(2);
      expect(existsSync(String(ended.lines.at(-1)?.['report']))).toBe(true);
    },
  );

  it('mended in that turn, it is carried out', async ({ onTestFinished }) => {
    const mended = plan([piece('a')], 'This plan cannot be used');
    const bench = openRunBench({
      script: [mended, plan([piece('a', { role: 'wizard' })]), author('a', commits({ 'a.txt': 'a' })), APPROVE_ALL],
    });
    onTestFinished(() => bench.end());
    expect((await bench.runAll()).code).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
  });
});
