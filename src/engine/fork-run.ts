import { cp } from 'node:fs/promises';
import type { Composition, Host } from './compose.ts';
import { applyInputs, type PlanInput } from '../rules/plan-step.ts';
import { stepDecisions } from '../graph/nodes/node-context.ts';
import { storageError } from '../model/storage-error.ts';
import { RUN_EVENTS, type Forked, type RunDefinition } from '../model/run.ts';
import { createBranch } from './operations/publish-run.ts';
import type { ForkPlan } from '../view/fork-plan.ts';
import { uuid7 } from '../substrate/system/clock/ids.ts';
import { failpoint } from '../substrate/system/failpoint.ts';
import { armoryFolder, copiesFolder, writeRunFile } from '../substrate/system/files/run-files.ts';
import { exists } from '../substrate/system/files/exists.ts';
import { findState } from '../substrate/system/files/state-place.ts';
import { openLedger } from '../substrate/ledger/index.ts';
import type { NewFork, RunRow } from '../substrate/ports/ledger.ts';
import type { RepositoryReport } from '../substrate/ports/workspaces.ts';
import { plainJson } from '../text/json.ts';
import { requireRegistered } from './needs.ts';
import { workspacesOf } from './workspaces.ts';

interface ForkOrder {
  readonly name: string;
  /** The parent's definition, as it was frozen. */
  readonly definition: RunDefinition;
  readonly parent: string;
  readonly plan: ForkPlan;
  /** Commits that the repository still has. */
  readonly found: ReadonlySet<string>;
}

/**
 * Makes a run that begins where another one was. The ledger's transaction makes it: a crash before leaves no run, and after it the
 * same command again, or the first `resume`, makes the refs that are missing.
 */
export async function forkRun(
  ports: Composition & { readonly host: Host },
  repository: RepositoryReport,
  order: ForkOrder,
): Promise<RunRow> {
  const { directory } = findState(ports.host.stateDirectory, repository.commonDirectory);
  const fork = newFork(ports, order);
  for (const folderOf of [armoryFolder, copiesFolder])
    await copyFolder(folderOf(directory, order.parent), folderOf(directory, fork.id));
  await writeRunFile(directory, fork.id, 'objective.md', order.definition.objective.text);
  failpoint('fork.prepared');
  const ledger = openLedger(directory, ports);
  try {
    const row = ledger.fork(fork);
    failpoint('fork.recorded');
    await makeRefs(ports, repository, { row, forked: fork.forked });
    return row;
  } finally {
    ledger.close();
  }
}

/** A recorded fork that no engine has driven, with what the record says of it. */
export interface RecordedFork {
  readonly row: RunRow;
  readonly forked: Forked;
}

/** The branch and the refs of a recorded fork. Safe to repeat before its first turn. */
export async function makeRefs(
  ports: Composition & { readonly host: Host },
  repository: RepositoryReport,
  { row, forked }: RecordedFork,
): Promise<void> {
  const { directory } = findState(ports.host.stateDirectory, repository.commonDirectory);
  const workspaces = workspacesOf(ports, repository, directory);
  try {
    await createBranch(workspaces, { run: row.name, runId: row.id }, forked);
  } finally {
    await workspaces.close();
  }
  failpoint('fork.kept');
}

/** The input of the ledger transaction that makes the fork. */
export function newFork(
  ports: Pick<Composition, 'clock' | 'runtimes' | 'playbooks'>,
  { name, definition, parent, plan, found }: ForkOrder,
): NewFork {
  const at = ports.clock.now();
  const playbook = requireRegistered(ports, definition);
  const ends = plan.ends.map(({ task, event: work }): PlanInput => ({ seq: plan.seq, at, task, work }));
  const { head, kept, pins } = plan.work;
  const forked: Forked = {
    parent: { runId: parent, seq: plan.seq },
    head,
    kept: kept.filter(({ commit }) => found.has(commit)),
    pins: pins.filter((commit) => found.has(commit)),
  };
  const past = plan.entries.map(
    (event) => ({ do: 'record', type: event.type, data: event.data, at: event.at }) as const,
  );
  const timers = plan.timers.map((timer) => ({ do: 'set-timer', ...timer }) as const);
  // Two runs would write into the same folder: it stays the parent's. And a fork is in no queue.
  const { folder: _folder, submitted: _submitted, ...frozen } = definition;
  const own = stepDecisions(applyInputs(plan.board, playbook, ends), `${plan.seq}/fork`);
  return {
    id: uuid7(at),
    name,
    definition: plainJson({ ...frozen, name }),
    forked,
    facts: plan.facts,
    decisions: [
      ...past,
      ...timers,
      ...own.filter((decision) => decision.do !== 'claim-attempt' && decision.do !== 'hand-mail'),
    ],
    inputs: plan.inputs.map((input) => ({ type: RUN_EVENTS.work, data: plainJson(input) })),
  };
}

/** The fork outlives its parent's files. */
async function copyFolder(from: string, to: string): Promise<void> {
  try {
    if (await exists(from)) await cp(from, to, { recursive: true });
  } catch (error) {
    throw storageError(to, error);
  }
}
