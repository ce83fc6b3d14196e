import { join } from 'node:path';
import type { Composition, Host } from './compose.ts';
import { LinearSaver } from '../graph/linear-saver.ts';
import type { TurnLine } from '../graph/turn-line.ts';
import { SquadError } from '../model/errors.ts';
import { makeOwnFolder } from '../substrate/system/files/own-folder.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { holderHere, lockWorkspace, openLedger, prepareWorkspace } from '../substrate/ledger/index.ts';
import { openCheckpoints, type Checkpoints } from './checkpoints.ts';

/** The open stores of one workspace, under its lock. */
export interface RunResources {
  /** The folder with the ledger. */
  readonly directory: string;
  readonly ledger: Ledger;
  readonly checkpointer: LinearSaver;
  /** Warnings about damage that was repaired as the stores were opened. */
  readonly notices: readonly string[];
  /** Common to all runs that this process drives here. */
  readonly turnLine: TurnLine;
  /** Throws `workspace-busy` if this process already drives the run. `close` releases it. */
  claim(runId: string): void;
  /** Closes the stores after their last user in this process. Safe to repeat. */
  close(): void;
}

type ResourcePorts = Pick<Composition, 'clock' | 'redactor'> & { readonly host: Host };

interface SharedResources {
  readonly stores: Pick<RunResources, 'directory' | 'ledger' | 'checkpointer' | 'notices' | 'turnLine'>;
  /** Runs that are driven here. */
  readonly driven: Set<string>;
  users: number;
  close(): void;
}

/** Created in the workspace before the ledger is opened. */
const FOLDERS = ['turns', 'runs', 'work', 'backups'];

/** By directory: a process may drive several runs of one workspace under one lock. */
const shared = new Map<string, SharedResources>();

/** Throws `workspace-busy` when another process drives this workspace. */
export function openRunResources(ports: ResourcePorts, directory: string): RunResources {
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
      for (const runId of mine) {
        known.driven.delete(runId);
        known.stores.turnLine.delete(runId);
      }
      known.users -= 1;
      if (known.users > 0) return;
      shared.delete(directory);
      known.close();
    },
  };
}

function makeResources(ports: ResourcePorts, directory: string): SharedResources {
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
    for (const name of FOLDERS) makeOwnFolder(join(directory, name));
    ledger = openLedger(directory, { clock: ports.clock, lock, redactor: ports.redactor.bind(ports) });
    checkpoints = openCheckpoints(directory);
    const checkpointer = new LinearSaver(checkpoints.store);
    const notices = checkpoints.notice === undefined ? [] : [checkpoints.notice];
    const stores = { directory, ledger, checkpointer, notices, turnLine: new Set<string>() };
    return { stores, driven: new Set(), users: 0, close };
  } catch (error) {
    close();
    throw error;
  }
}

function drivenHere(directory: string, runId: string): SquadError {
  return new SquadError({
    code: 'workspace-busy',
    message: `${directory}: this process already drives run ${runId}`,
    next: 'Wait until that run ends.',
  });
}
