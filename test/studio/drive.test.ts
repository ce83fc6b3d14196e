// @module-tag all
import { randomUUID } from 'node:crypto';
import { Command } from '@langchain/langgraph';
import { describe, expect, it } from 'vitest';
import { gather } from '../../src/text/gather.ts';
import { author, commits, objective, piece, plan, type Entry } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';
import {
  checkpointOf,
  factsOf,
  openStudioBench,
  scriptWith,
  threadOf,
  valuesOf,
  type StudioBench,
} from './studio-bench.ts';

const MODES = ['values', 'updates', 'tasks', 'debug', 'custom'];
const START = { objective: 'objective.md', runtime: 'scripted', limits: { turns: 9 } };
const SCRIPT = scriptWith();

async function benchFor(script: readonly Entry[] = SCRIPT): Promise<StudioBench> {
  const bench = await openStudioBench(script);
  await bench.consent();
  return bench;
}

interface Seen {
  readonly chunks: [string, unknown][];
  /** Of this mode. */
  of(mode: string): Record<string, unknown>[];
  /** Types of the run's events. */
  events(): unknown[];
}

/** Calls the view as the server does, to the end or until `until`, and then cancels as the server does. */
async function streamed(
  { view }: StudioBench,
  id: string,
  input: unknown,
  about: { until?: (chunk: [string, unknown]) => boolean; checkpoint?: string } = {},
): Promise<Seen> {
  const cancel = new AbortController();
  const chunks: [string, unknown][] = [];
  const runId = randomUUID();
  const options = { ...threadOf(id, about.checkpoint), version: 'v2', runId, streamMode: MODES, signal: cancel.signal };
  try {
    for await (const event of view.streamEvents(input, options)) {
      expect(event).toMatchObject({ event: 'on_chain_stream', run_id: runId });
      const chunk = event.data.chunk as [string, unknown];
      chunks.push(chunk);
      if (about.until?.(chunk) === true) cancel.abort('interrupt');
    }
  } catch (error) {
    if (!cancel.signal.aborted) throw error;
  }
  const of: Seen['of'] = (mode) =>
    chunks.filter(([found]) => found === mode).map(([, payload]) => payload as Record<string, unknown>);
  return { chunks, of, events: () => of('custom').map(({ type }) => type) };
}

const isTaken = ([mode, payload]: [string, unknown]): boolean => {
  const { type, task } = payload as { type?: string; task?: string };
  return mode === 'custom' && type === 'attempt-taken' && task === 'one';
};

describe('a run that is started through the view', { timeout: 120_000 }, () => {
  it('has the id of its thread, an engine of its own, and everything in the stream', async () => {
    const bench = await benchFor();
    const id = randomUUID();
    const seen = await streamed(bench, id, START);
    const state = await bench.view.getState(threadOf(id));
    expect(valuesOf(state)).toMatchObject({ runId: id, phase: 'finished', result: { outcome: 'done' } });
    expect(await bench.status()).toMatchObject({ runId: id, outcome: 'done', limits: { turns: 9 } });
    expect(seen.events()).toEqual(
      expect.arrayContaining(['run-defined', 'attempt-taken', 'attempt-ended', 'run-ended']),
    );
    expect(seen.of('values').at(-1)).toMatchObject({ runId: id, phase: 'finished' });
    expect(seen.of('updates').map((update) => Object.keys(update)[0])).toEqual(
      expect.arrayContaining(['intake', 'collect', 'reconcile_inbox', 'decide_next']),
    );
    const checkpoints = seen.of('debug').filter(({ type }) => type === 'checkpoint');
    expect(checkpoints.at(-1)).toMatchObject({ payload: { next: [], config: { configurable: { thread_id: id } } } });
    // A checkpoint for every superstep, in order.
    const steps = checkpoints.slice(0, -1).map(({ step }) => step);
    expect(steps).toEqual(steps.map((_, index) => index - 1));
    await expect(streamed(bench, id, null)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('over'),
    });
    await expect(streamed(bench, id, START)).rejects.toMatchObject({ status: 422 });
  });

  it('has name, models and strictness as asked for, and asks a person to approve its plan', ALL, async () => {
    const bench = await benchFor();
    const id = randomUUID();
    const input = { ...START, name: 'from-studio', models: { planner: 'one-model' }, strict: true, plan: 'ask' };
    await streamed(bench, id, input);
    const [question] = valuesOf(await bench.view.getState(threadOf(id))).questions;
    expect(question?.id).toBe('plan-1');
    const ledger = bench.ledger();
    const [defined] = ledger.events({ stream: id, types: ['run-defined'] });
    ledger.close();
    expect(defined?.data).toMatchObject({ name: 'from-studio', plan: 'ask', strict: true });
    expect(JSON.stringify(defined?.data)).toContain('"model":"one-model"');
    await streamed(bench, id, new Command({ resume: 'approve' }));
    expect(await bench.status()).toMatchObject({ runId: id, name: 'from-studio', outcome: 'done' });
  });

  it('is refused before anything starts, with the next command', ALL, async () => {
    const bench = await benchFor();
    const refused = async (input: unknown) => {
      const error: unknown = await streamed(bench, randomUUID(), input).catch((caught: unknown) => caught);
      const response = (error as { getResponse(): Response }).getResponse();
      return {
        status: response.status,
        ...((await response.json()) as { error: string; next: string; code?: string }),
      };
    };
    expect(await refused(null)).toMatchObject({ status: 422, next: expect.stringContaining('objective') });
    expect(await refused({ objective: '' })).toMatchObject({
      status: 422,
      error: expect.stringContaining('objective'),
    });
    expect(await refused({ ...START, yes: true })).toMatchObject({
      status: 422,
      error: expect.stringContaining('yes'),
    });
    // A client may ask for an approval, and not go without one.
    expect(await refused({ ...START, plan: 'auto' })).toMatchObject({
      status: 422,
      error: expect.stringContaining('plan'),
    });
    expect(await refused({ ...START, name: 'no/name' })).toMatchObject({
      status: 422,
      error: expect.stringContaining('name'),
    });
    expect(await refused({ ...START, runtime: '--yes' })).toMatchObject({ status: 422, code: 'usage' });
    expect(await refused({ ...START, objective: 'gone.md' })).toMatchObject({ status: 422, code: 'bad-input' });
    bench.objective(objective({ criteria: ['it is there (run: `test -f one.txt`)'] }));
    const next = expect.stringContaining('`squad plan --runtime=scripted --max-turns=9 --prompts objective.md`');
    expect(await refused(START)).toMatchObject({ status: 422, code: 'not-trusted', next });
    expect(await bench.run(['runs', '--json'])).toMatchObject({ stdout: expect.not.stringContaining('runId') });
  });

  it('is drained by a cancel, and continued by a run without input', ALL, async () => {
    const bench = await benchFor([
      plan([piece('one'), piece('two', { needs: ['one'] })]),
      author('one', [{ sleep: 2_000 }, ...commits({ 'one.txt': 'one\n' })]),
      author('two', commits({ 'two.txt': 'two\n' })),
      ...SCRIPT.slice(2),
    ]);
    const id = randomUUID();
    await streamed(bench, id, START, { until: isTaken });
    const continued = await streamed(bench, id, null);
    expect(continued.events()).toContain('run-ended');
    expect(await bench.status()).toMatchObject({ outcome: 'done' });
    const ledger = bench.ledger();
    const verbs = ledger
      .events({ stream: id, types: ['operator-command'] })
      .map(({ data }) => (data as { verb: string }).verb);
    expect([verbs, ledger.segments(id).length]).toEqual([['drain'], 2]);
    ledger.close();
  });
});

describe('a run at rest', { timeout: 120_000 }, () => {
  it('is forked by who runs an old checkpoint of it, and stays as it is', ALL, async () => {
    const bench = await benchFor();
    await bench.runAll();
    const id = bench.runId();
    const states = await gather(bench.view.getStateHistory(threadOf(id), { limit: 1_000 }));
    const old = states.find((state) => valuesOf(state).board.includes('one: ready'));
    const before = await bench.view.getState(threadOf(id));
    const seen = await streamed(bench, id, null, { checkpoint: checkpointOf(old) });
    const forked = seen.of('custom').find(({ type }) => type === 'forked');
    expect(forked).toMatchObject({ runId: expect.any(String), parent: { runId: id } });
    const fork = String(forked?.['runId']);
    expect(seen.of('debug').at(-1)).toMatchObject({
      payload: { metadata: { squad: { forks: [{ thread_id: fork }] } } },
    });
    // Its engine works for nobody's stream, and can be joined.
    while (factsOf(await bench.view.getState(threadOf(fork))).driven === true) await streamed(bench, fork, null);
    // It may have been between its start and its lock.
    await expect
      .poll(async () => valuesOf(await bench.view.getState(threadOf(fork))), { timeout: 60_000 })
      .toMatchObject({ result: { outcome: 'done' } });
    expect((await bench.view.getState(threadOf(id))).values).toEqual(before.values);
  });
});

describe('a run that another process drives', { timeout: 120_000 }, () => {
  it('is followed by who joins, and not touched by who leaves or wants to drive it too', ALL, async () => {
    const bench = await benchFor([
      plan([piece('one')]),
      author('one', [{ sleep: 4_000 }, ...commits({ 'one.txt': 'one\n' })]),
      ...SCRIPT.slice(2),
    ]);
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'attempt-taken' && task === 'one');
    const id = bench.runId();
    await streamed(bench, id, null, { until: isTaken });
    const driven = { status: 409, message: expect.stringContaining('Another squad (PID') };
    await expect(streamed(bench, id, START)).rejects.toMatchObject(driven);
    await expect(streamed(bench, randomUUID(), START)).rejects.toMatchObject(driven);
    await expect(bench.view.admit(randomUUID(), { input: START })).rejects.toMatchObject(driven);
    const joined = await streamed(bench, id, null);
    expect(joined.events()).toEqual(expect.arrayContaining(['task-changed', 'attempt-ended', 'run-ended']));
    expect((await engine.finished).code).toBe(0);
    const ledger = bench.ledger();
    expect(ledger.events({ stream: id, types: ['operator-command'] })).toEqual([]);
    ledger.close();
  });

  it('waits at its question as an interrupt, which an answer of either kind ends', ALL, async () => {
    const bench = await benchFor([
      author('one', [{ fail: { kind: 'auth', message: 'log in' } }]),
      plan([piece('one')]),
    ]);
    expect((await bench.startRun().finished).code).toBe(3);
    const id = bench.runId();
    const asking = await bench.view.getState(threadOf(id));
    const [question] = valuesOf(asking).questions;
    await expect(streamed(bench, id, new Command({ resume: 'no such option' }))).rejects.toMatchObject({ status: 422 });
    await expect(streamed(bench, id, new Command({ resume: { nobody: 'yes' } }))).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining(question?.id ?? '?'),
    });
    const again = await streamed(bench, id, new Command({ resume: { [question?.id ?? '']: 'try again' } }));
    expect(again.of('updates').at(-1)).toMatchObject({ __interrupt__: [{ value: { questions: [{}] } }] });
    expect(again.of('values').at(-1)).toHaveProperty('__interrupt__');
    // An engine that has asked keeps the workspace until it has ended.
    const isAtRest = () =>
      expect.poll(async () => factsOf(await bench.view.getState(threadOf(id))).driven, { timeout: 30_000 }).toBe(false);
    await isAtRest();
    bench.rescript(SCRIPT);
    const [second] = valuesOf(await bench.view.getState(threadOf(id))).questions;
    expect((await bench.run(['answer', second?.id ?? '', 'try again'])).code).toBe(0);
    await streamed(bench, id, null);
    await isAtRest();
    expect(await bench.status()).toMatchObject({ outcome: 'done' });
  });
});
