import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isSquadError, SquadError } from '../../model/errors.ts';
import { lockWorkspace, readLockHolder, type LockHolder, type WorkspaceLock } from '../../substrate/ledger/index.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
import { localTime } from '../../text/time.ts';

/** Below the state of a repository: the service's lock, and what it prints in the background. */
export function serviceFolder(directory: string): string {
  return join(directory, 'service');
}

/** Takes the lock of the service, which is not that of the engine. Throws `workspace-busy` if another service has it. */
export function lockService(directory: string, holder: LockHolder): WorkspaceLock {
  const folder = serviceFolder(directory);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    return lockWorkspace(folder, holder);
  } catch (error) {
    throw isSquadError(error) && error.code === 'workspace-busy' ? serviceBusy(directory, holder.since, error) : error;
  }
}

/** Throws `workspace-busy` if a service runs. */
export function refuseSecondService(directory: string, now: number): void {
  if (findService(directory) !== null) throw serviceBusy(directory, now);
}

/** The service that runs here. `holder`: its name, which proves nothing; null: none runs. */
export function findService(directory: string): { readonly holder: LockHolder | undefined } | null {
  const folder = serviceFolder(directory);
  if (!existsSync(folder) || probeLock(folder) === null) return null;
  return { holder: readLockHolder(folder) };
}

function serviceBusy(directory: string, now: number, cause?: unknown): SquadError {
  const holder = readLockHolder(serviceFolder(directory));
  const who =
    holder === undefined ? '' : ` (PID ${holder.pid} on ${holder.host}, since ${localTime(holder.since, now)})`;
  return new SquadError({
    code: 'workspace-busy',
    message: `squad serve runs here already${who}`,
    next: 'See it with `squad serve status`, or end it with `squad serve stop`.',
    cause,
  });
}
