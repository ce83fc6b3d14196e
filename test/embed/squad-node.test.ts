import { join } from 'node:path';
import {
  Command,
  END,
  INTERRUPT,
  isInterrupted,
  MemorySaver,
  START,
  StateGraph,
  StateSchema,
  type BaseCheckpointSaver,
} from '@langchain/langgraph';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { squadNode, type SquadNodeOptions, type SquadRequest } from '../../src/exports/langgraph.ts';
import { createSquad, type Squad } from '../../src/squad/squad.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan, type Entry } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';

const AUTHORS = ['a', 'b'].map((id) => author(id, commits({ [`${id}.txt`]: `${id}\n` })));
const WORKS: Entry[] = [plan([piece('a')]), ...AUTHORS, APPROVE_ALL];
const ASKS: Entry[] = [plan([piece('b')], 'asks for a change'), ...WORKS];
const LOGS_IN: Entry[] = [author('a', [{ fail: { kind: 'auth', message: 'log in' } }]), plan([piece('a')])];

const State = new StateSchema({
  wish: z.string(),
  visits: z.number().default(0),
  ends: z.array(z.object({ outcome: z.string(), runId: z.string() })).default(() => []),
});
type State = typeof State.State;
type Options = Partial<SquadNodeOptions<State, Partial<State>>>;

function benchFor(script: readonly Entry[] = WORKS): { bench: RunBench; squad: Squad } {
  const bench = openRunBench({ script });
  onTestFinished(() => bench.end());
  const { root, repository: cwd } = bench;
  const environment = { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: join(root, 'state') };
  return { bench, squad: createSquad({ cwd, environment }) };
}

const request = ({ wish }: State): SquadRequest => ({ objective: { text: wish }, runtime: 'scripted' });

/** `node`, as often as `visits` says. */
function parentOf(squad: Squad, checkpointer?: BaseCheckpointSaver, options: Options = {}) {
  const node = squadNode<State, Partial<State>>(squad, {
    in: request,
    out: ({ outcome, runId }, { visits, ends }) => ({ visits: visits - 1, ends: [...ends, { outcome, runId }] }),
    trust: 'yes',
    ...options,
  });
  return new StateGraph(State)
    .addNode('build', node)
    .addEdge(START, 'build')
    .addConditionalEdges('build', ({ visits }) => (visits > 0 ? 'build' : END))
    .compile(checkpointer === undefined ? {} : { checkpointer });
}

const thread = (id = 'theirs') => ({ configurable: { thread_id: id } });
const WISH = { wish: objective() };

/** What an interrupted graph asks. */
function asked(state: unknown): unknown {
  expect(isInterrupted(state)).toBe(true);
  return (state as { [INTERRUPT]: { value: unknown }[] })[INTERRUPT].map(({ value }) => value);
}

describe('a node that is a run', { timeout: 120_000 }, () => {
  it('maps the end of the run to the parent’s state, and reports its events', ALL, async () => {
    const { bench, squad } = benchFor();
    const events: string[] = [];
    const stream = await parentOf(squad).stream(WISH, { streamMode: ['custom', 'values'] });
    let last: State | undefined;
    for await (const [mode, chunk] of stream) {
      if (mode === 'custom') events.push((chunk as { type: string }).type);
      else last = chunk;
    }
    expect(last?.ends).toMatchObject([{ outcome: 'done' }]);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
    expect(events[0]).toBe('run-started');
    expect(events).toContain('attempt-ended');
  });

  it('asks by interrupts, one after the other, and asks again where an answer does not fit', ALL, async () => {
    const { bench, squad } = benchFor(ASKS);
    const parent = parentOf(squad, new MemorySaver(), { plan: 'ask' });
    const first = await parent.invoke(WISH, thread());
    expect(asked(first)).toEqual([
      {
        runId: expect.any(String),
        questions: [expect.objectContaining({ id: 'plan-1', options: ['approve', 'stop'] })],
      },
    ]);
    const confused = await parent.invoke(new Command({ resume: { 'plan-7': 'yes' } }), thread());
    expect(asked(confused)).toMatchObject([{ problem: 'plan-7 is no open question. Open: plan-1.' }]);
    const second = await parent.invoke(new Command({ resume: 'call it b' }), thread());
    expect(asked(second)).toMatchObject([{ questions: [{ id: 'plan-2' }] }]);
    const end = await parent.invoke(new Command({ resume: { 'plan-2': 'approve' } }), thread());
    expect(end.ends).toMatchObject([{ outcome: 'done' }]);
    expect(bench.fileOnBranch('b.txt')).toBe('b');
    expect(await squad.runs()).toHaveLength(1);
  });

  it('may name how many agents try the same, which only one playbook lets them', async () => {
    const { squad } = benchFor();
    const tries = (playbook: string, count: number) =>
      parentOf(squad, undefined, { in: (state) => ({ ...request(state), playbook, tries: count }) }).invoke(WISH);
    await expect(tries('delivery', 3)).rejects.toThrow('only the playbook best-of has tries');
    await expect(tries('best-of', 10)).rejects.toThrow('a run has 2 to 9 tries, not 10');
    expect(await squad.runs()).toEqual([]);
  });

  it('sees an answer that came another way', ALL, async () => {
    const { bench, squad } = benchFor(LOGS_IN);
    const parent = parentOf(squad, new MemorySaver());
    expect(asked(await parent.invoke(WISH, thread()))).toMatchObject([{ questions: [{ id: 'engine/auth/scripted' }] }]);
    const refused = await parent.invoke(new Command({ resume: 'perhaps' }), thread());
    expect(asked(refused)).toMatchObject([{ problem: expect.stringContaining('perhaps is not an option') }]);
    bench.rescript(WORKS);
    await squad.answer(undefined, 'try again');
    const end = await parent.invoke(null, thread());
    expect(end.ends).toMatchObject([{ outcome: 'done' }]);
  });

  it('refuses clearly to ask in a graph without a checkpointer, and the run waits', ALL, async () => {
    const { squad } = benchFor(LOGS_IN);
    await expect(parentOf(squad).invoke(WISH)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('asks a person, and a graph without a checkpointer cannot wait'),
    });
    expect(await squad.runs()).toMatchObject([{ need: 'asks' }]);
  });

  it('is another run at each visit, and in each thread', ALL, async () => {
    const { squad } = benchFor();
    const parent = parentOf(squad, new MemorySaver());
    const twice = await parent.invoke({ ...WISH, visits: 2 }, thread());
    expect(twice.ends.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
    const again = await parent.invoke({ ...WISH, ends: [] }, thread());
    const other = await parent.invoke(WISH, thread('another'));
    const ids = [...twice.ends, ...again.ends, ...other.ends].map(({ runId }) => runId);
    expect(new Set(ids).size).toBe(4);
    expect(await squad.runs()).toHaveLength(4);
  });

  it('is the same run where the node is tried again', ALL, async () => {
    const { squad } = benchFor();
    let tries = 0;
    const out: Options['out'] = ({ outcome, runId }, { ends }) => {
      tries += 1;
      if (tries === 1) throw new Error('the parent’s own problem');
      return { ends: [...ends, { outcome, runId }] };
    };
    const parent = parentOf(squad, new MemorySaver(), { out });
    await expect(parent.invoke(WISH, thread())).rejects.toThrow('the parent’s own problem');
    expect((await parent.invoke(null, thread())).ends).toMatchObject([{ outcome: 'done' }]);
    expect(await squad.runs()).toHaveLength(1);
  });

  it.each([
    ['resumed', null],
    ['called with its input again', WISH],
  ])('is cancelled with its parent, and goes on where that is %s', ALL, async (_, input) => {
    const { bench, squad } = benchFor([plan([piece('a')]), author('a', [{ sleep: 60_000 }]), APPROVE_ALL]);
    const parent = parentOf(squad, new MemorySaver());
    const abort = new AbortController();
    const started = Promise.withResolvers<void>();
    const stream = await parent.stream(WISH, { ...thread(), streamMode: 'custom', signal: abort.signal });
    const read = (async () => {
      for await (const event of stream as AsyncIterable<{ type: string; task?: string }>) {
        if (event.type === 'attempt-taken' && event.task === 'a') started.resolve();
      }
    })();
    await started.promise;
    abort.abort(new Error('enough'));
    await expect(read).rejects.toThrow();
    // Before there is anything else for its agent to do than to sleep: only the abort can have ended it.
    await expect.poll(() => bench.alive(), { timeout: 30_000 }).toEqual([]);
    bench.rescript([...WORKS, { when: 'was cut short', steps: commits({ 'a.txt': 'a\n' }) }]);
    expect((await parent.invoke(input, thread())).ends).toMatchObject([{ outcome: 'done' }]);
    expect(await squad.runs()).toHaveLength(1);
  });

  it('has what did not go well as data, and throws where no run could start', ALL, async () => {
    const { squad } = benchFor();
    const limited: Options = { in: (state) => ({ ...request(state), limits: { turns: 1 } }) };
    const stopped = await parentOf(squad, undefined, limited).invoke(WISH);
    expect(stopped.ends).toMatchObject([{ outcome: 'stopped' }]);
    await expect(parentOf(squad).invoke({ wish: ' ' })).rejects.toMatchObject({ code: 'bad-input' });
    const wrong: Options = { in: () => ({ objective: 'objective.md', limits: { turns: -1 } }) };
    await expect(parentOf(squad, undefined, wrong).invoke(WISH)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('the request.limits.turns'),
    });
    const unknown = { ...WISH, untrusted: 'yes' };
    await expect(
      parentOf(squad, undefined, { trust: undefined, in: () => unknown as never }).invoke(WISH),
    ).rejects.toMatchObject({ code: 'usage' });
  });
});
