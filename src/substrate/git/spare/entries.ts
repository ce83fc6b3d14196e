import { randomUUID } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../../model/storage-error.ts';
import { isOwnerAlive, ownOwner } from '../../system/process/owner.ts';

/** A folder in a pool that processes share. Its name says its state, or who is busy with it: a process takes and offers it by a rename. */
export interface Entry<State extends string> {
  readonly path: string;
  /** `work`: a process is busy with it, or was killed there. */
  readonly state: State | 'work';
  /** No process that lives is busy with it. */
  readonly isFree: boolean;
}

/** In no order. Empty: there is no pool. */
export function listEntries<const State extends string>(
  pool: string,
  states: readonly State[],
): readonly Entry<State>[] {
  return namesIn(pool).flatMap((name): Entry<State>[] => {
    const [, named = '', ...owner] = name.split('.');
    const path = join(pool, name);
    const state = states.find((one) => one === named);
    if (state !== undefined) return [{ path, state, isFree: true }];
    return named === 'work' ? [{ path, state: 'work', isFree: !isBusy(owner) }] : [];
  });
}

/** Takes an entry, so that no other process does. undefined: another one was faster. */
export function claimEntry(pool: string, path: string): string | undefined {
  const own = ownEntry(pool);
  try {
    renameSync(path, own);
    return own;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Offers an entry of this process to everybody. */
export function offerEntry(pool: string, own: string, state: string): void {
  renameSync(own, join(pool, `${randomUUID()}.${state}`));
}

/** The place of a new entry of this process. */
export function ownEntry(pool: string): string {
  const { pid, startTime, bootId, space, since } = ownOwner();
  return join(pool, `${randomUUID()}.work.${pid}.${startTime}.${bootId}.${space}.${since}`);
}

function isBusy([pid, startTime = '', bootId = '', space = '', since]: readonly string[]): boolean {
  const number = Number(pid);
  return Number.isInteger(number) && isOwnerAlive({ pid: number, startTime, bootId, space, since: Number(since) });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
