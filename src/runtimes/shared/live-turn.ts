import { errorText, isSquadError, type SquadError } from '../../model/errors.ts';
import type { Failure } from '../../model/failure.ts';
import { diskError, isStorageError, storageError } from '../../model/storage-error.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import type { Turn } from '../port/agent-runtime.ts';
import type { TurnWatch, WatchPorts } from './turn-watch.ts';
import { resultWithoutProcess } from './turn-verdict.ts';

export interface TurnControl {
  watching(watch: TurnWatch<unknown>): void;
  /** From here on an agent may run, known by this marker. */
  letGo(marker: string): void;
  cancelled(): Failure | undefined;
}

/** The caller's handle, which exists before the process does. `work` resolves to undefined when it was detached. */
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
    // What cannot be ended like this is swept when the turn fails of the same trouble.
    await watch.endBy({ why: 'failure', outcome: 'cancelled', failure: cancelled }).catch(() => undefined);
  };
  const control: TurnControl = {
    watching: (started) => {
      watch = started;
      if (detached) watch.detach();
      else void end();
    },
    letGo: (own) => {
      marker = own;
    },
    cancelled: () => cancelled,
  };
  const finished = work(control).catch(async (error: unknown) => {
    if (detached) return undefined;
    const machine = diskTrouble(error, directory);
    // Whatever runs is left to run: it is paid for, and an engine that has a disk again takes it up.
    if (machine !== undefined) throw machine;
    const failure = unexpected(error, marker !== undefined);
    // Whatever broke here: a turn settles only when nothing of it is alive.
    if (marker !== undefined) await ports.processes.sweep(marker).catch(() => undefined);
    return resultWithoutProcess('failed', failure);
  });
  const result = new Promise<TurnResult>((resolve, reject) => {
    finished.then((value) => value !== undefined && resolve(value), reject);
  });
  // Whoever waits for it is told; nobody may.
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

/** A disk that takes nothing more, or refuses the turn's own folder; undefined: something else. */
function diskTrouble(error: unknown, directory: string): SquadError | undefined {
  const own = error instanceof Error && 'path' in error && String(error.path).startsWith(`${directory}/`);
  // What is missing or forbidden elsewhere is a program or a setting.
  const found = own ? storageError(String(error.path), error) : diskError(directory, error);
  return isStorageError(found) ? found : undefined;
}

function unexpected(error: unknown, mayHaveActed: boolean): Failure {
  if (isSquadError(error)) {
    return { kind: error.code === 'bad-input' ? 'bad-request' : 'cli-missing', message: error.message, mayHaveActed };
  }
  return { kind: 'protocol', message: `squad failed to drive the runtime: ${errorText(error)}`, mayHaveActed };
}
