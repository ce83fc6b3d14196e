import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readHistory } from '../../src/view/read-run.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { ALL } from '../support/lane.ts';
import { DIAMOND, workers, writeSession, type SessionAbout } from '../support/session-folder.ts';
import { openRunBench, startsOf, statusOf, type RunBench } from './run-bench.ts';
import type { Entry, Step } from './run-script.ts';
import { stateOf } from '../support/state.ts';

const FOLDER = '.workflow/.team/TC-make';

interface Place extends RunBench {
  readonly folder: string;
  play(more?: readonly string[]): ReturnType<RunBench['run']>;
}

function placeFor(
  { onTestFinished }: { onTestFinished: (end: () => void) => void },
  about: SessionAbout,
  script: readonly Entry[] = workers(about),
): Place {
  const bench = openRunBench({ script });
  onTestFinished(() => bench.end());
  const folder = writeSession(join(bench.repository, FOLDER), about);
  writeFileSync(join(bench.repository, '.git', 'info', 'exclude'), '.workflow\nsquad.yaml\nobjective.md\n');
  const args = ['run', `--session=${FOLDER}`, '--runtime', 'scripted', '--yes', '--json'];
  return { ...bench, folder, play: (more = []) => bench.run([...args, ...more]) };
}

/** Ids of the sessions that the turns of these tasks had. */
function sessionsOf({ repository }: RunBench, tasks: readonly string[]): (string | undefined)[] {
  const ledger = openLedger(stateOf(repository), { clock: createSystemClock() });
  try {
    const { attempts } = readHistory(ledger, undefined, null);
    return attempts
      .filter(({ attempt }) => tasks.includes(attempt.taskId))
      .map(({ settlement }) => settlement?.result.session?.id);
  } finally {
    ledger.close();
  }
}

function stateIn(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, 'team-session.json'), 'utf8')) as Record<string, unknown>;
}

/** Waits until the other branch is at work as well. */
function meets(repository: string, task: string): readonly Step[] {
  const other = { 'IMPL-001': 'DOC-001', 'DOC-001': 'IMPL-001' }[task];
  if (other === undefined) return [];
  const at = (name: string): string => join(repository, '.workflow', `${name}.at-work`);
  return [
    { run: ['touch', at(task)] },
    {
      run: [
        'sh',
        '-c',
        `n=0; until [ -e '${at(other)}' ] || [ $n -gt 400 ]; do n=$((n+1)); sleep 0.05; done; [ -e '${at(other)}' ]`,
      ],
    },
  ];
}

describe('a session on the real engine', { ...ALL, timeout: 300_000 }, () => {
  it('plays a diamond with two branches at once, and its inner loop in one session', async (test) => {
    const bench = placeFor(test, DIAMOND, []);
    bench.rescript(workers(DIAMOND, (task) => meets(bench.repository, task)));
    const ended = await bench.play();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    expect(startsOf(ended)).toHaveLength(6);
    const loop = sessionsOf(bench, ['impl-001', 'impl-002', 'impl-003']);
    expect(loop).toHaveLength(3);
    expect(new Set(loop).size).toBe(1);
    expect(new Set(sessionsOf(bench, ['spec-001', 'check-001'])).size).toBe(2);
    for (const task of ['impl-001', 'impl-002', 'impl-003', 'doc-001'])
      expect(bench.fileOnBranch(`${task}.txt`)).toBe(task.toUpperCase());
    const status = await bench.status();
    expect(status.stages?.map(({ id, state }) => `${id} ${state}`)).toEqual(
      DIAMOND.tasks.map(({ id }) => `${id} done`),
    );
    expect(statusOf(status, 'impl-002')).toBe('done');
    expect(stateIn(bench.folder)).toMatchObject({
      status: 'completed',
      pipeline: { tasks_total: 6, tasks_completed: 6 },
    });
    expect((await bench.run(['session', 'check', FOLDER])).code).toBe(0);
  });

  it('runs only the half that was not done elsewhere', async (test) => {
    const done = ['SPEC-001', 'IMPL-001', 'DOC-001'];
    const bench = placeFor(test, { ...DIAMOND, done });
    const ended = await bench.play();
    expect(ended.code, ended.stderr).toBe(0);
    expect(startsOf(ended).map(({ task }) => task)).toEqual(['impl-002', 'impl-003', 'check-001']);
    expect(stateIn(bench.folder)).toMatchObject({
      status: 'completed',
      completed_tasks: [...done, 'IMPL-002', 'IMPL-003', 'CHECK-001'],
    });
  });

  it('cancels what needs a failed task and nothing else, and says so everywhere', async (test) => {
    const script = workers(DIAMOND).map((entry) =>
      entry.when?.includes('impl-002') === true
        ? { when: entry.when, steps: [{ fail: { kind: 'model-refused', message: 'no' } }] }
        : entry,
    );
    const bench = placeFor(test, DIAMOND, script);
    const ended = await bench.play();
    expect(ended.code, ended.stderr).toBe(1);
    const last = ended.lines.at(-1);
    expect(JSON.stringify(last)).toContain('2 tasks that need it were cancelled');
    const report = await bench.report();
    expect(report).toContain('2 tasks that need it were cancelled');
    expect(report).toContain(`Session \`${bench.folder}\``);
    expect((await bench.status()).tasks.map(({ id, status }) => `${id} ${status}`)).toEqual(
      expect.arrayContaining(['spec-001 done', 'impl-001 done', 'impl-002 failed', 'doc-001 done']),
    );
    expect(stateIn(bench.folder)).toMatchObject({ status: 'paused', pipeline: { tasks_completed: 3 } });
  });
});
