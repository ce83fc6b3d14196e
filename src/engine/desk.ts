import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Composition, Host } from '../compose.ts';
import { LinearSaver } from '../graph/linear-saver.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import {
  closeDb,
  holderHere,
  lockWorkspace,
  openDb,
  openLedger,
  prepareWorkspace,
  type Db,
} from '../substrate/ledger/index.ts';
import { CheckpointStore } from './checkpoint-store.ts';

/** "SQCP": so that no other file is taken for it. */
const CHECKPOINTS_ID = 0x53514350;

/** The open stores of one workspace, under its lock. */
export interface Desk {
  /** `<repository>/.squad`. */
  readonly directory: string;
  readonly ledger: Ledger;
  readonly checkpointer: LinearSaver;
  close(): void;
}

/** Throws `workspace-busy` when another engine drives this workspace. */
export function openDesk(ports: Pick<Composition, 'clock'> & { readonly host: Host }, directory: string): Desk {
  prepareWorkspace(directory);
  const lock = lockWorkspace(directory, holderHere(ports.host.pid, ports.clock.now()));
  let ledger: Ledger | undefined;
  let checkpoints: Db | undefined;
  const close = (): void => {
    if (checkpoints !== undefined) closeDb(checkpoints);
    ledger?.close();
    lock.release();
  };
  try {
    ledger = openLedger(directory, { clock: ports.clock, lock });
    // The ledger alone decides where a run stands: a resume writes that on top of whatever checkpoint is there, so one that
    // a power cut took is missed by nobody. To flush each costs more than the superstep itself.
    checkpoints = openDb(join(directory, 'checkpoints.db'), { applicationId: CHECKPOINTS_ID, durable: 'normal' });
    return { directory, ledger, checkpointer: new LinearSaver(new CheckpointStore(checkpoints)), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** `.squad/runs/<run id>/`: what people read. */
export function runFolder(directory: string, runId: string): string {
  return join(directory, 'runs', runId);
}

export function writeRunFile(directory: string, runId: string, name: string, text: string): string {
  const folder = runFolder(directory, runId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}
