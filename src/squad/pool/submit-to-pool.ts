import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { forgePortsOf } from '../../engine/machine.ts';
import { usageError, wrongEnvironment } from '../../model/errors.ts';
import { priorityRank } from '../../model/priority.ts';
import { remoteUrl, said } from '../../substrate/git/forge/remotes.ts';
import { isAtRemote } from '../../substrate/git/mirror.ts';
import type { NewPoolRun } from '../../substrate/ports/pool.ts';
import { deleteFolder } from '../../substrate/system/files/remove-tree.ts';
import { plainLine } from '../../text/plain-text.ts';
import { operatorOf } from '../machine.ts';
import { consentOf, type TrustOption } from '../new-run.ts';
import { openRun } from '../open-run.ts';
import { bindWorkspace, openWorkspace, runIdOf, type OpenedWorkspace, type Place } from '../open-workspace.ts';
import { agree } from '../preflight/consent.ts';
import { itemsOfStored } from '../run-consent.ts';
import type { Submitted } from '../sources/source-of.ts';
import { submit, type SubmitOptions } from '../submit.ts';
import { aboutOf } from './about.ts';
import { firstBundle } from './replica.ts';
import { placeIn } from './run-place.ts';
import { wakeFor, type WakePorts } from './wake.ts';

export interface SubmitToPool extends Omit<SubmitOptions, 'after' | 'attended'> {
  /** Only a worker that has all of these takes it. */
  readonly labels: readonly string[];
  /** The remote that workers fetch from and push to. Absent: origin. */
  readonly remote?: string | undefined;
}

export interface InPool {
  readonly runId: string;
  readonly name: string;
  /** It was there already, under the same key. */
  readonly known: boolean;
  /** For people, without a password. */
  readonly repository: string;
  readonly warnings: readonly string[];
}

const NO_PASSWORD = 'Leave it out there, and log in by a helper of git: workers use logins of their own.';

/**
 * Gives a run to a pool, with the checks and questions of a run here. This machine keeps nothing of it. Throws `usage` for a base that is
 * not at the remote.
 */
export async function submitToPool(
  place: Place,
  pool: WakePorts,
  objective: Submitted,
  { labels, remote = 'origin', ...options }: SubmitToPool,
): Promise<InPool> {
  const opened = await openWorkspace(place);
  const { host, repository } = opened;
  const url = await remoteUrl(forgePortsOf(opened), repository, remote);
  if (typeof url !== 'string') throw usageError(url.why, url.next ?? 'Name another one: `--remote NAME`.');
  const shown = plainLine(said(url), 300);
  if (/:\/\/[^/@]*:[^/@]+@/.test(url))
    throw usageError(`the address of ${remote} has a password: ${shown}`, NO_PASSWORD);
  const runs = await pool.store.runs();
  const folder = join(host.stateDirectory, `submitting-${host.pid}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const there = placeIn(host, host.workingDirectory, folder);
    const { directory } = bindWorkspace(await openWorkspace(there));
    const id = options.key === undefined ? undefined : runIdOf(directory, options.key);
    const before = runs.find((run) => run.id === id);
    if (before !== undefined) {
      await wakeFor(pool, before);
      return { runId: before.id, name: before.name, known: true, repository: shown, warnings: [] };
    }
    const elsewhere = runs.filter((run) => run.repository === url).map(({ name }) => name);
    const trust = trustHere(opened, options.trust);
    const submitted = await submit(there, objective, { ...options, trust, elsewhere, isFixed: true });
    const run = await describe(await openWorkspace(there), submitted.runId, { url, labels });
    await refuseUnpushed(opened, remote, run.base);
    const { bundle } = await firstBundle(there, pool.store, run.id);
    const added = await pool.store.submit(run, bundle);
    const stored = await pool.store.run(run.id);
    await wakeFor(pool, stored);
    const { warnings } = submitted;
    return { runId: run.id, name: stored.name, known: added === 'known', repository: shown, warnings };
  } finally {
    await deleteFolder(folder);
  }
}

/** The person’s consent is kept where that of other runs of the repository is. */
function trustHere(
  { host, composition, repository }: OpenedWorkspace,
  trust: TrustOption['trust'],
): TrustOption['trust'] {
  if (trust === 'yes') return 'yes';
  return async (items) => {
    await agree(items, { ...composition, host, ...consentOf(trust) }, { repository, yes: false });
    return true;
  };
}

export async function describe(
  workspace: OpenedWorkspace,
  runId: string,
  { url, labels }: { readonly url: string; readonly labels: readonly string[] },
): Promise<NewPoolRun> {
  const { definition } = (await openRun(workspace, runId)).reading;
  const items = await itemsOfStored(workspace, runId);
  return {
    ...{ id: runId, name: definition.name, repository: url, base: definition.repository.base, labels },
    priority: priorityRank(definition.objective.priority ?? '') ?? 0,
    submittedBy: operatorOf(workspace.host),
    about: aboutOf(definition, items),
  };
}

async function refuseUnpushed(workspace: OpenedWorkspace, remote: string, base: string): Promise<void> {
  const { composition, repository } = workspace;
  const isPushed = async (): Promise<boolean> => isAtRemote(composition.git, repository, { remote, commit: base });
  if (await isPushed()) return;
  const fetched = await composition.forge(repository).fetch(remote);
  if (fetched.type === 'refused') throw wrongEnvironment(fetched.why, fetched.next);
  if (await isPushed()) return;
  throw usageError(
    `the run would begin with the commit ${base.slice(0, 12)}, which no branch of ${remote} has`,
    `Push it first, \`git push ${remote} HEAD\`, or begin elsewhere: \`--base ${remote}/main\`.`,
  );
}
