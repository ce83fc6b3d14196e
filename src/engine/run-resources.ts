import type { Composition, Host } from '../compose.ts';
import { LinearSaver } from '../graph/linear-saver.ts';
import { SquadError } from '../model/errors.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { holderHere, lockWorkspace, openLedger, prepareWorkspace } from '../substrate/ledger/index.ts';
import { openCheckpoints, type Checkpoints } from './checkpoints.ts';

/** The open stores of one workspace, under its lock. */
export interface RunResources {
  /** `<repository>/.squad`. */
  readonly directory: string;
  readonly ledger: Ledger;
  readonly checkpointer: LinearSaver;
  /** What was found wrong as the stores were opened, and mended. */
  readonly notices: readonly string[];
  /** Throws `workspace-busy` when this process drives that run already. Given back by `close`. */
  claim(runId: string): void;
  /** The stores are closed with the last of those who opened them here. Safe to repeat. */
  close(): void;
}

interface SharedResources {
  readonly stores: Pick<RunResources, 'directory' | 'ledger' | 'checkpointer' | 'notices'>;
  /** Runs that are driven here. */
  readonly driven: Set<string>;
  users: number;
  close(): void;
}

/** By directory: a process may host several runs of a workspace, and its lock is one. */
const shared = new Map<string, SharedResources>();

/** Throws `workspace-busy` when another process drives this workspace. */
export function openRunResources(
  ports: Pick<Composition, 'clock' | 'redactor'> & { readonly host: Host },
  directory: string,
): RunResources {
  const known = shared.get(directory) ?? makeResources(ports, directory);
  shared.set(directory, known);
  known.users += 1;
  const mine: string[] = [];
  let open = true;
  return {
    ...known.stores,
    claim: (runId) => {
      if (known.driven.has(runId)) throw drivenHere(directory, runId);
      known.driven.add(runId);
      mine.push(runId);
    },
    close: () => {
      if (!open) return;
      open = false;
      for (const runId of mine) known.driven.delete(runId);
      known.users -= 1;
      if (known.users > 0) return;
      shared.delete(directory);
      known.close();
    },
  };
}

function makeResources(
  ports: Pick<Composition, 'clock' | 'redactor'> & { readonly host: Host },
  directory: string,
): SharedResources {
  prepareWorkspace(directory);
  const lock = lockWorkspace(directory, holderHere(ports.host.pid, ports.clock.now()));
  let ledger: Ledger | undefined;
  let checkpoints: Checkpoints | undefined;
  const close = (): void => {
    checkpoints?.close();
    ledger?.close();
    lock.release();
  };
  try {
    ledger = openLedger(directory, { clock: ports.clock, lock, redactor: ports.redactor.bind(ports) });
    checkpoints = openCheckpoints(directory);
    const checkpointer = new LinearSaver(checkpoints.store);
    const notices = checkpoints.notice === undefined ? [] : [checkpoints.notice];
    return { stores: { directory, ledger, checkpointer, notices }, driven: new Set(), users: 0, close };
  } catch (error) {
    close();
    throw error;
  }
}

function drivenHere(directory: string, runId: string): SquadError {
  return new SquadError({
    code: 'workspace-busy',
    message: `${directory}: this process drives run ${runId} already`,
    next: 'Wait for its end.',
  });
}
