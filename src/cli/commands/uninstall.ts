import { lstatSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openMachine, type Host, type Machine } from '../../engine/machine.ts';
import { isSquadError, SquadError } from '../../model/errors.ts';
import { findState } from '../../substrate/system/files/state-place.ts';
import { checkoutsOf, findKnownCheckouts } from '../../substrate/git/known-checkouts.ts';
import { openCheckout, type Checkout } from '../../substrate/git/repository.ts';
import { holderHere, lockWorkspace, type WorkspaceLock } from '../../substrate/ledger/index.ts';
import { refuseBusy } from '../../substrate/ledger/workspace-lock.ts';
import { findUsers } from '../../substrate/system/process/folder-users.ts';
import { byteCount } from '../../text/byte-count.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { agreesToRemove } from '../consent.ts';
import { refuseCutMerge } from '../cut-merges.ts';
import {
  findInRepository,
  findPath,
  findSettings,
  type FoundThing,
  type KeptThing,
  type LeftThing,
} from '../kept-things.ts';
import { printResult } from '../output.ts';
import { renderTable } from '../render/table.ts';

interface Inventory {
  readonly checkouts: readonly Checkout[];
  /** In the order in which they are removed. */
  readonly found: readonly FoundThing[];
  readonly left: readonly LeftThing[];
}

const STAYS: readonly LeftThing[] = [
  { name: 'your branches, with what was merged, and squad.yaml', why: 'they are yours', next: null },
  {
    name: 'other repositories in which squad ran',
    why: 'squad does not know them; call it there',
    next: 'squad uninstall',
  },
  { name: 'the line of `squad completion` in a file of your shell', why: 'you wrote it there', next: null },
  { name: 'the program', why: 'npm installed it', next: 'npm uninstall --global agentsquad' },
];

/** Removes what squad keeps on this machine, and nothing else. Refused while a process works there. */
export async function uninstall({ host, output, exit }: CommandContext, options: Options<'uninstall'>): Promise<void> {
  const machine = openMachine(host);
  const state = host.stateDirectory;
  const { checkouts, found, left } = await takeInventory(machine, host, state);
  const ledgers = new Set(checkouts.map(({ commonDirectory }) => findState(state, commonDirectory).directory));
  const places = [...ledgers].filter(isFolder);
  await refuseUsers([...places, ...[state].filter(isFolder)]);
  const { dryRun = false } = options;
  if (dryRun || found.length === 0) {
    const things = { removed: found.map(publicPart), kept: [], left };
    return printResult(output, options, { type: 'uninstall', dryRun, ...things }, [
      ...(found.length === 0 ? ['squad keeps nothing here'] : tableOf(found, 'would remove')),
      ...left.map(leftLine),
    ]);
  }
  for (const { commonDirectory } of checkouts) await refuseCutMerge(commonDirectory);
  const consent = {
    about: 'removing what squad keeps',
    next: 'squad uninstall --yes',
    question: 'Remove all of this? What only these folders and refs have is lost.',
    show: () => [...tableOf(found, 'remove'), ...left.map(leftLine)].forEach((line) => output.line(line)),
  };
  if (!(await agreesToRemove(options, consent))) return output.problem('squad: nothing was removed');
  const { removed, kept } = await withLocks(places, { host, machine }, async () => {
    await refuseUsers([...places, ...[state].filter(isFolder)]);
    return removeAll(found);
  });
  if (kept.length > 0) exit(1);
  printResult(output, options, { type: 'uninstall', dryRun, removed: removed.map(publicPart), kept, left }, [
    ...tableOf(removed, 'removed'),
    ...kept.map(({ path, name, why }) => `kept  ${plainLine(name ?? path)}: ${plainLine(why, 1000)}`),
    ...left.map(leftLine),
  ]);
}

async function takeInventory(machine: Machine, host: Host, state: string): Promise<Inventory> {
  const { checkouts: known, lost } = await findKnownCheckouts(machine.git, state);
  const here = await checkoutHere(machine, host);
  const also = here === undefined ? [] : [here, ...(await checkoutsOf(machine.git, here.commonDirectory))];
  const checkouts = [...new Map([...known, ...also].map((checkout) => [checkout.root, checkout])).values()];
  const found: FoundThing[] = [];
  const left: LeftThing[] = [];
  for (const [first, ...more] of Map.groupBy(checkouts, ({ commonDirectory }) => commonDirectory).values()) {
    if (first === undefined) continue;
    const inside = await findInRepository(machine, state, [first, ...more]);
    found.push(...inside.found);
    left.push(...inside.left);
  }
  found.push(...(await findSettings(host)));
  // Last: it names the repositories, so that a second try finds them too.
  found.push(...(await findPath(state, 'folders of runs, homes of agents, compiled code')));
  // A repository that was moved here is found, although nothing was run in it since.
  const places = checkouts.map(({ commonDirectory }) => findState(state, commonDirectory).directory);
  const unfound = lost.filter(({ directory }) => !places.includes(directory));
  const unknown = unfound.map(({ from }): LeftThing => {
    return {
      name: `what runs left in the repository that was at ${dirname(from)}`,
      why: 'it is not there; call squad where it is now',
      next: 'squad uninstall',
    };
  });
  return { checkouts, found, left: [...left, ...unknown, ...STAYS] };
}

/** undefined: this is no repository, and squad keeps things elsewhere too. */
async function checkoutHere({ git }: Machine, { workingDirectory }: Host): Promise<Checkout | undefined> {
  try {
    return await openCheckout(git, workingDirectory);
  } catch (error) {
    if (isSquadError(error) && error.code === 'not-a-repository') return undefined;
    throw error;
  }
}

/** A link is removed as such, so what works behind it is not touched. */
function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Throws `workspace-busy` if an engine drives a run, or another process has a file open there. */
async function refuseUsers(places: readonly string[]): Promise<void> {
  for (const place of places) {
    refuseBusy(place);
    const users = findUsers(await realpath(place));
    if (users.length === 0) continue;
    throw new SquadError({
      code: 'workspace-busy',
      message: `processes work in ${place}: ${users.join(', ')}`,
      next: `See them with \`ps -p ${users.join(',')}\`, end them, and try again.`,
    });
  }
}

/** No engine can start meanwhile. */
async function withLocks<T>(
  folders: readonly string[],
  { host, machine }: { readonly host: Host; readonly machine: Machine },
  work: () => Promise<T>,
): Promise<T> {
  const locks: WorkspaceLock[] = [];
  try {
    for (const folder of folders) locks.push(lockWorkspace(folder, holderHere(host.pid, machine.clock.now())));
    return await work();
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** Stops at the first that cannot be removed: what comes later tells where it is. */
async function removeAll(found: readonly FoundThing[]) {
  const removed: FoundThing[] = [];
  for (const [index, thing] of found.entries()) {
    const problem = await thing.remove();
    if (problem === undefined) removed.push(thing);
    else {
      const rest = found.slice(index + 1).map((later) => ({ ...publicPart(later), why: 'squad stopped before it' }));
      return { removed, kept: [{ ...publicPart(thing), why: problem }, ...rest] };
    }
  }
  return { removed, kept: [] };
}

function publicPart({ what, path, name, bytes, about }: FoundThing): KeptThing {
  return { what, path, name, bytes, about };
}

function tableOf(things: readonly KeptThing[], verb: string): string[] {
  const rows = things.map(({ path, name, bytes, about }) => [
    verb,
    bytes === null ? '' : byteCount(bytes),
    name === null ? plainLine(path) : `${plainLine(name)} in ${plainLine(path)}`,
    plainLine(about, 300),
  ]);
  return renderTable({ rows });
}

function leftLine({ name, why, next }: LeftThing): string {
  return `stays  ${plainLine(name)}: ${why}${next === null ? '' : `. To remove it: ${plainLine(next)}`}`;
}
