import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { expect, it, onTestFinished } from 'vitest';
import { APPROVE_ALL, author, commits, objective, piece, plan, type Entry } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';
import { openServedRoom, type ServedRoom } from './served-room.ts';

/* The list of threads, of runs that were started elsewhere: the same under `squad studio` and under a server of one's own. */

const work = (...steps: Parameters<typeof author>[1]): Entry[] => [
  plan([piece('one')]),
  author('one', steps),
  APPROVE_ALL,
];
const DONE = work(...commits({ 'one.txt': 'one\n' }));
const ASKS = work({ fail: { kind: 'auth', message: 'log in' } });
const LIVES = work({ sleep: 120_000 });

interface Conversation {
  readonly messages: readonly { readonly type: string; readonly content: string }[];
}

const SERVERS: Readonly<Record<string, (room: ServedRoom) => Promise<Client>>> = {
  'squad studio': async (room) => (await room.serve()).client,
  'a langgraph.json of one’s own': ownServer,
};

async function ownServer({ repository, root }: ServedRoom): Promise<Client> {
  const program = fileURLToPath(new URL('own-server.ts', import.meta.url));
  const environment = { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: `${root}/state`, LOG_LEVEL: 'error' };
  const child = spawn(process.execPath, [program, root], { cwd: repository, env: environment, stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  for await (const piece of child.stdout) {
    printed += String(piece);
    const [, port] = /"port":(\d+)/.exec(printed) ?? [];
    if (port !== undefined) {
      onTestFinished(async () => {
        child.kill('SIGKILL');
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      });
      child.stdout.resume();
      return new Client({ apiUrl: `http://127.0.0.1:${port}`, apiKey: null });
    }
  }
  throw new Error(`the server ended: ${printed}`);
}

it.each(Object.keys(SERVERS))(
  'under %s each run has its status and its times',
  { ...ALL, timeout: 240_000 },
  async (name) => {
    const room = await openServedRoom(DONE);
    const start = async (as: string, script: readonly Entry[]) => {
      room.objective(objective({ title: `Make ${as}` }));
      room.rescript(script);
      return room.runAll(['--name', as]);
    };
    expect(await start('ended', DONE)).toMatchObject({ code: 0 });
    expect(await start('asks', ASKS)).toMatchObject({ code: 3 });
    const asking = await room.status();
    room.objective(objective({ title: 'Make lives' }));
    room.rescript(LIVES);
    const engine = room.startRun(['--name', 'lives']);
    await engine.line(({ type, task }) => type === 'attempt-taken' && task === 'one');

    const client = await SERVERS[name]!(room);
    const statuses = async () =>
      Object.fromEntries((await client.threads.search()).map(({ metadata, status }) => [metadata?.['name'], status]));
    expect(await statuses()).toEqual({ ended: 'idle', asks: 'interrupted', lives: 'busy' });

    const waiting = await client.threads.search({ status: 'interrupted' });
    expect(waiting.map(({ thread_id: id }) => id)).toEqual([asking.runId]);
    const [thread] = waiting;
    const questions = asking.waitingFor?.for === 'answer' ? asking.waitingFor.questions : [];
    expect(Object.values(thread!.interrupts).flat()).toMatchObject([{ value: { questions } }]);
    expect(thread!.values).toMatchObject({ phase: 'waiting', messages: [{ type: 'human' }, { type: 'ai' }] });
    const ledger = room.ledger();
    const times = ledger.runs().map(({ id, createdAt }) => {
      return [id, new Date(createdAt).toISOString(), new Date(ledger.events({ stream: id }).at(-1)!.at).toISOString()];
    });
    ledger.close();
    const listed = await client.threads.search({ sortBy: 'created_at', sortOrder: 'asc' });
    const live = times.at(-1)!;
    expect(listed.slice(0, 2).map((one) => [one.thread_id, one.created_at, one.updated_at])).toEqual(times.slice(0, 2));
    expect([listed[2]?.thread_id, listed[2]?.created_at]).toEqual(live.slice(0, 2));

    await room.run(['pause']);
    const phase = async () => (await client.threads.getState<{ phase: string }>(live[0]!)).values.phase;
    await expect.poll(phase, { timeout: 20_000 }).toBe((await room.status()).phase);
    expect((await statuses())['lives']).toBe('busy');
    await room.run(['resume']);
    await client.threads.updateState(live[0]!, { values: { verb: 'cancel', task: 'one', reason: 'enough' } });
    await engine.finished;
    expect(await statuses()).toEqual({ ended: 'idle', asks: 'interrupted', lives: 'idle' });
    // As a chat client answers.
    room.rescript(DONE);
    const said = { messages: [{ type: 'human', content: 'try again' }] };
    const states: Conversation[] = [];
    for await (const { event, data } of client.runs.stream(asking.runId, 'squad', {
      input: said,
      streamMode: 'values',
    })) {
      if (event === 'values') states.push(data as unknown as Conversation);
    }
    expect(await client.threads.search({ status: 'interrupted' })).toEqual([]);
    const { values } = await client.threads.getState<Conversation>(asking.runId);
    expect(values.messages.map(({ type }) => type)).toEqual(['human', 'ai', 'human', 'ai']);
    expect(values.messages.slice(2)).toMatchObject([
      { content: 'try again' },
      { content: expect.stringMatching(/^DONE/) },
    ]);
    expect(states.at(-1)?.messages).toEqual(values.messages);
    await expect(client.runs.wait(asking.runId, 'squad', { input: said })).rejects.toMatchObject({ status: 422 });
  },
);
