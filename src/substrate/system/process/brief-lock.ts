import { createHash } from 'node:crypto';
import { readlink, rm, symlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SquadError } from '../../../model/errors.ts';
import { errorCode } from '../../../model/storage-error.ts';
import { parseJson } from '../../../text/json.ts';
import { isOwnerAlive, ownerSchema, ownOwner } from './owner.ts';

const LOOK_MS = 20;
/** Looks between two at the holder: outside of Linux each costs a process. */
const HOLDER_LOOKS = 10;
/** A holder that works so long is stopped, or waits for a disk. */
const PATIENCE_MS = 60_000;

/**
 * While other processes wait. The lock is a link to the name of its holder, in a folder that is there: that of a killed process is taken
 * over, and that of a live one never.
 */
export async function briefly<T>(path: string, work: () => T | Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  const since = performance.now();
  for (let looks = 1; !(await take(path)); looks += 1) {
    if (looks % HOLDER_LOOKS === 0) await bury(path, patienceMs);
    if (performance.now() - since > patienceMs) throw await busy(path);
    await sleep(LOOK_MS);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** Made with its holder's name in one step: no kill leaves a lock without one. */
async function take(path: string): Promise<boolean> {
  try {
    await symlink(JSON.stringify(ownOwner()), path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the lock of a holder that is gone, and only that: it is done under a lock with this holder's name, so that none who saw it as well
 * removes the next one's.
 */
async function bury(path: string, patienceMs: number): Promise<void> {
  const holder = await holderOf(path);
  if (holder === undefined || isAlive(holder)) return;
  const name = createHash('sha256').update(holder).digest('hex').slice(0, 12);
  await briefly(
    `${path}.${name}`,
    async () => ((await holderOf(path)) === holder ? rm(path, { force: true }) : undefined),
    patienceMs,
  );
}

/** undefined: none has it by now. Empty: what is there names none. */
async function holderOf(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? undefined : '';
  }
}

function isAlive(holder: string): boolean {
  const owner = ownerSchema.safeParse(parseJson(holder)).data;
  return owner !== undefined && isOwnerAlive(owner);
}

async function busy(path: string): Promise<SquadError> {
  const owner = ownerSchema.safeParse(parseJson((await holderOf(path)) ?? '')).data;
  return new SquadError({
    code: 'workspace-busy',
    message: `${path}: another squad${owner === undefined ? '' : ` (process ${owner.pid})`} has had this lock for a long time`,
    next: 'Look whether that process is stopped: continue it, or end it.',
  });
}
