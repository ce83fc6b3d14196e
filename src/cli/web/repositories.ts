import { basename } from 'node:path';
import { openMachine } from '../../engine/machine.ts';
import { noRunYet } from '../../model/unknown-name.ts';
import { isSquadError } from '../../model/errors.ts';
import { openWorkspace, requireRuns, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import { findKnownCheckouts } from '../../substrate/git/known-checkouts.ts';
import { hasLedger } from '../../substrate/ledger/index.ts';
import type { CommandContext } from '../command-context.ts';

/** A repository whose runs are shown. */
export interface ShownRepository {
  /** Its state is called so, and addresses name it. */
  readonly id: string;
  readonly name: string;
  readonly workspace: OpenedWorkspace;
}

export interface Repositories {
  /** `again`: looks for new ones. */
  list(again?: boolean): Promise<readonly ShownRepository[]>;
  find(id: string): Promise<ShownRepository | undefined>;
}

/** This repository, or all that have runs on this machine. Throws `usage` where nothing ever ran. */
export async function openRepositories({ host }: Pick<CommandContext, 'host'>, all: boolean): Promise<Repositories> {
  let repositories = all ? await allRepositories(host) : [await repositoryAt(host, host.workingDirectory)];
  const [first] = repositories;
  if (first === undefined) throw noRunYet();
  if (!all) requireRuns(first.workspace);
  const list: Repositories['list'] = async (again = false) => {
    if (again && all) repositories = await allRepositories(host, repositories);
    return repositories;
  };
  return { list, find: async (id) => repositories.find((one) => one.id === id) };
}

async function repositoryAt(host: CommandContext['host'], workingDirectory: string): Promise<ShownRepository> {
  const workspace = await openWorkspace({ host: { ...host, workingDirectory } });
  return { id: basename(workspace.directory), name: basename(workspace.repository.root), workspace };
}

/** `known`: are opened already. A repository with several checkouts is shown once. */
async function allRepositories(
  host: CommandContext['host'],
  known: readonly ShownRepository[] = [],
): Promise<ShownRepository[]> {
  const { checkouts } = await findKnownCheckouts(openMachine(host).git, host.stateDirectory);
  const repositories = new Map<string, ShownRepository>();
  for (const { root } of checkouts) {
    const repository = known.find(({ workspace }) => workspace.repository.root === root) ?? (await quietly(host, root));
    if (repository !== undefined && !repositories.has(repository.id) && hasLedger(repository.workspace.directory))
      repositories.set(repository.id, repository);
  }
  return [...repositories.values()].toSorted((a, b) => a.name.localeCompare(b.name));
}

/** undefined: it cannot be read now, which is no reason to show none of the others. */
async function quietly(host: CommandContext['host'], root: string): Promise<ShownRepository | undefined> {
  try {
    return await repositoryAt(host, root);
  } catch (error) {
    if (isSquadError(error)) return undefined;
    throw error;
  }
}
