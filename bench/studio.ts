import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { median, rowOf, type Bench } from './shared/row.ts';
import { chainOf, ended, LAUNCHER, openScriptedRoom, type ScriptedRoom } from './shared/scripted-room.ts';

const TURNS = 12;
const TURN_MS = 1_500;
/** Between two reads: about a thousand in all. */
const PAUSE_MS = 40;
const ROUNDS = 3;

interface Read {
  readonly ms: number;
  readonly at: number;
  readonly cursor: number;
}

interface Watched {
  readonly reads: readonly Read[];
  /** The same server without a state to read. */
  readonly bare: readonly number[];
  readonly pause: { readonly sentAt: number; readonly seq: number } | undefined;
}

/** A run of another process, while a client of `squad studio` reads its state all the time and pauses it once. */
export const studio: Bench = {
  name: 'studio',
  run: async (folder) => {
    const alone: number[] = [];
    const read: number[] = [];
    const watched: Watched[] = [];
    const shown: number[] = [];
    const heard: number[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const quiet = roomFor(join(folder, `quiet-${round}`));
      await ended(quiet.startRun());
      alone.push(...gapsIn(quiet));
      const room = roomFor(join(folder, `read-${round}`));
      const one = await watchRun(join(folder, `read-${round}`), room);
      watched.push(one);
      read.push(...gapsIn(room));
      shown.push(...delaysIn(room, one.reads));
      heard.push(...heardIn(room, one));
    }
    const reads = watched.flatMap((one) => one.reads);
    const bare = watched.flatMap((one) => one.bare);
    return [
      rowOf(
        'a state of a live run, beside an empty answer of the server',
        'ms',
        median(reads.map(({ ms }) => ms)),
        median(bare),
        {
          target: { of: 'squad', most: 50 },
          note: `${reads.length} reads`,
        },
      ),
      rowOf('a change until a client sees it, beside the pause between its reads', 'ms', median(shown), PAUSE_MS, {
        target: { of: 'squad', most: 1_000 },
        note: `at most ${Math.round(Math.max(...shown))} ms`,
      }),
      rowOf(
        'a pause until the engine has decided on it, beside a read',
        'ms',
        median(heard),
        median(reads.map(({ ms }) => ms)),
        {
          target: { of: 'squad', most: 1_000 },
          note: `at most ${Math.round(Math.max(...heard))} ms`,
        },
      ),
      rowOf('from a turn to the next with all these reads, beside without', 'ms', median(read), median(alone), {
        target: { of: 'ratio', most: 1.05 },
      }),
    ];
  },
};

function roomFor(folder: string): ScriptedRoom {
  return openScriptedRoom(folder, { pieces: chainOf(TURNS), turnMs: TURN_MS, parallel: 1 });
}

async function watchRun(folder: string, room: ScriptedRoom): Promise<Watched> {
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_STATE_HOME: join(folder, 'state') };
  const served = spawn(process.execPath, [LAUNCHER, 'studio', '--port', '0', '--json'], {
    ...{ cwd: room.repository, env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const run = room.startRun();
  try {
    const url = await urlOf(served);
    return await readAll(url, run);
  } finally {
    served.kill('SIGTERM');
  }
}

async function urlOf(served: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: served.stdout! }))
    return String((JSON.parse(line) as { url: unknown }).url);
  throw new Error('squad studio ended before it served');
}

async function readAll(url: string, run: ChildProcess): Promise<Watched> {
  const reads: Read[] = [];
  const bare: number[] = [];
  let pause: Watched['pause'];
  const over = ended(run);
  over.catch(() => undefined);
  const ask = async (path: string, body?: object): Promise<{ ms: number; answer: unknown }> => {
    const from = performance.now();
    const posted = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, body === undefined ? {} : posted);
    return { answer: await response.json(), ms: performance.now() - from };
  };
  while (run.exitCode === null && run.signalCode === null) {
    const found = (await ask('/threads/search', {})).answer as { thread_id: string }[];
    const id = found[0]?.thread_id;
    if (id !== undefined) {
      const { ms, answer } = await ask(`/threads/${id}/state`);
      const { cursor = 0, counts } = (answer as { values: { cursor?: number; counts?: { turns: number } } }).values;
      reads.push({ ms, at: Date.now(), cursor });
      bare.push((await ask('/ok')).ms);
      if (pause === undefined && (counts?.turns ?? 0) > TURNS / 2) {
        const sentAt = Date.now();
        const edited = (await ask(`/threads/${id}/state`, { values: { verb: 'pause' } })).answer;
        pause = { sentAt, seq: (edited as { checkpoint: { command: { seq: number } } }).checkpoint.command.seq };
        await ask(`/threads/${id}/state`, { values: { verb: 'resume' } });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  await over;
  return { reads, bare, pause };
}

/** From the end of each turn to the start of the next, without the gap in which the run was paused. */
function gapsIn(room: ScriptedRoom): number[] {
  const events = room.events();
  const settled = events.filter(({ type }) => type === 'attempt-settled').map(({ at }) => at);
  return events
    .filter(({ type }) => type === 'attempt-spawned')
    .flatMap(({ at }) => {
      const before = settled.findLast((end) => end <= at);
      return before === undefined ? [] : [at - before];
    });
}

/** From each settlement to the first state that a client got with it. */
function delaysIn(room: ScriptedRoom, reads: readonly Read[]): number[] {
  const settled = room.events().filter(({ type }) => type === 'attempt-settled');
  return settled.flatMap(({ at, seq }) => {
    const first = reads.find(({ cursor }) => cursor >= seq);
    return first === undefined || reads[0] === undefined || reads[0].at > at ? [] : [first.at - at];
  });
}

function heardIn(room: ScriptedRoom, { pause }: Watched): number[] {
  const decided = room.events().find(({ cause }) => cause !== null && cause === pause?.seq);
  return pause === undefined || decided === undefined ? [] : [decided.at - pause.sentAt];
}
