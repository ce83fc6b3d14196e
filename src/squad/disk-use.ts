import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from '../engine/machine.ts';
import { diskUseSchema, type DiskUse } from '../model/disk-use.ts';
import { parseJson } from '../text/json.ts';
import { diskUse } from '../substrate/system/files/disk-use.ts';
import { readPlain } from '../substrate/system/files/read-plain.ts';
import { writeWhole } from '../substrate/system/files/run-files.ts';
import { workspacePlaces } from '../substrate/system/files/state-place.ts';
import type { OpenedWorkspace } from './open-workspace.ts';

type Workspace = OpenedWorkspace<Machine>;

const FILE = 'disk-use.json';
const LEDGER = /^(?:squad\.db|checkpoints\.db|lock\.|backups$|ballast$)/;

/** Reads every name that squad has there, which takes seconds where that is much. */
export async function measureDisk({ directory, host, composition, repository }: Workspace): Promise<DiskUse> {
  const seen = new Set<string>();
  const sizes = { folders: 0, output: 0, ledger: 0, others: 0 };
  for (const name of namesIn(directory)) {
    // A person may have put the folder of all folders on another disk.
    const path = name === 'work' ? workspacePlaces(host, directory).runsDirectory : join(directory, name);
    const part =
      name === 'work' ? 'folders' : name === 'turns' ? 'output' : LEDGER.test(name) ? 'ledger' : ('others' as const);
    sizes[part] += diskUse(path, seen);
  }
  const { objectsOfSquad } = await import('../substrate/git/squad-refs.ts');
  const objects = await objectsOfSquad(composition.git, repository).catch(() => null);
  return { measuredAt: composition.clock.now(), ...sizes, objects };
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Measures for the commands that only look. On a full disk they show what was measured before, with its time. */
export async function noteDisk(workspace: Workspace): Promise<DiskUse> {
  const use = await measureDisk(workspace);
  await writeWhole(join(workspace.directory, FILE), JSON.stringify(use)).catch(() => undefined);
  return use;
}

/** As it was measured last; null: it never was. */
export async function lastDiskUse({ directory }: Pick<Workspace, 'directory'>): Promise<DiskUse | null> {
  const text = await readPlain(join(directory, FILE)).catch(() => '');
  return diskUseSchema.safeParse(parseJson(text)).data ?? null;
}
