import { lstat, readdir, readlink, realpath, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Host, Machine } from '../engine/machine.ts';
import { errorText } from '../model/errors.ts';
import { listUnfinished } from '../view/unfinished.ts';
import { lookIn } from '../squad/open-workspace.ts';
import { isView } from '../substrate/system/files/checkout-view.ts';
import { findState, workspacePlaces } from '../substrate/system/files/state-place.ts';
import { exists } from '../substrate/system/files/exists.ts';
import { deleteFolder } from '../substrate/system/files/remove-tree.ts';
import { treeSize } from '../substrate/system/files/tree-size.ts';
import type { Checkout } from '../substrate/git/repository.ts';
import { deleteRefs, findSquadRefs, type FoundBranch } from '../substrate/git/squad-refs.ts';
import { counted } from '../text/counted.ts';
import { shellWord } from '../text/shell-word.ts';
import { WHY_KEPT } from './clean-run.ts';

/** Something that `squad uninstall` can remove. */
export interface KeptThing {
  readonly what: 'folder' | 'file' | 'link' | 'refs' | 'branch';
  /** Its path; of refs and branches the repository's. */
  readonly path: string;
  readonly name: string | null;
  /** null: unknown, as of refs. */
  readonly bytes: number | null;
  readonly about: string;
}

export interface FoundThing extends KeptThing {
  /** Returns why it is still there; undefined: it is gone. */
  remove(): Promise<string | undefined>;
}

export interface LeftThing {
  readonly name: string;
  readonly why: string;
  /** The command that removes it, or null. */
  readonly next: string | null;
}

/** Removes nothing. `left`: things that squad does not remove, with the reason. */
export async function findInRepository(
  machine: Machine,
  stateDirectory: string,
  checkouts: readonly [Checkout, ...Checkout[]],
): Promise<{ found: FoundThing[]; left: LeftThing[] }> {
  const [{ root: path, commonDirectory }] = checkouts;
  const folders: FoundThing[] = [];
  const runs: string[] = [];
  const left: LeftThing[] = [];
  for (const { root } of checkouts) {
    const view = join(root, '.squad');
    if (isView(view)) folders.push(...(await findPath(view, 'links to files of runs')));
    else if (await exists(view)) left.push({ name: view, why: 'squad did not make everything in it', next: null });
  }
  const state = findState(stateDirectory, commonDirectory);
  if (state.type === 'known') {
    const { directory } = state;
    runs.push(...(await readdir(workspacePlaces({ stateDirectory }, directory).runsDirectory).catch(() => [])));
    // Not through a link: to read a ledger makes files beside it.
    const isFolder = (await lstat(directory)).isDirectory();
    const known = isFolder ? runsIn(machine, directory) : UNREAD;
    runs.push(...known.names);
    folders.push(...(await findPath(directory, known.about)));
  }
  folders.push(...(await findPath(join(commonDirectory, 'squad'), 'the id by which squad knows the repository')));
  const { work, branches } = await findSquadRefs(machine.git, { commonDirectory }, runs);
  const remove = async (refs: typeof work) => deleteRefs(machine.git, { commonDirectory }, refs);
  const refs: FoundThing = {
    ...{ what: 'refs', path, name: 'refs/squad', bytes: null },
    about: `${counted(work.length, 'ref')} with work that runs kept`,
    remove: async () => remove(work),
  };
  const ours = branches.filter(({ stays }) => stays === null);
  const gone = ours.map((branch): FoundThing => {
    const about = 'another branch has its work';
    return { what: 'branch', path, name: nameOf(branch), bytes: null, about, remove: async () => remove([branch]) };
  });
  // The ledger goes last, because it names the runs.
  return {
    found: [...(work.length === 0 ? [] : [refs]), ...gone, ...folders],
    left: [...left, ...branches.flatMap((branch) => leftBranch(branch, path))],
  };
}

function nameOf({ ref }: Pick<FoundBranch, 'ref'>): string {
  return ref.slice('refs/heads/'.length);
}

function leftBranch(branch: FoundBranch, path: string): LeftThing[] {
  if (branch.stays === null) return [];
  const name = nameOf(branch);
  const to = `${name.replace(/^squad\//, '')}-kept`;
  const rename = `git -C ${shellWord(path)} branch -m ${shellWord(name)} ${shellWord(to)}`;
  const more = branch.stays === 'unmerged' ? `. To keep it under another name: ${rename}` : '';
  return [{ name: `branch ${name} in ${path}`, why: `${WHY_KEPT[branch.stays]}${more}`, next: null }];
}

interface KnownRuns {
  readonly names: readonly string[];
  readonly about: string;
}

const UNREAD: KnownRuns = { names: [], about: 'ledger, prompts, output and reports' };

/** A ledger that cannot be read is removed all the same. */
function runsIn(machine: Machine, directory: string): KnownRuns {
  try {
    const known = lookIn({ directory, composition: machine }, (ledger) => {
      const names = ledger.runs().map(({ name }) => name);
      const open = listUnfinished(ledger, null, machine.clock.now()).map(({ name }) => name);
      const unfinished = open.length === 0 ? '' : `; not over: ${open.join(', ')}`;
      return { names, about: `ledger, prompts, output and reports of ${counted(names.length, 'run')}${unfinished}` };
    });
    return known ?? UNREAD;
  } catch {
    return UNREAD;
  }
}

/** The person's settings. Other files there may be another program's. */
export async function findSettings({ configHome }: Pick<Host, 'configHome'>): Promise<FoundThing[]> {
  const folder = join(configHome, 'squad');
  const texts = { 'config.yaml': 'your settings', 'config.yml': 'your settings' };
  const found: FoundThing[] = [];
  for (const [name, about] of Object.entries(texts)) found.push(...(await findPath(join(folder, name), about)));
  return found.map((file) => ({
    ...file,
    remove: async () => {
      const problem = await file.remove();
      // Not while another file is there.
      if ((await readdir(folder).catch(() => ['?'])).length === 0) await rmdir(folder).catch(() => undefined);
      return problem;
    },
  }));
}

/** None if nothing is there. Of a link, the link itself is removed and nothing behind it. */
export async function findPath(path: string, about: string): Promise<FoundThing[]> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return [];
  const isLink = stats.isSymbolicLink();
  const target = isLink ? await readlink(path).catch(() => '') : '';
  return [
    {
      ...{ path, name: null, bytes: await treeSize(path) },
      what: isLink ? 'link' : stats.isDirectory() ? 'folder' : 'file',
      about: isLink ? `only the link: what is at ${target} stays` : about,
      remove: async () => removePath(path),
    },
  ];
}

/** A folder above may be a link: people put their state on another disk. */
async function removePath(path: string): Promise<string | undefined> {
  try {
    const problem = await deleteFolder(join(await realpath(dirname(path)), basename(path)));
    return problem ?? ((await exists(path)) ? 'it is still there' : undefined);
  } catch (error) {
    return (await exists(path)) ? errorText(error) : undefined;
  }
}
