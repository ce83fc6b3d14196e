import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { leaveTheMachine } from './machine.ts';

/** Variable with the folder of what tests copy; absent: each test makes its own. */
export const TEMPLATES = 'SQUAD_TEST_TEMPLATES';
/** Variable with the folder for temporary files on a disk; absent: all of them are there. */
export const DISK = 'SQUAD_TEST_DISK';

/** A folder in memory, as Linux has it. */
const MEMORY = '/dev/shm';
/** Several times what all tests together keep at a time: agents that flood an engine write gigabytes. */
const ENOUGH_BYTES = 8 * 1024 ** 3;

/** Set-up of vitest, once for all projects and workers. Returns what removes the folder at the end. */
export default function setup(): () => void {
  // Ledgers and repositories are written through to the disk, and tests would wait for it half of their time.
  forgetBadTmpdir();
  const folder = (process.env['TMPDIR'] === undefined && inMemory()) || mkdtempSync(join(tmpdir(), 'squad-test-'));
  if (folder.startsWith(MEMORY)) Object.assign(process.env, { [DISK]: tmpdir(), TMPDIR: folder });
  chmodSync(folder, 0o755);
  leaveTheMachine(folder);
  const templates = join(folder, 'templates');
  mkdirSync(templates);
  process.env[TEMPLATES] = templates;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** One that is relative or gone is the person's trouble, not that of tests. */
function forgetBadTmpdir(): void {
  const { TMPDIR: folder } = process.env;
  if (folder !== undefined && !(isAbsolute(folder) && existsSync(folder))) delete process.env['TMPDIR'];
}

/** undefined: there is none here, it is too small, or no program can be started from it. */
function inMemory(): string | undefined {
  let folder: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (Math.min(bavail * bsize, freemem()) < ENOUGH_BYTES) return undefined;
    sweep();
    // Of one length everywhere, because what squad prints is broken into lines.
    folder = mkdtempSync(join(MEMORY, `squad-test-${String(process.pid).padStart(7, '0')}-`));
    // Some tests become another user.
    chmodSync(folder, 0o755);
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    execFileSync(program);
    return folder;
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

/** Frees the memory of test runs that were killed. A disk that one of them left mounted stays, and costs nobody the memory. */
export function sweep(memory = MEMORY): void {
  for (const name of readdirSync(memory)) {
    const pid = /^squad-test-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isThere(Number(pid))) continue;
    try {
      rmSync(join(memory, name), { recursive: true, force: true });
    } catch {
      // Busy.
    }
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
