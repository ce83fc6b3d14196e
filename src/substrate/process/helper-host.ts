import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { eachLine, type ChildAnswer, type ChildRequest } from './run-child.mjs';

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
