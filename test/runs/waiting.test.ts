// @module-tag all
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runStatusSchema } from '../../src/view/status.ts';
import { openRunBench, startsOf, statusOf, turnsOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, type Entry } from './run-script.ts';
import { ALL } from '../support/lane.ts';

const PLAN = plan([piece('a')]);
const COMMITS = commits({ 'a.txt': 'a\n' });

function benchFor(
  { onTestFinished }: { onTestFinished: (end: () => void) => void },
  script: readonly Entry[],
  settings: Record<string, unknown> = {},
): RunBench {
  const bench = openRunBench({ script: [PLAN, ...script, APPROVE_ALL], settings });
  onTestFinished(() => bench.end());
  return bench;
}

describe.concurrent('a person is asked', { timeout: 300_000 }, () => {
  it('when a login is missing: exit 3, an answer, and it is delivered', ALL, async (test) => {
    const bench = benchFor(test, [author('a', [{ fail: { kind: 'auth', message: 'log in first' } }])]);
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(3);
    expect(ended.lines.at(-1)).toMatchObject({ outcome: 'waiting', questions: [{ id: 'engine/auth/scripted' }] });
    const waiting = runStatusSchema.parse(await bench.status());
    expect(waiting.waitingFor).toMatchObject({ for: 'answer' });
    expect(JSON.stringify(waiting.waitingFor)).toContain('log in first');
    // Without an answer it goes on waiting, at no cost.
    const early = await bench.run(['resume', '--json']);
    expect([early.code, early.lines.filter(({ type }) => type === 'attempt-ended')]).toEqual([3, []]);
    // Somebody logs in.
    bench.rescript([PLAN, author('a', COMMITS), APPROVE_ALL]);
    expect((await bench.run(['answer', 'try again'])).code).toBe(0);
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
  });

  it('who gives up ends the piece, and the run has failed', ALL, async (test) => {
    const bench = benchFor(test, [author('a', [{ fail: { kind: 'billing', message: 'no money' } }])]);
    expect((await bench.runAll()).code).toBe(3);
    expect((await bench.run(['answer', 'engine/billing/scripted', 'give', 'up'])).code).toBe(0);
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, resumed.stderr).toBe(1);
    expect(statusOf(await bench.status(), 'a')).toBe('failed');
    expect(await bench.report()).toContain('a person gave up');
  });

  it('when a setup command fails; mended, it runs again, and once in each fresh worktree', ALL, async (test) => {
    const bench = openRunBench({
      script: [
        plan([piece('a'), piece('b')]),
        ...['a', 'b'].map((id) => author(id, commits({ [id]: id }))),
        APPROVE_ALL,
      ],
    });
    test.onTestFinished(() => bench.end());
    const log = join(bench.root, 'setup.log');
    const gate = join(bench.root, 'gate');
    bench.settings({ setup: [{ run: `pwd >> ${log}; echo needs the gate; test -e ${gate}` }] });
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(3);
    const { waitingFor } = await bench.status();
    expect(JSON.stringify(waitingFor)).toContain('needs the gate');
    // Reported as what it is, once for all folders, with the file that has all of its output.
    const said = z.object({ id: z.literal('engine/setup-failed'), text: z.string() });
    const { questions } = z.object({ questions: z.tuple([said]) }).parse(ended.lines.at(-1));
    const path = /^The setup command `.*\(its whole output: (\S+)\)/.exec(questions[0].text)?.[1] ?? 'none';
    expect(readFileSync(join(bench.repository, path), 'utf8')).toBe('needs the gate\n');
    for (const surface of [(await bench.run(['status'])).stdout, (await bench.report()).replaceAll(/\\(.)/g, '$1')]) {
      expect(surface).toContain('The setup command');
      expect(surface).toContain(path);
    }
    expect(ended.lines.filter(({ type, kind }) => type === 'attempt-taken' && kind === 'turn')).toEqual([]);
    writeFileSync(gate, '');
    writeFileSync(log, '');
    expect((await bench.run(['answer', 'try again'])).code).toBe(0);
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    const folders = readFileSync(log, 'utf8').trim().split('\n');
    const ofWork = folders.filter((folder) => /\/(?:a|b)$/.test(folder));
    expect(ofWork.toSorted()).toEqual([...new Set(ofWork)].toSorted());
    expect(ofWork).toHaveLength(2);
  });
});

describe.concurrent('a usage limit', { timeout: 300_000 }, () => {
  it('parks all on the account, burns nothing, and is waited for', async (test) => {
    const limit = { kind: 'quota-exhausted', message: 'come back later', retryIn: 5_000 };
    const bench = openRunBench({
      settings: { limits: { retries: 0 } },
      script: [
        plan([piece('a'), piece('b')]),
        // It has used a tool, so that its session goes on.
        author('a', [{ run: ['true'] }, { fail: limit }], { turn: 1 }),
        { turn: 2, steps: COMMITS },
        author('b', [{ run: ['sleep', '1'] }, ...commits({ 'b.txt': 'b\n' })]),
        APPROVE_ALL,
      ],
    });
    test.onTestFinished(() => bench.end());
    const engine = bench.startRun();
    const { failure, at } = await engine.line(({ type, task }) => type === 'attempt-ended' && task === 'a');
    const until = z.object({ kind: z.literal('quota-exhausted'), retryAt: z.number() }).parse(failure).retryAt;
    const ended = await engine.finished;
    expect(ended.code, ended.stderr).toBe(0);
    // `b` ends by itself meanwhile; its review is on the same account, and waits too.
    // Its first turn was claimed together with that of `a`, and may be launched after `a` has failed.
    const begun = startsOf(ended).find(({ task }) => task === 'b');
    const later = startsOf(ended).filter((line) => line !== begun && Number(line['at']) > Number(at));
    expect(later.map(({ task }) => task)).toEqual(expect.arrayContaining(['a', 'b']));
    for (const line of later) expect(Number(line['at'])).toBeGreaterThanOrEqual(until);
    // One probe alone, before all others.
    expect(later.filter((line) => Number(line['at']) < Number(later[0]?.['at']) + 50)).toHaveLength(1);
    expect(turnsOf(ended, 'a').map(({ outcome }) => outcome)).toEqual(['failed', 'completed', 'completed']);
    expect((await bench.status()).tasks.find(({ id }) => id === 'a')).toMatchObject({ round: 1, attempts: 2 });
  });
});

describe.concurrent('a limit of the run', { timeout: 300_000 }, () => {
  it('stops it with exit 4; only a raised one lets it go on', ALL, async (test) => {
    const bench = benchFor(test, [author('a', COMMITS)]);
    const ended = await bench.runAll(['--max-turns', '2']);
    expect(ended.code, ended.stderr).toBe(4);
    expect(ended.lines.at(-1)).toMatchObject({ outcome: 'stopped', why: expect.stringContaining('turns') as string });
    const again = await bench.run(['resume', '--json']);
    expect(again.code, again.stderr).toBe(4);
    expect(startsOf(again)).toEqual([]);
    const killed = await bench.run(['resume', '--json'], { SQUAD_FAILPOINTS: 'graph.waiting=kill' });
    expect(startsOf(killed)).toEqual([]);
    expect(startsOf(await bench.run(['resume', '--json']))).toEqual([]);
    const raised = await bench.run(['resume', '--max-turns', '20', '--json']);
    expect(raised.code, raised.stderr).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
    expect(existsSync(String(raised.lines.at(-1)?.['report']))).toBe(true);
  });

  it(
    'counts engine time over all its segments: a turn that runs is ended near it, and nothing follows',
    ALL,
    async (test) => {
      const finishes = { when: 'was cut short', steps: COMMITS };
      const bench = benchFor(test, [author('a', [{ run: ['sleep', '60'] }, ...COMMITS]), finishes]);
      const ended = await bench.runAll(['--max-minutes', '0.2']);
      expect(ended.code, ended.stderr).toBe(4);
      expect(ended.lines.at(-1)).toMatchObject({
        outcome: 'stopped',
        why: expect.stringMatching(/^1\ds of 12s used/) as string,
      });
      expect(turnsOf(ended, 'a')).toMatchObject([{ outcome: 'cancelled' }]);
      const again = await bench.run(['resume', '--json']);
      expect([again.code, startsOf(again)], again.stderr).toEqual([4, []]);
      expect((await bench.run(['resume', '--json', '--max-minutes', '5'])).code).toBe(0);
      expect(bench.fileOnBranch('a.txt')).toBe('a');
    },
  );
});
