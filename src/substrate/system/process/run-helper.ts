import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { parseJson } from '../../../text/json.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Processes } from '../../ports/processes.ts';
import { sweep } from './end-turn.ts';
import { hasPipes } from './pipes.ts';
import { MARKER_VARIABLE } from './process-table.ts';
import { eachLine, runChild, type ChildAnswer, type ChildRequest } from './run-child.mjs';

/** These run without a host: a command of squad that only looks something up is over by then; a run makes thousands. */
const FIRST_CALLS = 6;
/** After so many hosts that failed, the engine starts no more. */
const MOST_BROKEN = 3;

type Run = Processes['run'];

/** Runs short helpers, each in its own process group. A small process, which forks faster, runs a longer series of them. */
export function createHelperRunner(clock: Clock, platform: NodeJS.Platform): Run {
  const hostFor = platform === 'linux' ? createHosts() : () => undefined;
  return async (command, args, options) => {
    const run = async (request: ChildRequest): Promise<ChildAnswer> =>
      (request.cwd === undefined ? undefined : hostFor(request.env['TMPDIR'])?.run(request)) ?? runChild(request);
    return runHelper(run, command, args, options, clock);
  };
}

/** Runs one helper by `run`. Never rejects. See the port. */
export async function runHelper(
  run: (request: ChildRequest) => Promise<ChildAnswer>,
  command: Parameters<Run>[0],
  args: Parameters<Run>[1],
  { cwd, env, timeoutMs, input }: Omit<Parameters<Run>[2], 'kind'>,
  clock: Clock,
): ReturnType<Run> {
  const marker = `helper-${randomUUID()}`;
  const request = { command, args, cwd, env: { ...env, [MARKER_VARIABLE]: marker }, timeoutMs, input };
  const { drained, ...answer } = await run(request);
  if (!drained && process.platform !== 'win32') await sweep(marker, clock);
  return answer;
}

/**
 * One host for each folder of temporary files, after the first calls with it. The folder marks the helpers, so a later engine
 * that looks for its processes also finds the host.
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
      // The host only saves time. If helpers cannot be started either, they say why.
      broken += 1;
      return undefined;
    }
  };
}

/** It keeps requests and answers of at most a MiB each. */
const MEMORY_FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=128', '--v8-pool-size=1'];
/** Between two turns of agents an hour may pass. */
const IDLE_MS = 30_000;
/** After a helper's time limit, the host has this long to answer. */
const GRACE_MS = 10_000;

/** The small process that runs short helpers: `helper-host.mjs`. */
export interface HelperHost {
  /** undefined: it has not started yet, or has ended. */
  run(request: ChildRequest): Promise<ChildAnswer> | undefined;
  /** Resolves when it runs; rejects when it has ended. */
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
const ENDED = { code: null, stdout: '', stderr: '', problem: 'the process that ran it ended', drained: false };

/**
 * `temporary`: the folder that marks the helpers it will run. `onEnd` reports whether it failed, or ended because it was idle.
 * Throws if the machine cannot start it.
 */
export function startHelperHost(temporary: string, onEnd: (broken: boolean) => void): HelperHost {
  const { child, stdin, stdout } = startProgram(temporary);
  const waiting = new Map<number, (answer: ChildAnswer) => void>();
  let state: 'starting' | 'ready' | 'closing' | 'ended' = 'starting';
  let requests = 0;
  const start = Promise.withResolvers<void>();
  // Prevents an unhandled rejection when no caller waits.
  start.promise.catch(() => undefined);

  const idle = setTimeout(() => {
    if (waiting.size > 0) {
      idle.refresh();
      return;
    }
    state = 'closing';
    stdin.end();
  }, IDLE_MS).unref();
  onceEnded(child, () => {
    onEnd(state !== 'closing');
    state = 'ended';
    clearTimeout(idle);
    start.reject(new Error('the process for helpers ended'));
    // Programs that it had started may still run; the caller ends them because `drained` is false.
    for (const resolve of waiting.values()) resolve(ENDED);
    waiting.clear();
  });
  eachLine(stdout, (line) => {
    const message = messageSchema.safeParse(parseJson(line)).data;
    if (message === undefined) {
      child.kill('SIGKILL');
    } else if ('ready' in message) {
      state = 'ready';
      start.resolve();
    } else {
      waiting.get(message.id)?.(message.answer);
      waiting.delete(message.id);
      if (waiting.size === 0) stdout.unref();
    }
  });

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
  return { started: start.promise, run: (request) => (state === 'ready' ? ask(request) : undefined) };
}

/** Calls back once. Waits for `close`, not `exit`, because the last answers come before it. */
function onceEnded(child: ChildProcess, onEnd: () => void): void {
  let ended = false;
  const end = (): void => {
    if (!ended) onEnd();
    ended = true;
  };
  child.once('error', end).once('close', end);
}

/**
 * In its own session, because the engine handles Ctrl-C at the terminal. It runs in `/` with an empty environment. It does not
 * keep the engine alive; only a waiting caller does.
 */
function startProgram(temporary: string): { child: ChildProcess; stdin: Socket; stdout: Socket } {
  const program = fileURLToPath(new URL('./helper-host.mjs', import.meta.url));
  const child = spawn(process.execPath, [...MEMORY_FLAGS, program], {
    cwd: '/',
    env: { TMPDIR: temporary },
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  if (!hasPipes(child)) {
    // An event reports the failed start as well.
    child.once('error', () => undefined);
    throw new Error('no pipes to the process for helpers');
  }
  child.unref();
  const { stdin, stdout } = child;
  for (const pipe of [stdin, stdout]) {
    // A broken pipe is an end, which `close` reports.
    pipe.on('error', () => undefined);
    pipe.unref();
  }
  return { child, stdin, stdout };
}
