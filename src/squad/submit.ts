import { usageError } from '../model/errors.ts';
import { priorityRank } from '../model/priority.ts';
import type { RunDefinition, Submission } from '../model/run.ts';
import { findDefinition } from '../view/read-run.ts';
import { uuid7 } from '../substrate/system/clock/ids.ts';
import { failpoint } from '../substrate/system/failpoint.ts';
import { storeContents } from '../substrate/system/files/content-store.ts';
import { keepCopies } from '../substrate/system/files/copied-files.ts';
import { armoryFolder, copiesFolder } from '../substrate/system/files/run-files.ts';
import { hasLedger, openLedger } from '../substrate/ledger/index.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { recordLimits } from '../substrate/ledger/record-limits.ts';
import { defined } from '../text/defined.ts';
import { plainJson } from '../text/json.ts';
import { plainLine } from '../text/plain-text.ts';
import { sourceIn } from './folder-runs.ts';
import { operatorOf } from './machine.ts';
import { checkNewRun, type NewRunOptions } from './new-run.ts';
import {
  bindWorkspace,
  openWorkspace,
  requireNamed,
  runIdOf,
  type OpenedWorkspace,
  type Place,
} from './open-workspace.ts';
import type { Preflight } from './preflight/preflight.ts';
import { warningTexts } from './preflight/warning-texts.ts';
import { flagQueue } from './queue-flag.ts';
import { recordingRun } from './run-consent.ts';
import type { Source } from './preflight/source.ts';
import type { Submitted } from './sources/source-of.ts';

/** A run for the queue. `base` of a new run is looked up when it starts. */
export interface SubmitOptions extends NewRunOptions {
  /** Your own id of the run, unique in this repository. A second submission with it is the first. */
  readonly key?: string | undefined;
  /** The run whose result it begins with, by name or id. It waits until that run is done. */
  readonly after?: string | undefined;
  /** `high`, `medium`, `low` or a whole number, over that of the objective: higher ones start first. */
  readonly priority?: string | undefined;
  /** A person answers questions: see `RunOptions`. */
  readonly attended?: boolean | undefined;
}

/** As a pool takes one: its repository has other runs elsewhere, and it begins with a commit that every machine can get. */
export interface PoolSubmitOptions extends SubmitOptions {
  /** Names of those runs. */
  readonly elsewhere?: readonly string[];
  /** `base` is looked up now, and not when it starts. */
  readonly isFixed?: boolean;
}

/** A run that is in the queue. */
export interface SubmittedRun {
  readonly runId: string;
  readonly name: string;
  /** It was there already, under the same key. */
  readonly known: boolean;
  /** For people. */
  readonly warnings: readonly string[];
}

/**
 * Records a run that some engine will take: `squad run`, `squad resume --all` or `squad serve`. Checks and asks all that `run` does, and
 * throws what that would throw, but for an engine that is at work.
 */
export async function submit(place: Place, objective: Submitted, options: PoolSubmitOptions): Promise<SubmittedRun> {
  const workspace = bindWorkspace(await openWorkspace(place));
  const { directory, composition } = workspace;
  // Open all the time: each opening checks all of its log.
  const ledger = hasLedger(directory) ? openLedger(directory, composition) : undefined;
  try {
    return await submitTo({ ...workspace, ledger }, objective, options);
  } finally {
    ledger?.close();
  }
}

interface LedgerPlace extends OpenedWorkspace {
  /** undefined: nothing ran here yet. */
  readonly ledger: Ledger | undefined;
}

async function submitTo(
  workspace: LedgerPlace,
  objective: Submitted,
  options: PoolSubmitOptions,
): Promise<SubmittedRun> {
  const { key, after, priority, elsewhere, isFixed, ...request } = options;
  if (priority !== undefined && priorityRank(priority) === undefined) throw noPriority(priority);
  if (after !== undefined && request.base !== undefined)
    throw usageError('--after and --base cannot be given together', 'A run begins with the one or the other.');
  const runId = key === undefined ? uuid7(workspace.composition.clock.now()) : runIdOf(workspace.directory, key);
  const there = key === undefined ? undefined : findUnder(workspace.ledger, runId);
  if (there?.known !== undefined) return { ...found(workspace, there.known), warnings: [] };
  // A start under this key was cut short before the run was defined: this one takes its place.
  const own = there?.name;
  const afterId = after === undefined ? undefined : runBefore(workspace, after);
  const source = sourceIn(workspace, objective);
  source.admit?.();
  const named = { ...request, ...defined({ name: own ?? request.name }) };
  const checked = await checkNewRun(workspace, source, named, own, elsewhere);
  const submitted = {
    ...{ at: workspace.composition.clock.now(), by: operatorOf(workspace.host) },
    ...defined({ base: isFixed === true ? undefined : request.base, after: afterId }),
  };
  if (checked.definition.repositories !== undefined) refuseSeveral(submitted, isFixed === true);
  const recorded = await record(workspace, source, checked, { runId, priority, submitted });
  return { ...recorded, warnings: await warningTexts(workspace.host.stateDirectory, checked.warnings) };
}

/** Its commit is made of those that its repositories have on this machine now. */
function refuseSeveral({ base, after }: Submission, isElsewhere: boolean): void {
  const next = 'Take `repositories` out of squad.yaml, or begin the run here: `squad run`.';
  if (isElsewhere) throw usageError('a run of several repositories needs all of them where it works', next);
  if (base === undefined && after === undefined) return;
  throw usageError(
    'a run of several repositories begins with the commits that they have now, without --base and --after',
    'Check out the commit that it is to begin with, and leave these out.',
  );
}

function submittedAs(definition: RunDefinition, priority: string | undefined, submitted: Submission): RunDefinition {
  const { objective } = definition;
  return { ...definition, objective: { ...objective, ...defined({ priority }) }, submitted };
}

interface Asked {
  readonly runId: string;
  readonly priority: string | undefined;
  readonly submitted: Submission;
}

type Recorded = Omit<SubmittedRun, 'warnings'>;

async function record(workspace: LedgerPlace, source: Source, checked: Preflight, asked: Asked): Promise<Recorded> {
  const { directory, composition } = workspace;
  const { definition, repository, contents, serve } = checked;
  await source.refuseChanged?.(definition);
  await storeContents(armoryFolder(directory, asked.runId), contents);
  await keepCopies(repository.root, copiesFolder(directory, asked.runId), definition.copied ?? []);
  failpoint('submitted.stored');
  const ledger = workspace.ledger ?? openLedger(directory, composition);
  try {
    recordLimits(ledger, serve);
    return await recordNamed(workspace, ledger, checked, asked);
  } finally {
    ledger.close();
  }
}

/** All in one transaction: the name, which many may want at the same moment, the consent, without which no engine starts it, and what it is. */
async function recordNamed(
  workspace: OpenedWorkspace,
  ledger: Ledger,
  { freeName, under, definition }: Preflight,
  { runId, priority, submitted }: Asked,
): Promise<Recorded> {
  const recorded = await recordingRun(workspace, { definition, limits: definition.limits }, (agreed) =>
    ledger.transact((): Recorded => {
      const { name } = ledger.createRun({ id: runId, name: freeName });
      failpoint('submitted.named');
      const stored = plainJson(submittedAs(under(name), priority, submitted));
      const known = !ledger.submit({ id: runId, definition: stored });
      if (!known) agreed(runId, [stored]);
      return { runId, name, known };
    }),
  );
  failpoint('submitted.recorded');
  flagQueue(workspace.directory);
  return recorded;
}

/** The process that recorded it may have died before an engine could see it. */
function found({ directory }: OpenedWorkspace, { id: runId, name }: RunRow): Recorded {
  flagQueue(directory);
  return { runId, name, known: true };
}

/** undefined: no run has this id. `known`: it is defined. */
function findUnder(
  ledger: Ledger | undefined,
  runId: string,
): { readonly name: string; readonly known?: RunRow } | undefined {
  const row = ledger?.run(runId);
  if (ledger === undefined || row === undefined) return undefined;
  return { name: row.name, ...(findDefinition(ledger, row) === undefined ? {} : { known: row }) };
}

/** Its id. Throws `usage` for one that is unknown. */
function runBefore(workspace: LedgerPlace, name: string): string {
  const { ledger } = workspace;
  if (ledger === undefined) throw usageError(`there is no run ${plainLine(name, 80)}`, 'See `squad runs`.');
  const row = requireNamed(workspace, ledger, name);
  // Only so can no two runs wait for each other: the other one may be submitted again, to wait for this one.
  if (findDefinition(ledger, row) !== undefined) return row.id;
  throw usageError(
    `${row.name} cannot be waited for: its start was cut short`,
    'Submit it again first, or name another run.',
  );
}

function noPriority(text: string) {
  return usageError(
    `the priority “${plainLine(text, 40)}” is none of high, medium, low or a whole number`,
    'Give one of them: `--priority high`.',
  );
}
