import { Command, isInterrupted, MemorySaver, type LangGraphRunnableConfig } from '@langchain/langgraph';
import { describe, expect, it } from 'vitest';
import { identityOf } from '../../src/embed/run-identity.ts';
import { createSquadGraph, graphOfCall, reportTo, type SquadGraphOptions } from '../../src/embed/squad-graph.ts';
import { SquadError } from '../../src/model/errors.ts';
import type { RunEvent } from '../../src/model/run-event.ts';
import type { RunEnd } from '../../src/view/running-run.ts';
import type { Squad } from '../../src/squad/squad.ts';
import type { RunOptions } from '../../src/squad/run.ts';

const QUESTION = { id: 'plan-1', text: 'Go?', options: ['yes', 'no'] };
const REQUEST = { objective: 'objective.md', runtime: 'scripted' };
/** What waits for a run that never comes is ended soon. */
const HANGS = { timeout: 5_000 };
const thread = { configurable: { thread_id: 'theirs' } };

function endAs(outcome: RunEnd['outcome'], questions: RunEnd['questions'] = []): RunEnd {
  return { outcome, questions } as RunEnd;
}

interface Run {
  readonly objective: unknown;
  readonly options: RunOptions;
  readonly cancelled: string[];
  end(end: RunEnd): void;
}

/** A squad that does what a test says, and all that was asked of it. */
function openSquad(given: { ends?: RunEnd[]; open?: string[]; refuses?: unknown[]; runs?: { runId: string }[] } = {}) {
  const runs: Run[] = [];
  const started: ((run: Run) => void)[] = [];
  const answers: unknown[] = [];
  const asked: unknown[] = [];
  const ends = [...(given.ends ?? [])];
  const open = new Set(given.open ?? [QUESTION.id]);
  const refuses = [...(given.refuses ?? [])];
  const squad = {
    run: async (objective: unknown, options: RunOptions) => {
      const done = Promise.withResolvers<RunEnd>();
      const cancelled: string[] = [];
      const run: Run = { objective, options, cancelled, end: done.resolve };
      runs.push(run);
      started.shift()?.(run);
      const next = ends.shift();
      if (next !== undefined) run.end(next);
      return { done: done.promise, cancel: async (reason: string) => void cancelled.push(reason) };
    },
    runs: async () => given.runs ?? [],
    status: async (runId: string) => {
      asked.push(runId);
      const questions = [...open].map((id) => ({ id }));
      return { waitingFor: questions.length === 0 ? null : { for: 'answer', questions } };
    },
    answer: async (runId: string, answer: string, question: string) => {
      const refusal = refuses.shift();
      if (refusal !== undefined) throw refusal;
      answers.push([runId, question, answer]);
      open.delete(question);
    },
  } as unknown as Squad;
  const nextRun = async (): Promise<Run> => new Promise((resolve) => started.push(resolve));
  return { squad, runs, answers, asked, open, nextRun };
}

function graphOf(squad: Squad, options: SquadGraphOptions = {}) {
  return createSquadGraph(squad, { checkpointer: new MemorySaver(), ...options });
}

describe('the run of a graph', HANGS, () => {
  it('gets the request and what the application decides, and its end is the state’s', async () => {
    const end = endAs('done');
    const { squad, runs } = openSquad({ ends: [end] });
    const told: RunEvent[] = [];
    const options = { trust: 'yes', plan: 'ask', patienceMs: 7 } as const;
    const state = await graphOf(squad, { ...options, onEvent: (event) => told.push(event) }).invoke(
      { request: REQUEST },
      thread,
    );
    expect(state).toEqual({ request: REQUEST, runId: expect.any(String), questions: [], problem: null, end });
    expect(runs[0]?.objective).toBe('objective.md');
    expect(runs[0]?.options).toEqual({
      ...options,
      allowFullAccess: undefined,
      runtime: 'scripted',
      runId: state.runId,
      onEvent: expect.any(Function),
    });
    const event = { type: 'run-started' } as RunEvent;
    runs[0]?.options.onEvent?.(event);
    expect(told).toEqual([event]);
  });

  it('has the id that follows from its place, and without a place one of its own', async () => {
    const { squad, runs } = openSquad({ ends: [endAs('done'), endAs('done'), endAs('done'), endAs('done')] });
    await graphOfCall(squad, {}, 'call-1').invoke({ request: REQUEST });
    await graphOfCall(squad, {}, 'call-1').invoke({ request: REQUEST });
    await graphOfCall(squad, {}).invoke({ request: REQUEST });
    await graphOfCall(squad, {}).invoke({ request: REQUEST });
    const ids = runs.map(({ options }) => options.runId);
    expect(ids[1]).toBe(ids[0]);
    expect(new Set(ids).size).toBe(3);
  });

  it('is the one of its thread that was cut short', async () => {
    const place = { threadId: 'theirs', checkpointNs: 'choose_run:x' };
    const { family } = identityOf(place, REQUEST) ?? { family: '' };
    const cut = { runId: `${family}123-cut-short`, need: 'asks' };
    const { squad, runs } = openSquad({ ends: [endAs('done')], runs: [cut] });
    await graphOf(squad).invoke({ request: REQUEST }, thread);
    expect(runs[0]?.options.runId).toBe(cut.runId);
  });

  it('tells its events to the stream of the graph, also where their reader is gone', async () => {
    const { squad } = openSquad({ ends: [endAs('done')] });
    const speaking: Squad = {
      ...squad,
      run: async (objective, options) => {
        options?.onEvent?.({ type: 'run-started' } as RunEvent);
        return squad.run(objective, options);
      },
    };
    const stream = await graphOf(speaking).stream({ request: REQUEST }, { ...thread, streamMode: 'custom' });
    const told: unknown[] = [];
    for await (const event of stream) told.push(event);
    expect(told).toEqual([{ type: 'run-started' }]);
    const gone: LangGraphRunnableConfig['writer'] = () => {
      throw new Error('the reader is gone');
    };
    expect(() => reportTo(gone)({} as RunEvent)).not.toThrow();
    expect(() => reportTo(undefined)({} as RunEvent)).not.toThrow();
  });
});

describe('a question of the run', HANGS, () => {
  const waiting = endAs('waiting', [QUESTION]);

  it('interrupts the graph, and its answer is the run’s, which goes on', async () => {
    const { squad, answers, runs } = openSquad({ ends: [waiting, endAs('done')] });
    const graph = graphOf(squad);
    const asked = await graph.invoke({ request: REQUEST }, thread);
    expect(isInterrupted(asked)).toBe(true);
    const { tasks, values } = await graph.getState(thread);
    const { runId } = values as { runId: string };
    expect(tasks[0]?.interrupts[0]?.value).toEqual({ runId, questions: [QUESTION] });
    const state = await graph.invoke(new Command({ resume: 'yes' }), thread);
    expect(answers).toEqual([[runId, 'plan-1', 'yes']]);
    expect(state).toMatchObject({ end: { outcome: 'done' }, questions: [], problem: null });
    expect(runs.map(({ options }) => options.runId)).toEqual([runId, runId]);
  });

  it('is asked again with the reason where the run refuses the answer', async () => {
    const usage = (next?: string) =>
      new SquadError({ code: 'usage', message: 'perhaps is not an option', ...(next && { next }) });
    const { squad } = openSquad({ ends: [waiting, endAs('done')], refuses: [usage('Say yes or no.'), usage()] });
    const graph = graphOf(squad);
    await graph.invoke({ request: REQUEST }, thread);
    const problems: unknown[] = [];
    for (const _ of ['first', 'second']) {
      await graph.invoke(new Command({ resume: 'perhaps' }), thread);
      const { tasks } = await graph.getState(thread);
      problems.push((tasks[0]?.interrupts[0]?.value as { problem?: string } | undefined)?.problem);
    }
    expect(problems).toEqual(['perhaps is not an option. Say yes or no.', 'perhaps is not an option.']);
    const done = await graph.invoke(new Command({ resume: 'yes' }), thread);
    expect(done).toMatchObject({ end: { outcome: 'done' }, problem: null });
  });

  it('fails the graph where the answer cannot be recorded at all', async () => {
    const full = new SquadError({ code: 'storage-full', message: 'no space is left' });
    for (const refused of [full, new TypeError('boom')]) {
      const { squad } = openSquad({ ends: [waiting], refuses: [refused] });
      const graph = graphOf(squad);
      await graph.invoke({ request: REQUEST }, thread);
      await expect(graph.invoke(new Command({ resume: 'yes' }), thread)).rejects.toThrow(refused.message);
    }
  });

  it('that was answered another way is not asked, and the run goes on', async () => {
    const { squad, asked, runs } = openSquad({ ends: [waiting, endAs('done')], open: [] });
    const state = await graphOf(squad).invoke({ request: REQUEST }, thread);
    expect(state.end).toMatchObject({ outcome: 'done' });
    expect(asked).toEqual([runs[0]?.options.runId]);
  });

  it('is asked alone where others were answered another way', async () => {
    const other = { id: 'plan-2', text: 'Why?', options: [] };
    const { squad } = openSquad({ ends: [endAs('waiting', [other, QUESTION])] });
    const graph = graphOf(squad);
    await graph.invoke({ request: REQUEST }, thread);
    const { tasks } = await graph.getState(thread);
    expect(tasks[0]?.interrupts[0]?.value).toMatchObject({ questions: [QUESTION] });
  });

  it('of two that is answered alone lets the run go on, which asks the other one again', async () => {
    const other = { id: 'plan-2', text: 'Why?', options: [] };
    const both = endAs('waiting', [QUESTION, other]);
    const { squad, runs } = openSquad({ ends: [both, endAs('waiting', [other])], open: ['plan-1', 'plan-2'] });
    const graph = graphOf(squad);
    await graph.invoke({ request: REQUEST }, thread);
    await graph.invoke(new Command({ resume: { 'plan-1': 'yes' } }), thread);
    expect(runs).toHaveLength(2);
    const { tasks } = await graph.getState(thread);
    expect(tasks[0]?.interrupts[0]?.value).toMatchObject({ questions: [other] });
  });

  it('ends a graph that nothing keeps', async () => {
    const { squad } = openSquad({ ends: [waiting] });
    const state = await createSquadGraph(squad).invoke({ request: REQUEST });
    expect(state).toMatchObject({ questions: [QUESTION], end: { outcome: 'waiting' } });
  });

  it.each([
    ['waits for something else', endAs('waiting')],
    ['has ended with a question open', endAs('stopped', [QUESTION])],
  ])('is none of a run that %s', async (_, end) => {
    const { squad, asked } = openSquad({ ends: [end] });
    const state = await graphOf(squad).invoke({ request: REQUEST }, thread);
    expect([isInterrupted(state), state.end, asked]).toEqual([false, end, []]);
  });
});

describe('a graph that is invoked', HANGS, () => {
  it('shows nothing of a run before there is one', async () => {
    const { squad } = openSquad({ ends: [endAs('done')] });
    const stream = await graphOf(squad).stream({ request: REQUEST }, { ...thread, streamMode: 'values' });
    const shown: unknown[] = [];
    for await (const state of stream) shown.push(state);
    expect(shown[0]).toEqual({ request: REQUEST, runId: null, questions: [], problem: null, end: null });
  });

  it('again in its thread shows nothing of its last run while the next one works', async () => {
    const { squad, nextRun } = openSquad({ ends: [endAs('waiting', [QUESTION])] });
    const graph = graphOf(squad);
    await graph.invoke({ request: REQUEST }, thread);
    const started = nextRun();
    const again = graph.invoke({ request: { ...REQUEST, name: 'other' } }, thread);
    const run = await started;
    const { values } = await graph.getState(thread);
    expect(values).toMatchObject({ questions: [], problem: null, end: null });
    run.end(endAs('done'));
    await again;
  });
});

describe('a graph that is aborted', HANGS, () => {
  const WHY = 'the graph that it is a part of was aborted';
  const invoke = async (squad: Squad, signal: AbortSignal) =>
    graphOf(squad).invoke({ request: REQUEST }, { ...thread, signal });
  const settled = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'ended',
      (error: unknown) => String(error),
    );

  it('cancels its run once, and rejects', async () => {
    const { squad, nextRun } = openSquad();
    const abort = new AbortController();
    const started = nextRun();
    const ended = settled(invoke(squad, abort.signal));
    const run = await started;
    expect(run.cancelled).toEqual([]);
    abort.abort(new Error('enough'));
    expect(await ended).toContain('enough');
    await expect.poll(() => run.cancelled).toEqual([WHY]);
    run.end(endAs('stopped'));
  });

  it('cancels a run that was starting', async () => {
    const { squad, runs } = openSquad();
    const abort = new AbortController();
    const late: Squad = {
      ...squad,
      run: async (...order) => {
        abort.abort(new Error('enough'));
        return squad.run(...order);
      },
    };
    expect(await settled(invoke(late, abort.signal))).toContain('enough');
    await expect.poll(() => runs[0]?.cancelled).toEqual([WHY]);
    runs[0]?.end(endAs('stopped'));
  });

  it('cancels nothing once its run has ended', async () => {
    const { squad, runs } = openSquad({ ends: [endAs('done')] });
    const abort = new AbortController();
    await invoke(squad, abort.signal);
    abort.abort();
    expect(runs[0]?.cancelled).toEqual([]);
  });

  it('does not cancel what it drove before and has ended', async () => {
    const { squad, runs, nextRun } = openSquad({ ends: [endAs('waiting', [QUESTION])], open: [] });
    const first = nextRun();
    const abort = new AbortController();
    const ended = settled(invoke(squad, abort.signal));
    await first;
    const second = await nextRun();
    abort.abort(new Error('enough'));
    await ended;
    await expect.poll(() => second.cancelled).toEqual([WHY]);
    expect(runs[0]?.cancelled).toEqual([]);
    second.end(endAs('stopped'));
  });

  it('starts no run if that happened before', async () => {
    const { squad, runs } = openSquad({ ends: [endAs('done')] });
    expect(await settled(invoke(squad, AbortSignal.abort(new Error('enough'))))).toContain('enough');
    expect(runs).toEqual([]);
  });

  it('leaves the run to the next call of the graph, which waits until it has ended', async () => {
    const { squad, nextRun, runs } = openSquad();
    const graph = graphOf(squad);
    const abort = new AbortController();
    const first = nextRun();
    const ended = settled(graph.invoke({ request: REQUEST }, { ...thread, signal: abort.signal }));
    const run = await first;
    abort.abort(new Error('enough'));
    await ended;
    const second = nextRun();
    const again = graph.invoke(null, thread);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(runs).toHaveLength(1);
    run.end(endAs('stopped'));
    (await second).end(endAs('done'));
    expect(await again).toMatchObject({ end: { outcome: 'done' } });
    expect(runs[1]?.options.runId).toBe(runs[0]?.options.runId);
  });

  it('and is called and aborted twice, leaves one run at a time', async () => {
    const { squad, nextRun, runs } = openSquad();
    const graph = graphOf(squad);
    const call = async (abort: AbortController) =>
      settled(graph.invoke({ request: REQUEST }, { ...thread, signal: abort.signal }));
    const [one, two] = [new AbortController(), new AbortController()];
    const [first, begun] = [nextRun(), call(one)];
    const run = await first;
    one.abort(new Error('enough'));
    await begun;
    const [second, again] = [nextRun(), settled(graph.invoke(null, { ...thread, signal: two.signal }))];
    // Until the second call waits for the first one's run.
    await new Promise((resolve) => setTimeout(resolve, 20));
    run.end(endAs('stopped'));
    const other = await second;
    two.abort(new Error('enough'));
    await again;
    const [third, last] = [nextRun(), graph.invoke(null, thread)];
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(runs).toHaveLength(2);
    other.end(endAs('stopped'));
    (await third).end(endAs('done'));
    expect(await last).toMatchObject({ end: { outcome: 'done' } });
  });
});
