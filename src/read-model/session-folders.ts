import { COORDINATE } from '../model/playbook-name.ts';
import { placedAt, type RunDefinition } from '../model/run.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { asObject } from '../text/json.ts';
import { findDefinition } from './read-run.ts';

/** The folder of the session that a run plays or makes. Absolute, without links. */
export function folderOf(definition: RunDefinition | undefined): string | undefined {
  const { playbook, folder, options } = definition ?? {};
  const made = playbook === COORDINATE ? asObject(options)['folder'] : undefined;
  return typeof made === 'string' ? made : folder;
}

/** The folders of all sessions of this ledger, whose repository is at `root` now. */
export function sessionFolders(ledger: Ledger, root: string): string[] {
  const folders = ledger.runs().flatMap((row) => {
    const definition = findDefinition(ledger, row);
    return (definition && folderOf(placedAt(definition, root))) ?? [];
  });
  return [...new Set(folders)];
}
