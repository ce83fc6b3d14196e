import { errorText, isSquadError, type SquadError } from '../../model/errors.ts';
import type { Failure } from '../../model/failure.ts';
import { diskError, isStorageError, storageError } from '../../model/storage-error.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import type { Turn } from '../port/agent-runtime.ts';
import { resultWithoutProcess } from './turn-verdict.ts';
import type { TurnWatch, WatchPorts } from './turn-watch.ts';

export interface TurnControl {
  watching(watch: TurnWatch<unknown>): void;
  /** From now on an agent may run. The marker identifies its processes. */
  release(marker: string): void;
  cancelled(): Failure | undefined;
}

/** The caller's handle, which exists before the process does. `work` resolves with undefined if it was detached. */
export function liveTurn(
  ports: WatchPorts,
  directory: string,
  work: (control: TurnControl) => Promise<TurnResult | undefined>,
): Turn {
  let watch: TurnWatch<unknown> | undefined;
  let cancelled: Failure | undefined;
  let detached = false;
  let marker: string | undefined;
  const bornAt = ports.clock.now();
  const end = async (): Promise<void> => {
    if (watch === undefined || cancelled === undefined) return;
    // If this fails, so does the turn, and its failure sweeps what is left.
    await watch.endBy({ why: 'failure', outcome: 'cancelled', failure: cancelled }).catch(() => undefined);
  };
  const control: TurnControl = {
    watching: (started) => {
      watch = started;
      if (detached) watch.detach();
      else void end();
    },
    release: (own) => {
      marker = own;
    },
    cancelled: () => cancelled,
  };
  const finished = work(control).catch(async (error: unknown) => {
    if (detached) return undefined;
    const disk = diskTrouble(error, directory);
    // The process keeps running: its work is paid for, and an engine whose disk works again attaches to it.
    if (disk !== undefined) throw disk;
    // A turn settles only when none of its processes is alive.
    if (marker !== undefined) await ports.processes.sweep(marker).catch(() => undefined);
    return resultWithoutProcess('failed', unexpected(error, marker !== undefined));
  });
  const result = new Promise<TurnResult>((resolve, reject) => {
    finished.then((value) => value !== undefined && resolve(value), reject);
  });
  // Prevents an unhandled rejection when no caller waits.
  result.catch(() => undefined);
  return {
    result,
    cancel: async (reason) => {
      cancelled ??= { kind: 'cancelled', message: reason, mayHaveActed: true };
      await end();
      return result;
    },
    detach: async () => {
      detached = true;
      watch?.detach();
      await finished.catch(() => undefined);
    },
    activity: () => watch?.activity() ?? { lastSignOfLifeAt: bornAt, openTools: 0 },
  };
}

/** The error if the disk is full or refuses the turn's own folder; undefined: the error has another cause. */
function diskTrouble(error: unknown, directory: string): SquadError | undefined {
  const own = error instanceof Error && 'path' in error && String(error.path).startsWith(`${directory}/`);
  // A missing or forbidden file elsewhere is a problem of a program or a setting.
  const found = own ? storageError(String(error.path), error) : diskError(directory, error);
  return isStorageError(found) ? found : undefined;
}

function unexpected(error: unknown, mayHaveActed: boolean): Failure {
  if (isSquadError(error)) {
    return { kind: error.code === 'bad-input' ? 'bad-request' : 'cli-missing', message: error.message, mayHaveActed };
  }
  return { kind: 'protocol', message: `squad failed to drive the runtime: ${errorText(error)}`, mayHaveActed };
}
