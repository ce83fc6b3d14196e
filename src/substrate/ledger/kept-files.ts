import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../model/storage-error.ts';
import { bodyFiles } from './mail/bodies.ts';
import type { Db } from './open-db.ts';
import { createStore } from './store.ts';

/** The equipment of the agents, the hashes of files in a session's folder, and the plan that a person is editing. */
const OF_A_RUN = ['armory', 'folder.jsonl', 'plan.yaml'];

export interface WhichFiles {
  /** Id of the only run. Absent: all. */
  readonly run?: string;
  /** Ignored files of the checkout, which folders get, and files that came with requests, too: both may be private. */
  readonly isWhole: boolean;
}

/**
 * The files that a resume reads and that neither the ledger nor the repository can make again, by paths below the folder of the
 * ledger, which is `from`. A file that is gone already is left out.
 */
export function keptFiles(db: Db, from: string, { run, isWhole }: WhichFiles): string[] {
  const store = createStore(db, { now: () => 0 });
  const runs = run === undefined ? store.all<{ id: string }>('SELECT id FROM run').map(({ id }) => id) : [run];
  const folders = runs.flatMap((id) => [
    ...OF_A_RUN.map((name) => join('runs', id, name)),
    ...(isWhole ? [join('copies', id)] : []),
  ]);
  const below = [...folders, ...(isWhole ? ['attachments'] : [])].flatMap((path) => filesBelow(from, path));
  return [...bodyFiles(store, run).filter((path) => existsSync(join(from, path))), ...below];
}

function filesBelow(root: string, path: string): string[] {
  try {
    const found = readdirSync(join(root, path), { recursive: true, withFileTypes: true });
    return found.flatMap((one) => (one.isFile() ? [join(one.parentPath, one.name).slice(root.length + 1)] : []));
  } catch (error) {
    return errorCode(error) === 'ENOTDIR' ? [path] : [];
  }
}
