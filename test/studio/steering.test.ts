import { expect, it } from 'vitest';
import type { Client } from '@langchain/langgraph-sdk';
import { probeLock } from '../../src/substrate/ledger/workspace-lock.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../runs/run-script.ts';
import { ALL, NIGHT } from '../support/lane.ts';
import { openServedRoom, type ServedRoom } from './served-room.ts';
import { stateOf } from '../support/state.ts';

/* Commands through the real server and LangGraph's own client, to runs of this server and of other processes. */

const made = (id: string, sleep: number) => author(id, [{ sleep }, ...commits({ [`${id}.txt`]: `${id}\n` })]);
const needing = (id: string) => piece(id, { needs: ['one'] });
const SCRIPT = [
  plan([piece('one'), ...['two', 'three', 'four'].map(needing)]),
  made('one', 6_000),
  ...['two', 'three', 'four'].map((id) => made(id, 0)),
  APPROVE_ALL,
];
const START = { objective: 'objective.md', runtime: 'scripted' };

function commandsIn(room: ServedRoom, id: string): string[] {
  const ledger = room.ledger();
  try {
    const events = ledger.events({ stream: id, types: ['operator-command'] });
    return events.map(({ data }) => (data as { verb: string }).verb);
  } finally {
    ledger.close();
  }
}

interface Shown {
  readonly board: readonly string[];
  readonly inflight: Readonly<Record<string, unknown>>;
}

async function untilOneRuns(client: Client, id: string): Promise<void> {
  const board = async () => (await client.threads.getState<Shown>(id)).values.board?.join();
  await expect.poll(board, { timeout: 60_000 }).toMatch(/one: live/);
}

it('a run that was started in Studio takes each verb there', { ...ALL, timeout: 180_000 }, async () => {
  const room = await openServedRoom(SCRIPT);
  await room.consent();
  const { client, url } = await room.serve();
  const { thread_id: id } = await client.threads.create();
  await client.runs.create(id, 'squad', { input: START });
  await untilOneRuns(client, id);
  const give = async (values: Record<string, unknown>) => client.threads.updateState(id, { values });

  // As a client repeats it: five times the same bytes.
  const body = JSON.stringify({ values: { verb: 'pause' } });
  const headers = { 'content-type': 'application/json' };
  const posts = Array.from({ length: 5 }, async () =>
    fetch(`${url}/threads/${id}/state`, { method: 'POST', headers, body }),
  );
  expect((await Promise.all(posts)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(commandsIn(room, id)).toEqual(['pause']);

  await give({ verb: 'resume' });
  await give({ verb: 'skip', task: 'two' });
  await give({ verb: 'override', task: 'three', as: 'failed', reason: 'not wanted' });
  await give({ verb: 'cancel', task: 'four' });
  await give({ verb: 'retry', task: 'three' });
  await give({ verb: 'drain' });
  await expect.poll(async () => (await client.threads.get(id)).status, { timeout: 60_000 }).not.toBe('busy');
  await give({ verb: 'switch', task: 'three', runtime: 'scripted' });
  await give({ verb: 'reload' });
  const forked = await give({ verb: 'fork' });
  const fork = (forked.configurable ?? (forked as { checkpoint?: object }).checkpoint) as { thread_id: string };
  expect(fork.thread_id).not.toBe(id);
  await expect
    .poll(async () => (await client.threads.search({ ids: [fork.thread_id] })).length, { timeout: 10_000 })
    .toBe(1);
  await give({ verb: 'stop' });
  const given = ['pause', 'resume', 'skip', 'override', 'cancel', 'retry', 'drain', 'switch', 'stop'];
  expect(commandsIn(room, id)).toEqual(expect.arrayContaining(given));

  for (const [wrong, said] of [
    [{ verb: 'retire' }, 'retry'],
    [{ verb: 'retry', task: 'thre' }, 'three'],
    [{ phase: 'finished' }, 'cannot be edited'],
    [{ verb: 'answer', answer: 'yes' }, 'question'],
  ] as const) {
    await expect(give(wrong)).rejects.toMatchObject({ status: 422, message: expect.stringContaining(said) });
  }
});

it('an old checkpoint is a fork when it is run, and both runs end', { ...ALL, timeout: 180_000 }, async () => {
  const room = await openServedRoom([plan([piece('one')]), made('one', 0), APPROVE_ALL]);
  await room.consent();
  const { client } = await room.serve();
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, 'squad', { input: START });
  const before = await client.threads.getHistory(id, { limit: 1_000 });
  const { checkpoint } = before[Math.floor(before.length / 2)]!;
  const named: string[] = [];
  const asked = { input: null, checkpointId: checkpoint.checkpoint_id ?? '', streamMode: ['custom' as const] };
  for await (const { data } of client.runs.stream(id, 'squad', asked)) {
    const { type, runId } = data as Record<string, unknown>;
    if (type === 'forked') named.push(String(runId));
  }
  const [fork = ''] = named;
  expect(fork).not.toBe(id);
  const phase = async () => (await client.threads.getState<{ phase: string }>(fork)).values.phase;
  await expect.poll(phase, { timeout: 60_000 }).toBe('finished');
  await expect
    .poll(async () => (await client.threads.get(id)).metadata, { timeout: 10_000 })
    .toMatchObject({ forks: [fork] });
  expect((await client.threads.get(fork)).metadata).toMatchObject({ parent: id });
  const after = await client.threads.getHistory(id, { limit: 1_000 });
  // Their metadata names the fork now.
  const plain = (states: typeof before) =>
    states.map(({ values, next, checkpoint: place }) => ({ values, next, place }));
  expect(plain(after)).toEqual(plain(before));
  // The fork's engine keeps the workspace until it has ended.
  await expect.poll(() => probeLock(stateOf(room.repository)), { timeout: 30_000 }).toBeNull();
  // The checkpoint was of that call: the next one is about the run as it is.
  await expect(client.runs.wait(id, 'squad', { input: null })).rejects.toMatchObject({ status: 422 });
});

it(
  'reads, and servers that are killed, change nothing of a run of another process',
  { ...NIGHT, timeout: 240_000 },
  async () => {
    const long = [...SCRIPT.slice(0, 1), made('one', 25_000), ...SCRIPT.slice(2)];
    const quiet = await openServedRoom(long);
    const alone = quiet.startRun();
    const room = await openServedRoom(long);
    const engine = room.startRun();
    const id = String((await engine.line(({ type }) => type === 'run-defined'))['runId']);
    let reads = 0;
    const readAndKill = async (): Promise<void> => {
      const { client, child, finished } = await room.serve();
      for (let read = 0; read < 50; read += 1) {
        await client.threads.getState(id);
        reads += 1;
      }
      child.kill('SIGKILL');
      await finished;
    };
    for (let round = 0; round < 5; round += 1) await Promise.all(Array.from({ length: 4 }, readAndKill));
    expect(reads).toBe(1_000);
    expect([(await alone.finished).code, (await engine.finished).code]).toEqual([0, 0]);
    expect(factsOf(room, id)).toEqual(factsOf(quiet, quiet.runId()));
  },
);

/** What a run decided, without times and names that differ. */
function factsOf(room: ServedRoom, id: string): object {
  const ledger = room.ledger();
  try {
    const count = Object.groupBy(ledger.events({ stream: id }), ({ type }) => type);
    const attempts = ledger.attempts({ runId: id }).map(({ kind, status }) => `${kind} ${status}`);
    return {
      events: Object.fromEntries(Object.entries(count).map(([type, all]) => [type, all?.length])),
      segments: ledger.segments(id).length,
      attempts: attempts.toSorted(),
    };
  } finally {
    ledger.close();
  }
}
