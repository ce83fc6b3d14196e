import { randomUUID } from 'node:crypto';
import type { Client, StreamMode } from '@langchain/langgraph-sdk';
import { expect, it } from 'vitest';
import { probeLock } from '../../src/substrate/ledger/workspace-lock.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';
import { openServedRoom, type ServedRoom } from './served-room.ts';
import { stateOf } from '../support/state.ts';

/* Everything through the real server and LangGraph's own client, which share no process. */

const SCRIPT = [plan([piece('one')]), author('one', commits({ 'one.txt': 'one\n' })), APPROVE_ALL];
const START = { objective: 'objective.md', runtime: 'scripted', limits: { turns: 9 } };
const MODES: StreamMode[] = ['values', 'updates', 'tasks', 'custom', 'debug'];
const NODES = [
  ...['intake', 'bind_armory', 'allocate_workspace', 'route_frontier', 'run_agent_attempt'],
  ...['collect', 'reconcile_inbox', 'decide_next', 'ask_human', 'publish'],
];

interface Chunk {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

type Asked = Parameters<Client['runs']['stream']>[2];

/** A run of the server on the thread, to its end. */
async function streamed(client: Client, thread: string, asked: Asked): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const { event, data } of client.runs.stream(thread, 'squad', { streamMode: MODES, ...asked })) {
    chunks.push({ event, data: data as Chunk['data'] });
  }
  return chunks;
}

const eventsIn = (chunks: readonly Chunk[]): unknown[] =>
  chunks.filter(({ event }) => event === 'custom').map(({ data }) => data['type']);

/** The status and the words of the server's refusal. */
async function refusalOf(work: Promise<unknown>): Promise<{ status: number; text: string }> {
  const error = await work.then(
    (): Error & { status?: number } => new Error('it was not refused'),
    (caught: unknown) => caught as Error & { status?: number },
  );
  return { status: error.status ?? 0, text: error.message };
}

async function servedRoom(script = SCRIPT): Promise<ServedRoom> {
  const room = await openServedRoom(script);
  await room.consent();
  return room;
}

it('draws the graph, and says what a run takes', { ...ALL, timeout: 60_000 }, async () => {
  const { client } = await (await servedRoom()).serve();
  const [assistant] = await client.assistants.search();
  const { nodes, edges } = await client.assistants.getGraph(assistant?.assistant_id ?? '');
  expect(nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(NODES));
  expect(nodes).toHaveLength(NODES.length + 2);
  expect(edges).toContainEqual(expect.objectContaining({ source: 'ask_human', target: 'collect' }));
  const { input_schema, state_schema } = await client.assistants.getSchemas('squad');
  expect(Object.keys(input_schema?.properties ?? {})).toEqual([
    'objective',
    'messages',
    'playbook',
    'runtime',
    'models',
    'name',
    'strict',
    'plan',
    'limits',
  ]);
  expect(Object.keys(state_schema?.properties ?? {})).toEqual(expect.arrayContaining(['board', 'questions', 'phase']));
});

it('starts a run, streams it to its end, and keeps its history', { ...ALL, timeout: 120_000 }, async () => {
  const room = await servedRoom();
  const { client } = await room.serve();
  const { thread_id: id } = await client.threads.create();
  const empty = await client.threads.getState(id);
  expect([empty.values, empty.next]).toEqual([{}, []]);

  const chunks = await streamed(client, id, { input: START });
  expect(eventsIn(chunks)).toEqual(expect.arrayContaining(['run-defined', 'attempt-ended', 'run-ended']));
  const values = chunks.findLast(({ event }) => event === 'values');
  expect(values?.data).toMatchObject({ runId: id, phase: 'finished', result: { outcome: 'done' } });
  expect(await room.status()).toMatchObject({ runId: id, outcome: 'done', limits: { turns: 9 } });
  const updated = chunks.filter(({ event }) => event === 'updates').flatMap(({ data }) => Object.keys(data));
  expect(updated).toEqual(expect.arrayContaining(['intake', 'collect', 'decide_next']));

  const { values: shown, checkpoint } = await client.threads.getState<{ phase: string }>(id);
  expect(shown.phase).toBe('finished');
  const history = await client.threads.getHistory(id, { limit: 1_000 });
  expect(history[0]?.checkpoint.checkpoint_id).toBe(checkpoint.checkpoint_id);
  expect(history.length).toBeGreaterThan(10);
  const old = await client.threads.getState<{ phase: string }>(id, history[5]?.checkpoint);
  expect(old.checkpoint.checkpoint_id).toBe(history[5]?.checkpoint.checkpoint_id);
  const [listed] = await client.threads.search({ ids: [id] });
  expect(listed).toMatchObject({ status: 'idle', values: { phase: 'finished' } });
  await expect
    .poll(async () => (await client.threads.get(id)).metadata, { timeout: 10_000 })
    .toMatchObject({ name: 'make-things', playbook: 'delivery' });
});

it(
  'refuses what is no start with a status and the next step, and starts nothing',
  { ...ALL, timeout: 120_000 },
  async () => {
    const room = await servedRoom();
    const { client } = await room.serve();
    const refused = async (input: Record<string, unknown> | null) => {
      const { thread_id: id } = await client.threads.create();
      return refusalOf(streamed(client, id, { input }));
    };
    expect(await refused(null)).toEqual({ status: 422, text: expect.stringContaining('objective') });
    expect(await refused({ ...START, yes: true })).toEqual({ status: 422, text: expect.stringContaining('yes') });
    expect(await refusalOf(client.threads.copy(randomUUID()))).toEqual({
      status: 422,
      text: expect.stringContaining('squad fork'),
    });
    // Only a run finds out the rest, and says it in its stream.
    room.objective(objective({ criteria: ['it is there (run: `test -f one.txt`)'] }));
    const { thread_id: id } = await client.threads.create();
    const [failed] = (await streamed(client, id, { input: START })).filter(({ event }) => event === 'error');
    expect(failed?.data['message']).toContain('`squad plan --runtime=scripted --max-turns=9 --prompts objective.md`');
    expect((await room.run(['runs', '--json'])).lines).toEqual([]);
  },
);

it('a cancel drains the run, and a run without input continues it', { ...ALL, timeout: 120_000 }, async () => {
  const slow = [{ sleep: 2_000 }, ...commits({ 'one.txt': 'one\n' })];
  const room = await servedRoom([
    plan([piece('one'), piece('two', { needs: ['one'] })]),
    author('one', slow),
    author('two', commits({ 'two.txt': 'two\n' })),
    APPROVE_ALL,
  ]);
  const { client } = await room.serve();
  const { thread_id: id } = await client.threads.create();
  const started = client.runs.stream(id, 'squad', { input: START, streamMode: ['custom'] });
  for await (const { event, data } of started) {
    const { type, task, run_id } = data as Record<string, unknown>;
    if (event === 'custom' && type === 'attempt-taken' && task === 'one') {
      const [running] = await client.runs.list(id);
      await client.runs.cancel(id, String(running?.run_id ?? run_id));
    }
  }
  await expect.poll(async () => (await room.status()).phase, { timeout: 30_000 }).not.toBe('running');
  const ledger = room.ledger();
  const commands = ledger.events({ stream: id, types: ['operator-command'] }).map(({ data }) => data);
  ledger.close();
  expect(commands).toEqual([expect.objectContaining({ verb: 'drain' })]);
  await expect.poll(async () => (await client.threads.get(id)).status, { timeout: 10_000 }).not.toBe('busy');
  // The drained engine keeps the workspace until it has ended.
  await expect.poll(() => probeLock(stateOf(room.repository)), { timeout: 30_000 }).toBeNull();
  const chunks = await streamed(client, id, { input: null });
  expect(eventsIn(chunks)).toContain('run-ended');
  expect(await room.status()).toMatchObject({ outcome: 'done' });
});

it('a question is an interrupt, which a resume answers', { ...ALL, timeout: 120_000 }, async () => {
  const room = await servedRoom([author('one', [{ fail: { kind: 'auth', message: 'log in' } }]), plan([piece('one')])]);
  const { client } = await room.serve();
  const { thread_id: id } = await client.threads.create();
  const asked = await streamed(client, id, { input: START });
  expect(asked.at(-1)?.event).not.toBe('error');
  const { tasks, values } = await client.threads.getState<{ questions: { id: string }[] }>(id);
  expect(tasks.flatMap(({ interrupts }) => interrupts)).toHaveLength(1);
  expect(values.questions).toHaveLength(1);
  await expect.poll(async () => (await client.threads.get(id)).status, { timeout: 10_000 }).toBe('interrupted');
  room.rescript(SCRIPT);
  const question = values.questions[0]?.id ?? '';
  const chunks = await streamed(client, id, { command: { resume: { [question]: 'try again' } } });
  expect(eventsIn(chunks)).toContain('run-ended');
  expect(await room.status()).toMatchObject({ outcome: 'done' });
});

it(
  'a run of another process: followed, and a second driver hears who drives',
  { ...ALL, timeout: 120_000 },
  async () => {
    const slow = [{ sleep: 5_000 }, ...commits({ 'one.txt': 'one\n' })];
    const room = await servedRoom([plan([piece('one')]), author('one', slow), APPROVE_ALL]);
    const { client } = await room.serve();
    const engine = room.startRun();
    const { runId } = await engine.line(({ type }) => type === 'run-defined');
    const id = String(runId);
    await expect.poll(async () => (await client.threads.search({ ids: [id] })).length, { timeout: 10_000 }).toBe(1);
    await engine.line(({ type, task }) => type === 'attempt-taken' && task === 'one');
    const second = await refusalOf(streamed(client, id, { input: START }));
    expect(second).toEqual({ status: 409, text: expect.stringMatching(/Another squad \(PID \d+/) });
    const chunks = await streamed(client, id, { input: null });
    expect(eventsIn(chunks)).toEqual(expect.arrayContaining(['attempt-ended', 'run-ended']));
    expect((await engine.finished).code).toBe(0);
  },
);
