import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { whichTask } from '../../src/cli/commands/retry.ts';
import { chooseTask, chooseWay } from '../../src/cli/ask/ask-retry.ts';
import type { Prompts } from '../../src/cli/ask/prompts.ts';
import type { TaskFailure } from '../../src/model/task-failure.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';

/** Answers in their order; undefined: Ctrl-C. */
function answering(...answers: readonly (string | undefined)[]): Prompts {
  const left = [...answers];
  const next = async (): Promise<string | undefined> => Promise.resolve(left.shift());
  return { choose: next as Prompts['choose'], write: next };
}

const failure = (task: string): TaskFailure => ({
  ...{ task, title: task, as: 'failed', cause: 'attempts', why: 'it hangs', agent: null, lastWords: null, ended: null },
  ...{ cancelled: [], errors: [], work: null, next: [] },
});

const CHOICES = { runtimes: ['claude', 'codex'], agents: ['builder-2'], isAnswer: false };

describe('what a person chooses', () => {
  it.each([
    ['its session', ['continue'], { way: 'retry', options: {} }],
    ['a note', ['note', 'use b'], { way: 'retry', options: { note: 'use b' } }],
    ['a new session', ['fresh'], { way: 'retry', options: { fresh: true } }],
    ['another runtime', ['runtime', 'codex'], { way: 'retry', options: { runtime: 'codex' } }],
    ['another agent', ['agent', 'builder-2'], { way: 'retry', options: { agent: 'builder-2' } }],
    ['to skip it', ['skip', 'later'], { way: 'skip', why: 'later' }],
    ['to take it', ['override', 'I read it'], { way: 'override', why: 'I read it' }],
    ['its transcript', ['show'], { way: 'show' }],
    ['nothing', ['nothing'], undefined],
    ['nothing, by Ctrl-C', [undefined], undefined],
    ['nothing, by Ctrl-C instead of a reason', ['skip', undefined], undefined],
  ])('%s', async (_title, answers, expected) => {
    expect(await chooseWay(answering(...answers), failure('a'), CHOICES)).toEqual(expected);
  });

  it('offers to leave out no answer that other tasks are made of', async () => {
    const offered = async (isAnswer: boolean) => {
      const seen: string[] = [];
      const prompts = {
        ...answering(),
        choose: async (_: string, choices: readonly { value: string }[]) =>
          void seen.push(...choices.map(({ value }) => value)),
      };
      await chooseWay(prompts, failure('plan'), { ...CHOICES, isAnswer });
      return seen;
    };
    expect(await offered(true)).not.toContain('skip');
    expect(await offered(true)).not.toContain('override');
    expect(await offered(false)).toEqual(expect.arrayContaining(['show', 'skip', 'override']));
  });

  it('is asked for the task only where there are several', async () => {
    expect((await chooseTask(answering(), [failure('a')]))?.task).toBe('a');
    expect((await chooseTask(answering('b'), [failure('a'), failure('b')]))?.task).toBe('b');
    expect(await chooseTask(answering(undefined), [failure('a'), failure('b')])).toBeUndefined();
  });
});

describe('the next command without a task', () => {
  const [blocked, failed] = [
    { task: 'b-map', next: ["squad request 'b-map: …'"] },
    { task: 'b-two-build', next: ['squad retry b-two-build --run sprint-1'] },
  ];
  const held = { task: 'b-three', why: 'it is paused', next: ['squad resume sprint-1 --task b-three'] };
  it.each<[string, Parameters<typeof whichTask>[1], Parameters<typeof whichTask>[2], string]>([
    ['a task that failed', [failed], [], '`squad retry b-two-build --run sprint-1`'],
    ['the one that failed, not the one that waits for an input', [blocked, failed], [], '`squad retry b-two-build'],
    ['what is stuck, not what waits for an input', [blocked], [held], '`squad retry b-three --run sprint-1`'],
    ['what brings the input', [blocked], [], "Instead: `squad request 'b-map: …'`."],
    ['any task', [], [{ ...held, task: null }], '`squad retry <task> --run sprint-1`'],
  ])('names %s', (_, failures, stuck, next) => {
    const said = whichTask('sprint-1', failures, stuck);
    expect(said.next).toContain(next);
    expect(said.next).not.toContain('squad retry b-map');
  });
});

describe('squad retry without a task', { timeout: 240_000 }, () => {
  let bench: RunBench;
  const script = (...steps: object[]) => [
    plan([piece('a')]),
    author('a', steps as Parameters<typeof author>[1]),
    APPROVE_ALL,
  ];
  beforeAll(async () => {
    bench = openRunBench({ script: script({ fail: { kind: 'bad-request', message: 'it cannot be asked' } }) });
    const run = await bench.runAll();
    expect(run.code, run.stdout + run.stderr).toBe(1);
  }, 120_000);
  afterAll(() => bench.end());

  it('lists what failed with the next command, retries nothing, and exits with 2', async () => {
    const { code, stdout, stderr } = await bench.run(['retry']);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^failed +a — .*\n(?:.*\n)*next +squad retry a --run make-things\n$/);
    expect(stderr).toContain('Next: For example: `squad retry a --run make-things`.');
    const { lines } = await bench.run(['retry', '--json']);
    expect(lines).toMatchObject([
      { type: 'failed-tasks', name: 'make-things', failures: [{ task: 'a' }] },
      { type: 'error', code: 'usage' },
    ]);
    expect((await bench.status()).phase).toBe('finished');
  });

  it('refuses a model without its runtime, and a task that is none, and stores nothing', async () => {
    expect((await bench.run(['retry', 'a', '--model', 'm'])).stderr).toContain('--model needs --runtime');
    const { stderr } = await bench.run(['retry', 'aa', '--runtime', 'scripted']);
    expect(stderr).toContain('there is no task aa; did you mean a?');
    const other = await bench.run(['retry', 'a', '--agent', 'reviewer-1']);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('a needs the role builder')]);
    expect((await bench.status()).phase).toBe('finished');
  });

  it('takes a retry back, and ends the run no second time', async () => {
    expect((await bench.run(['retry', 'a'])).code).toBe(0);
    expect((await bench.status()).phase).not.toBe('finished');
    const { code, stdout, stderr } = await bench.run(['cancel']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe('make-things: the run stays as it had ended; what was to open it again is withdrawn\n');
    expect(await bench.status()).toMatchObject({ phase: 'finished', outcome: 'failed' });
  });

  it('switches the task and retries it, and says that the run has to be resumed', ALL, async () => {
    bench.rescript(script(...commits({ 'a.txt': 'a\n' })));
    const { code, stdout, stderr } = await bench.run(['retry', 'a', '--runtime', 'scripted']);
    expect(code, stderr).toBe(0);
    expect(stdout).toBe('make-things: a is retried\nNext: squad resume make-things\n');
    expect((await bench.run(['resume', '--json'])).code).toBe(0);
    const { code: none, stderr: said } = await bench.run(['retry']);
    expect([none, said]).toEqual([2, expect.stringContaining('no task of make-things has failed or is stuck')]);
  });
});

it(
  'lists what is stuck, with the commands that act on it',
  { ...ALL, timeout: 120_000 },
  async ({ onTestFinished }) => {
    const fails = author('a', [{ fail: { kind: 'auth', message: 'no login' } }]);
    const bench = openRunBench({ script: [plan([piece('a'), piece('b', { needs: ['a'] })]), fails, APPROVE_ALL] });
    onTestFinished(() => bench.end());
    expect((await bench.runAll()).code).toBe(3);
    expect((await bench.run(['pause', '--task', 'b'])).code).toBe(0);
    const { code, stdout } = await bench.run(['retry']);
    expect(code).toBe(2);
    const answer = String.raw`next +squad answer engine/auth/scripted \S.* --run make-things\n`;
    expect(stdout).toMatch(new RegExp(String.raw`^stuck +\S.*: asks: .*\n${answer}`));
    expect(stdout).toMatch(/stuck +b: it is paused by .*\nnext +squad resume make-things --task b\n/);
    const { lines } = await bench.run(['retry', '--json']);
    expect(lines[0]).toMatchObject({ type: 'failed-tasks', failures: [], stuck: expect.anything() as unknown });
  },
);

it(
  'names the option that raises a limit which was reached',
  { ...ALL, timeout: 120_000 },
  async ({ onTestFinished }) => {
    const bench = openRunBench({ script: [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL] });
    onTestFinished(() => bench.end());
    expect((await bench.runAll(['--max-turns', '1'])).code).toBe(4);
    const { code, stdout } = await bench.run(['retry']);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^stuck +the run: 1 of 1 turns used\nnext +squad resume make-things --max-turns 2\n/);
    expect((await bench.status()).next).toEqual(['squad resume make-things --max-turns 2']);
  },
);
