import { dirname } from 'node:path';
import { branchOf, type RunDefinition } from '../../model/run.ts';
import { closeDb, keptFiles } from '../../substrate/ledger/index.ts';
import { openLedgerFile } from '../../substrate/ledger/ledger-file.ts';

/** The refs of a run in the user's repository. */
export interface RunRefs {
  /** Absent: the run delivers no work. Elsewhere it has to be where the ledger's copy has it, not where it is now. */
  readonly branch?: string;
  /** Kept work, the claim of the name, and pins: all refs below. */
  readonly below: string;
}

export function refsOfRun(definition: Pick<RunDefinition, 'name' | 'makesBranch'>): RunRefs {
  const branch = branchOf(definition);
  return {
    ...(branch === undefined ? {} : { branch: `refs/heads/${branch}` }),
    below: `refs/squad/${definition.name}/`,
  };
}

/**
 * The files that another machine needs besides the ledger and the refs: long messages, equipment, copied files, attachments, plan. By
 * paths below the folder of the ledger. `ledger`: the file, or a copy of it in the same folder. `run`: an id; absent: of all runs.
 */
export function filesOfRun(ledger: string, run?: string, from = dirname(ledger)): string[] {
  const db = openLedgerFile(ledger, { readOnly: true });
  try {
    return keptFiles(db, from, { isWhole: true, ...(run === undefined ? {} : { run }) });
  } finally {
    closeDb(db);
  }
}
