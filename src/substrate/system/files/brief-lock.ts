import { open, rm, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../../../model/storage-error.ts';

const LOOK_MS = 20;
/** A write takes a few milliseconds: an older lock is that of a killed process. */
const STALE_MS = 3_000;

/** While other processes wait. The lock is a file of its own, in a folder that is there. */
export async function briefly<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  while (!(await take(path))) {
    const since = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    );
    // It may be another one's by now: one that is gone is not removed.
    if (since === undefined) continue;
    // A clock that was set back must not keep the lock for ever.
    if (Math.abs(Date.now() - since) > STALE_MS) await rm(path, { force: true });
    else await sleep(LOOK_MS);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}
