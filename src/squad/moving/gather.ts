import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { usageError } from '../../model/errors.ts';
import { placedAt, type RunDefinition } from '../../model/run.ts';
import { filesOf } from '../../substrate/ledger/backup-files.ts';
import { ledgerPath, openLedger } from '../../substrate/ledger/index.ts';
import { refsIn } from '../../substrate/git/run-bundle.ts';
import { hashFile } from '../../substrate/system/files/tar-file.ts';
import { plainLine } from '../../text/plain-text.ts';
import { endOfRun } from '../../view/end-row.ts';
import { findDefinition, findRun } from '../../view/read-run.ts';
import { folderOf } from '../../view/run-folders.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { copyAtPoint, type CopyOptions, type LostTurn } from './copy-ledger.ts';
import type { Manifest, PackPart } from './manifest.ts';
import { refsOfRun } from './run-parts.ts';

/** A run of the copy, with its definition here. */
export interface GatheredRun {
  readonly run: Manifest['runs'][number];
  readonly definition: RunDefinition;
  /** It is over, and its work was delivered. */
  readonly isDelivered: boolean;
}

/** A part, and the file that has it. */
export interface FoundPart {
  readonly part: PackPart;
  readonly file: string;
}

export interface Gathered {
  readonly runs: readonly GatheredRun[];
  /** All that the runs need elsewhere, but for their commits. */
  readonly parts: readonly FoundPart[];
  /** Paid turns whose work was gone already. */
  readonly lost: readonly LostTurn[];
}

/** Copies the ledger at a replication point into a new folder, and finds what its runs need elsewhere. Changes nothing of the runs. */
export async function gatherRuns(
  workspace: OpenedWorkspace,
  folder: string,
  options: CopyOptions = {},
): Promise<Gathered> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lost = await copyAtPoint(workspace, folder, options);
  const all = await readRuns(workspace, folder);
  const runs = options.only === undefined ? all : all.filter(({ run }) => run.id === options.only);
  const parts = [...(await stateParts(folder)), ...(await checkoutParts(workspace, runs))];
  return { runs, parts, lost };
}

async function readRuns({ composition, repository }: OpenedWorkspace, folder: string): Promise<GatheredRun[]> {
  const ledger = openLedger(folder, { clock: composition.clock, readOnly: true });
  try {
    const gathered: GatheredRun[] = [];
    for (const row of ledger.runs()) {
      const stored = findDefinition(ledger, row);
      if (stored === undefined) continue;
      const definition = placedAt(stored, repository.root);
      const unfinished = endOfRun(ledger, { id: row.id }) === undefined;
      const { branch } = refsOfRun(definition);
      const found = branch === undefined ? [] : await refsIn(composition.git, repository, [branch]);
      const reading = found.length === 0 ? undefined : findRun(ledger, row.id, null);
      const head = reading?.board.branch.head;
      const isDelivered = reading?.published?.head !== undefined && reading.published.head === head;
      const at = branch === undefined || head === undefined ? {} : { branch: { ref: branch, at: head } };
      const run = { id: row.id, name: row.name, unfinished, base: definition.repository.base, ...at };
      gathered.push({ run, definition, isDelivered });
    }
    return gathered;
  } finally {
    ledger.close();
  }
}

export async function foundPart(kind: PackPart['kind'], path: string, file: string): Promise<FoundPart> {
  const isExecutable = ((await stat(file)).mode & 0o100) !== 0;
  const hashed = await hashFile(file);
  return { file, part: { kind, path, ...hashed, ...(isExecutable ? { executable: true as const } : {}) } };
}

/** The ledger, and what was copied beside it. */
async function stateParts(folder: string): Promise<FoundPart[]> {
  const ledger = ledgerPath(folder);
  const beside = filesOf(ledger);
  const files = await filesBelow(beside);
  const found = await Promise.all(files.map(async (file) => foundPart('state', relative(beside, file), file)));
  return [await foundPart('ledger', 'squad.db', ledger), ...found];
}

async function filesBelow(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.flatMap((one) => (one.isFile() ? [join(one.parentPath, one.name)] : []));
}

/** The folders that unfinished runs keep up to date. Throws `usage` for one outside of the repository. */
async function checkoutParts({ repository }: OpenedWorkspace, runs: readonly GatheredRun[]): Promise<FoundPart[]> {
  const files = new Set<string>();
  for (const { run, definition } of runs) {
    if (run.unfinished && definition.repositories !== undefined) throw severalHere(run.name);
    const folder = run.unfinished ? folderOf(definition) : undefined;
    if (folder === undefined) continue;
    if (!folder.startsWith(`${repository.root}/`)) throw outsideFolder(run.name, folder);
    for (const file of await filesBelow(folder)) files.add(file);
  }
  return Promise.all([...files].map(async (file) => foundPart('checkout', relative(repository.root, file), file)));
}

function severalHere(run: string) {
  return usageError(
    `${run} works on several repositories of this machine, which are in no pack`,
    `Finish it here, or remove it with \`squad drop ${run} --all\`.`,
  );
}

function outsideFolder(run: string, folder: string) {
  return usageError(
    `${run} keeps ${plainLine(folder, 300)} up to date, which is outside of the repository, so it cannot be packed`,
    `Finish it here, or remove it with \`squad drop ${run}\`.`,
  );
}
