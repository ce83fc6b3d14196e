import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { errorText } from '../../model/errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Processes } from '../ports/processes.ts';
import { sweep } from './end-turn.ts';
import { MARKER_VARIABLE } from './process-table.ts';
import { sendSignal } from './turn-family.ts';

const MAX_OUTPUT_BYTES = 1024 * 1024;
/** After the helper has exited: for what it wrote last to arrive. A grandchild may hold the pipes open for ever. */
const DRAIN_MS = 200;

type Run = Processes['run'];

/** Runs a short helper in its own process group. Never rejects. See the port. */
export async function runHelper(
  command: Parameters<Run>[0],
  args: Parameters<Run>[1],
  options: Parameters<Run>[2],
  clock: Clock,
): ReturnType<Run> {
  const marker = `helper-${randomUUID()}`;
  let child: ChildProcess;
  try {
    child = spawn(command, args, {
      env: { ...options.env, [MARKER_VARIABLE]: marker },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
  } catch (error) {
    // Arguments that no process can be given (a NUL byte) are refused before there is a child.
    return { code: null, stdout: '', stderr: '', problem: errorText(error) };
  }
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const ending = await waitForExit(child, options.timeoutMs, clock);
  const drained = await drain(child, [stdout, stderr], clock);
  if (!drained && child.pid !== undefined && process.platform === 'linux') await sweep(marker, clock);
  return { ...ending, stdout: stdout.text(), stderr: stderr.text() };
}

interface Ending {
  readonly code: number | null;
  readonly problem?: string;
}

/** For `exit`, not `close`: the pipes may never close. */
async function waitForExit(child: ChildProcess, timeoutMs: number, clock: Clock): Promise<Ending> {
  const exited = new AbortController();
  const ending = new Promise<Ending>((resolve) => {
    child.once('error', (error) => resolve({ code: null, problem: error.message }));
    child.once('exit', (code, signal) =>
      resolve(code === null ? { code, problem: `ended by ${signal ?? 'an unknown signal'}` } : { code }),
    );
  }).finally(() => exited.abort());
  const timedOut = clock.sleep(timeoutMs, exited.signal).then(async (): Promise<Ending> => {
    if (exited.signal.aborted) return ending;
    // Its exit has not been seen, so the pid is still the helper's and leads its group.
    if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
    await ending;
    return { code: null, problem: `did not end within ${timeoutMs} ms` };
  });
  return Promise.race([timedOut, ending.then(() => timedOut)]);
}

interface Collected {
  readonly ended: Promise<void>;
  text(): string;
}

/** Keeps the first MiB and reads the rest away, so that a chatty helper neither fills memory nor blocks. */
function collect(stream: Readable | null): Collected {
  const chunks: Buffer[] = [];
  let size = 0;
  stream?.on('data', (chunk: Buffer) => {
    const kept = chunk.subarray(0, MAX_OUTPUT_BYTES - size);
    size += kept.length;
    if (kept.length > 0) chunks.push(kept);
  });
  // A pipe that breaks has nothing more to say; what arrived before is kept.
  stream?.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    if (stream === null) resolve();
    stream?.once('close', resolve);
  });
  return { ended, text: () => Buffer.concat(chunks).toString('utf8') };
}

/** False: something still held the pipes, which are closed now. */
async function drain(child: ChildProcess, outputs: readonly Collected[], clock: Clock): Promise<boolean> {
  const closed = new AbortController();
  const all = Promise.all(outputs.map((output) => output.ended)).then(() => closed.abort());
  await Promise.race([all, clock.sleep(DRAIN_MS, closed.signal)]);
  child.stdout?.destroy();
  child.stderr?.destroy();
  return closed.signal.aborted;
}
