import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Clock } from '../ports/clock.ts';
import type { Processes } from '../ports/processes.ts';
import { sweep } from './end-turn.ts';
import { MARKER_VARIABLE } from './process-table.ts';
import { runChild, type ChildAnswer, type ChildRequest, eachLine } from './run-child.mjs';

/** A command that only looks something up is over before that; a run makes thousands. */
const FIRST_CALLS = 6;
/** A machine on which the host does not stay alive has none. */
const MOST_BROKEN = 3;

type Run = Processes['run'];

/** Runs short helpers, each in its own process group: a series of calls by a small process that is quicker to fork. */
export function createHelperRunner(clock: Clock, platform: NodeJS.Platform): Run {
  const hostOf = platform === 'linux' ? createHosts() : () => undefined;
  return async (command, args, options) => {
    const run = async (request: ChildRequest): Promise<ChildAnswer> =>
      (request.cwd === undefined ? undefined : hostOf(request.env['TMPDIR'])?.run(request)) ?? runChild(request);
    return runHelper(run, command, args, options, clock);
  };
}

/** One helper by a given way. Never rejects. See the port. */
export async function runHelper(
  run: (request: ChildRequest) => Promise<ChildAnswer>,
  command: Parameters<Run>[0],
  args: Parameters<Run>[1],
  { cwd, env, timeoutMs }: Parameters<Run>[2],
  clock: Clock,
): ReturnType<Run> {
  const marker = `helper-${randomUUID()}`;
  const { drained, ...answer } = await run({
    command,
    args,
    cwd,
    env: { ...env, [MARKER_VARIABLE]: marker },
    timeoutMs,
  });
  if (!drained && process.platform === 'linux') await sweep(marker, clock);
  return answer;
}

/**
 * A host for those who share a folder for temporary files, once they have called a few times. By that folder, because it
 * marks them for a later engine, which must find the host with them.
 */
function createHosts(): (temporary: string | undefined) => HelperHost | undefined {
  const hosts = new Map<string, HelperHost>();
  const calls = new Map<string, number>();
  let broken = 0;
  return (temporary) => {
    if (temporary === undefined) return undefined;
    const host = hosts.get(temporary);
    if (host !== undefined || broken >= MOST_BROKEN) return host;
    const called = (calls.get(temporary) ?? 0) + 1;
    calls.set(temporary, called);
    if (called <= FIRST_CALLS) return undefined;
    calls.delete(temporary);
    try {
      const started = startHelperHost(temporary, (isBroken) => {
        hosts.delete(temporary);
        if (isBroken) broken += 1;
      });
      hosts.set(temporary, started);
      return started;
    } catch {
      // It is a help and no more: the helper that may not be started either says why.
      broken += 1;
      return undefined;
    }
  };
}

/** It holds requests and answers of a MiB at most; the rest is what a Node needs. */
const MEMORY_FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=128', '--v8-pool-size=1'];
/** Between two turns of agents there may be an hour. */
const IDLE_MS = 30_000;
/** After a helper's own time is over: for the host to say so. */
const GRACE_MS = 10_000;

/** The small process that runs short helpers: `helper-host.mjs`. */
export interface HelperHost {
  /** undefined: it has not started yet, or has ended. */
  run(request: ChildRequest): Promise<ChildAnswer> | undefined;
  /** It is there; rejects once it has ended. */
  readonly started: Promise<void>;
}

const messageSchema = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({
    id: z.number(),
    answer: z.object({
      code: z.number().nullable(),
      stdout: z.string(),
      stderr: z.string(),
      problem: z.string().exactOptional(),
      drained: z.boolean(),
    }),
  }),
]);

/**
 * `temporary`: the folder that marks the helpers it will run. `onEnd`: whether it ended by itself, and not for idleness.
 * Throws when the machine has no room for it.
 */
export function startHelperHost(temporary: string, onEnd: (broken: boolean) => void): HelperHost {
  const { child, stdin, stdout } = startProgram(temporary);
  const waiting = new Map<number, (answer: ChildAnswer) => void>();
  let state: 'starting' | 'ready' | 'closing' | 'ended' = 'starting';
  let requests = 0;
  const { promise: started, resolve: tellStarted, reject: tellEnded } = Promise.withResolvers<void>();
  // Who does not ask is served without it.
  started.catch(() => undefined);

  const idle = setTimeout(() => {
    if (waiting.size > 0) {
      idle.refresh();
      return;
    }
    state = 'closing';
    stdin.end();
  }, IDLE_MS).unref();
  const ended = (): void => {
    if (state === 'ended') return;
    onEnd(state !== 'closing');
    state = 'ended';
    clearTimeout(idle);
    tellEnded(new Error('the process for helpers ended'));
    // What it had started may still run, and is ended by whoever reads `drained`.
    const answer = { code: null, stdout: '', stderr: '', problem: 'the process that ran it ended', drained: false };
    for (const resolve of waiting.values()) resolve(answer);
    waiting.clear();
  };
  // `close` and not `exit`: its last answers come first.
  child.once('error', ended).once('close', ended);
  // A broken pipe is an end, which shows by itself.
  stdin.on('error', () => undefined);
  stdout.on('error', () => undefined);
  eachLine(stdout, (line) => {
    const message = readMessage(line);
    if (message === undefined) {
      child.kill('SIGKILL');
      return;
    }
    if ('ready' in message) {
      state = 'ready';
      tellStarted();
      return;
    }
    waiting.get(message.id)?.(message.answer);
    waiting.delete(message.id);
    if (waiting.size === 0) stdout.unref();
  });
  // It must not keep the engine alive; only who waits for an answer does.
  child.unref();
  stdin.unref();
  stdout.unref();

  const ask = async (request: ChildRequest): Promise<ChildAnswer> => {
    requests += 1;
    const id = requests;
    const late = setTimeout(() => child.kill('SIGKILL'), request.timeoutMs + GRACE_MS);
    idle.refresh();
    stdout.ref();
    try {
      return await new Promise((resolve) => {
        waiting.set(id, resolve);
        stdin.write(`${JSON.stringify({ id, request })}\n`);
      });
    } finally {
      clearTimeout(late);
      if (state === 'ready') idle.refresh();
    }
  };
  return { started, run: (request) => (state === 'ready' ? ask(request) : undefined) };
}

/** Its own session: a Ctrl-C at the terminal is the engine's to answer. No folder of anybody's, and nothing of the environment. */
function startProgram(temporary: string): { child: ChildProcess; stdin: Socket; stdout: Socket } {
  const program = fileURLToPath(new URL('./helper-host.mjs', import.meta.url));
  const child = spawn(process.execPath, [...MEMORY_FLAGS, program], {
    cwd: '/',
    env: { TMPDIR: temporary },
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const { stdin, stdout } = child;
  if (stdin instanceof Socket && stdout instanceof Socket) return { child, stdin, stdout };
  // Without a free descriptor there are no pipes; that it did not start is told by an event as well.
  child.once('error', () => undefined);
  throw new Error('no pipes to the process for helpers');
}

/** undefined: whatever wrote that, it is not the host as it was shipped. */
function readMessage(line: string): z.infer<typeof messageSchema> | undefined {
  try {
    return messageSchema.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
