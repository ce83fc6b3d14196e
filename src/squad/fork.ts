import { SquadError, badInput } from '../model/errors.ts';
import { OF_A_TEAM } from '../model/playbook-name.ts';
import { nameRun, refuseBadName } from './preflight/run-name.ts';
import { forkPoints, momentAt, planFork, type ForkPoint } from '../view/fork-plan.ts';
import { rowOf } from '../view/read-run.ts';
import { findCommits } from '../substrate/git/find-commits.ts';
import { inspectForWork } from '../substrate/git/inspect-repository.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import { forkedSchema, RUN_EVENTS, type RunDefinition } from '../model/run.ts';
import type { RunRow } from '../substrate/ports/ledger.ts';
import type { RepositoryReport } from '../substrate/ports/workspaces.ts';
import { plainLine } from '../text/plain-text.ts';
import type { RecordedFork } from '../engine/engine.ts';
import { loadEngine } from './load-engine.ts';
import { findNames } from './new-run.ts';
import { keepConsent } from './run-consent.ts';
import { withRun } from './open-run.ts';
import { openWorkspace, lookIn, type OpenedWorkspace, type Place } from './open-workspace.ts';

/** Where a fork begins. */
export interface ForkOptions {
  /** Number of an event of the run (`squad log --raw`). The fork begins with all that was decided by then. */
  readonly at: number;
  /**
   * Name of the fork and of its branch `squad/<name>`. Absent: the parent's, with a number. A taken name is refused, unless it is
   * that of the same fork, which no engine has driven yet: what is missing of that is made.
   */
  readonly name?: string | undefined;
}

/** A new run with the decisions of another one. Nothing drives it until `resume`. */
export interface ForkedRun {
  readonly runId: string;
  readonly name: string;
  /** `seq`: the input up to which the parent's decisions are the fork's. */
  readonly parent: { readonly runId: string; readonly seq: number };
}

/** The record of a run that may be forked. */
interface Source extends OpenedWorkspace {
  readonly row: RunRow;
  readonly definition: RunDefinition;
  readonly events: readonly LedgerEvent[];
}

/** The moments of a run that a fork may begin at, oldest first. */
export async function listForkPoints(
  place: Place,
  run: string | undefined,
): Promise<{ name: string; points: ForkPoint[] }> {
  const { row, definition, events } = await openSource(place, run);
  return { name: row.name, points: forkPoints(definition, events) };
}

/**
 * Makes a run that begins where another one was, and leaves that as it is. Does not start it. `changed`: what the fork is defined by,
 * where that differs from its parent.
 */
export async function fork(
  place: Place,
  run: string | undefined,
  { at, name }: ForkOptions,
  changed: (parent: RunDefinition) => RunDefinition = (parent) => parent,
): Promise<ForkedRun> {
  refuseBadName(name);
  const opened = await openSource(place, run);
  const source = { ...opened, definition: changed(opened.definition) };
  const { row, definition, events, composition, host } = source;
  const seq = momentAt(events, at);
  if (seq === undefined) throw noMoment(source, at);
  const loading = loadEngine();
  const repository = await inspectForWork(composition.git, source.repository.root);
  const begun = findBegun(source, repository, { seq, name });
  if (begun !== undefined) return finish(source, repository, begun, await loading);
  const plan = planFork(definition, events, seq);
  const named = [...plan.needed, ...plan.work.kept.map(({ commit }) => commit), ...plan.work.pins];
  const found = await findCommits(composition.git, repository, named);
  const gone = plan.needed.filter((commit) => !found.has(commit));
  if (gone.length > 0) throw commitsGone(source, seq, gone);
  const taken = await findNames({ host, composition, repository });
  const { forkRun } = await loading;
  const order = {
    name: nameRun({ given: name, objective: row.name, title: '' }, taken),
    ...{ definition, parent: row.id, plan, found },
  };
  const make = async () => forkRun({ ...composition, host }, repository, order);
  const { id: runId, name: own } = await keepConsent(source, row.id, make, ({ id }) => id);
  return { runId, name: own, parent: { runId: row.id, seq } };
}

/**
 * Finds the fork that this command recorded before it was killed: no engine has driven it. Without a name, only one that has no
 * branch yet: with a branch it is complete, and the person asks for another one.
 */
function findBegun(
  source: Source,
  { runBranches }: RepositoryReport,
  { seq, name }: { readonly seq: number; readonly name: string | undefined },
): RecordedFork | undefined {
  return lookIn(source, (ledger) => {
    const row = ledger.runs().findLast(({ id, name: own, parent }) => {
      const isSame = parent?.runId === source.row.id && parent.seq === seq && ledger.segments(id).length === 0;
      return isSame && (name === undefined ? !runBranches.includes(own) : own === name);
    });
    const [event] = row === undefined ? [] : ledger.events({ stream: row.id, types: [RUN_EVENTS.forked], limit: 1 });
    return row === undefined || event === undefined ? undefined : { row, forked: forkedSchema.parse(event.data) };
  });
}

async function finish(
  source: Source,
  repository: RepositoryReport,
  begun: RecordedFork,
  { makeRefs }: Pick<Awaited<ReturnType<typeof loadEngine>>, 'makeRefs'>,
): Promise<ForkedRun> {
  const { composition, host, row: parent } = source;
  const { id, name } = begun.row;
  const make = async () => makeRefs({ ...composition, host }, repository, begun);
  await keepConsent(source, parent.id, make, () => id);
  return { runId: id, name, parent: begun.forked.parent };
}

async function openSource(place: Place, run: string | undefined): Promise<Source> {
  return withRun(await openWorkspace(place), run, (ledger, given) => {
    const { row, definition } = rowOf(ledger, given);
    if (OF_A_TEAM.has(definition.playbook)) throw notForked(row.name);
    return { row, definition, events: ledger.events({ stream: row.id }) };
  });
}

/** Its records, such as the backlog, would be written again. */
function notForked(name: string): SquadError {
  return badInput(
    `${name} is a run of the team: a fork of it would write the same items and sprint again`,
    'Start another sprint: `squad sprint start "…"`, or ask for something: `squad request "…"`.',
  );
}

function noMoment(source: Source, at: number): SquadError {
  const { row, events } = source;
  const known = events.some(({ seq }) => seq === at);
  const why = known ? 'nothing was decided by then' : `it is not an event of ${row.name}`;
  return badInput(`${row.name} cannot be forked at ${at}: ${why}`, nextOf(source));
}

function commitsGone(source: Source, seq: number, [first = '', ...more]: readonly string[]): SquadError {
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  return badInput(
    `${source.row.name} cannot be forked at ${seq}: the repository has no commit ${first.slice(0, 12)}${others} any more`,
    nextOf(source),
  );
}

/** Limit on listed moments, so that the message stays readable. */
const MOST_POINTS = 10;

function nextOf({ row, definition, events }: Source): string {
  const points = forkPoints(definition, events);
  if (points.length === 0) return `Nothing was decided yet: \`squad resume ${row.name}\`.`;
  const shown = points.slice(-MOST_POINTS).map(({ seq, what }) => `${seq} (${plainLine(what, 60)})`);
  return `There is: ${shown.join(', ')}. All of them: \`squad fork ${row.name}\`.`;
}
