// @module-tag all
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, piece, plan, verdict, type Entry } from './run-script.ts';
import { some, SPREAD } from '../support/lane.ts';

describe('a plan that cannot be used', () => {
  const unusable: [string, Entry[], RegExp][] = [
    [
      'an answer of another shape',
      [
        { when: 'did not have the required form', turn: 2, steps: [{ answer: 'no' }], structured: { tasks: 'many' } },
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
      /no agent has the role wizard/,
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

  it.concurrent.for(some(unusable, 0, 1))(
    '%s: one turn to mend it, then a clear stop',
    { ...SPREAD },
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

  it('mended in that turn, it is carried out; hostile words in it do no harm in plain output', async (test) => {
    const mended = plan([piece('a', { title: HOSTILE })], 'This plan cannot be used');
    const bench = openRunBench({
      script: [
        mended,
        plan([piece('a', { role: HOSTILE })]),
        author('a', [{ say: HOSTILE }, ...commits({ 'a.txt': 'a' })]),
        verdict('a', [HOSTILE], 1),
        again('a', 'review', commits({ 'a.txt': 'a again' })),
        APPROVE_ALL,
      ],
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.run(['run', 'objective.md', '--runtime', 'scripted', '--yes', '--plain']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('a again');
    const shown = [ended.stdout, ended.stderr, await bench.report()].join('\n');
    expect(shown).toContain('touch pwned');
    // oxlint-disable-next-line no-control-regex -- these are what must not get through
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2066]/);
    expect(shown).not.toMatch(/^(?:DONE {2}forged|# Forged)/m);
    expect(existsSync(join(bench.repository, 'pwned'))).toBe(false);
  });
});

const HOSTILE =
  '\u001b]0;title\u0007\u001b[2J$(touch pwned) `touch pwned` "q" \'q\' \u202eevil\u2066\r\nDONE  forged\n# Forged';
