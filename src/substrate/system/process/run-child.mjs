// Runs one short program to its end, for the engine and for helper-host.mjs. Standard modules only.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

const MAX_OUTPUT_BYTES = 1024 * 1024;
/** After the program's exit, its last output has this long to arrive. A grandchild may keep the pipes open. */
const DRAIN_MS = 200;
/** Of the event loop: each reads what is there. A grandchild may print for ever. */
const IDLE_ROUNDS = 2;
const MOST_ROUNDS = 100;

/** In its own process group. Never rejects. See run-child.d.mts. */
export async function runChild({ command, args, cwd, env, timeoutMs, input }) {
  let child;
  let stdin;
  try {
    if (input !== undefined) stdin = openSync(input, 'r');
    child = spawn(command, args, { cwd, env, detached: true, stdio: [stdin ?? 'ignore', 'pipe', 'pipe'] });
  } catch (error) {
    // Node refuses arguments with a NUL byte before there is a child.
    return { code: null, stdout: '', stderr: '', problem: error.message, drained: true };
  } finally {
    if (stdin !== undefined) closeSync(stdin);
  }
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const ending = await waitForExit(child, timeoutMs);
  const drained = await drain(child, [stdout, stderr]);
  return { ...ending, stdout: stdout.text(), stderr: stderr.text(), drained };
}

/** For `exit`, not `close`: the pipes may never close. */
async function waitForExit(child, timeoutMs) {
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    // The program has not exited yet, so the pid is still its own and leads its group.
    killGroup(child.pid);
  }, timeoutMs);
  const ending = await new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, problem: error.message }));
    child.once('exit', (code, signal) =>
      resolve(code === null ? { code, problem: `ended by ${signal ?? 'an unknown signal'}` } : { code }),
    );
  });
  clearTimeout(timer);
  return timedOut ? { code: null, problem: `did not end within ${timeoutMs} ms` } : ending;
}

function killGroup(pid) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/** Keeps the first MiB and discards the rest, so that a program neither fills memory nor blocks. */
function collect(stream) {
  // Without a free descriptor there are no pipes, and no program was started.
  if (stream === undefined) return { ended: Promise.resolve(), size: () => 0, text: () => '' };
  const chunks = [];
  let size = 0;
  stream.on('data', (chunk) => {
    const kept = chunk.subarray(0, MAX_OUTPUT_BYTES - size);
    size += kept.length;
    if (kept.length > 0) chunks.push(kept);
  });
  // Output that arrived before a broken pipe is kept.
  stream.on('error', () => undefined);
  const ended = new Promise((resolve) => {
    stream.once('close', resolve);
  });
  return { ended, size: () => size, text: () => Buffer.concat(chunks).toString('utf8') };
}

/** False: another process still held the pipes open. They are closed now. */
async function drain(child, outputs) {
  let drained = false;
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, DRAIN_MS);
    void Promise.all(outputs.map((output) => output.ended)).then(() => {
      drained = true;
      clearTimeout(timer);
      resolve();
    });
  });
  // Where the loop stood still meanwhile, what was printed in time is still in the pipes.
  for (let idle = 0, size = -1, round = 0; idle < IDLE_ROUNDS && round < MOST_ROUNDS; round += 1) {
    if (drained) break;
    await new Promise((resolve) => setImmediate(resolve));
    const now = outputs.reduce((sum, output) => sum + output.size(), 0);
    idle = now === size ? idle + 1 : 0;
    size = now;
  }
  child.stdout?.destroy();
  child.stderr?.destroy();
  return drained;
}

/** Calls back with each whole line. Drops half a line, whose writer died. */
export function eachLine(stream, onLine) {
  let parts = [];
  stream.setEncoding('utf8');
  stream.on('data', (text) => {
    const [first, ...rest] = text.split('\n');
    parts.push(first);
    for (const next of rest) {
      const line = parts.join('');
      parts = [next];
      onLine(line);
    }
  });
}
