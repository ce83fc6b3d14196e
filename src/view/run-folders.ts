import { placedAt, type RunDefinition } from '../model/run.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { asObject } from '../text/json.ts';
import { findDefinition } from './read-run.ts';

/** The folder that a run plays or makes. Absolute, without links. */
export function folderOf({ folder, makesBranch, options }: RunDefinition): string | undefined {
  const made = makesBranch === false ? asObject(options)['folder'] : undefined;
  return typeof made === 'string' ? made : folder;
}

/** The folders of all runs of this ledger, whose repository is at `root` now. */
export function runFolders(ledger: Ledger, root: string): string[] {
  const folders = ledger.runs().flatMap((row) => {
    const definition = findDefinition(ledger, row);
    return (definition && folderOf(placedAt(definition, root))) ?? [];
  });
  return [...new Set(folders)];
}
