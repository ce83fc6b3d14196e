import { errorText } from '../model/errors.ts';
import { planEntrySchema } from '../model/plan/entry.ts';
import { RUN_EVENTS, type RunDefinition } from '../model/run.ts';
import { LONGEST_SLUG } from '../model/slug.ts';
import { inspectForWork } from '../substrate/git/inspect-repository.ts';
import { plainLine } from '../text/plain-text.ts';
import { compareRuns, type ComparedRun, type Comparison, type Side } from '../view/comparison.ts';
import { measureRun } from '../view/measured-run.ts';
import { openProposal } from '../view/proposed-plan.ts';
import { readEvent } from '../view/replay-plan.ts';
import type { RunEnd, RunningRun } from '../view/running-run.ts';
import { viewOf } from '../view/view-of.ts';
import { answer } from './answer.ts';
import { fork } from './fork.ts';
import { findNames, type NewRunOptions } from './new-run.ts';
import { openRun } from './open-run.ts';
import { lookIn, openWorkspace, type Place } from './open-workspace.ts';
import { playbookOf } from './preflight/playbook-choice.ts';
import { readSides, withPrompts, type ComparedOptions, type SidePrompts, type Sides } from './compared-prompts.ts';
import { resume, run, type DriveOptions, type ResumeOptions } from './run.ts';
import type { Named } from './sources/source-of.ts';

export interface CompareOptions extends ComparedOptions {
  /** Folders with `<role>/<occasion>.md`, or `shipped`. What a folder does not have is squad's own. */
  readonly folders: readonly [string, string];
  /** Runs of each side. */
  readonly times: number;
  /** Each run plans for itself, with its own prompts. Absent: one plan serves all of them. */
  readonly replan?: boolean | undefined;
  /** Drives one run. `about`: which it is, for people. */
  readonly play: (about: string, start: (drive: DriveOptions) => Promise<RunningRun>) => Promise<RunEnd>;
  /** Why no further run starts; undefined: more may start. */
  readonly stopped: () => string | undefined;
}

/** The plan from which each run starts. */
interface SharedPlan {
  readonly runId: string;
  readonly name: string;
  readonly question: string;
  /** The event after which it waits for approval. */
  readonly at: number;
  readonly tasks: number;
}

/** As far as they were made. */
interface Made {
  readonly runs: { readonly side: Side; readonly runId: string }[];
  plan?: SharedPlan;
  /** Why no further run was made. */
  why?: string | undefined;
}

/**
 * Plays the same objective with two sets of prompts, one run after another and alternating, and compares what is on record of them. All
 * begin from one commit. One run plans with the prompts of the repository; each of the others is a fork of it with prompts of its own.
 */
export async function compare(place: Place, objective: Named, options: CompareOptions): Promise<Comparison> {
  const { folders, times, replan = false, play, stopped, ...request } = options;
  const sides = await readSides(place, objective, folders, request);
  const made: Made = { runs: [] };
  try {
    await playAll(place, objective, { times, replan, play, stopped, request, sides, made });
  } catch (error) {
    // Runs that were paid for are shown.
    if (made.runs.length === 0) throw error;
    made.why = errorText(error);
  } finally {
    if (made.plan !== undefined) await endPlan(place, made.plan, request.trust);
  }
  const { plan, why } = made;
  const runs = await Promise.all(made.runs.map(async (one) => readRun(place, one)));
  return compareRuns({
    sides: { A: aboutSide(sides.A), B: aboutSide(sides.B) },
    base: runs.length === 0 ? null : sides.A.definition.repository.base,
    plan: plan === undefined ? null : { runId: plan.runId, name: plan.name, tasks: plan.tasks },
    times,
    runs,
    stopped: why ?? null,
  });
}

interface Playing extends Pick<CompareOptions, 'times' | 'replan' | 'play' | 'stopped'> {
  readonly request: ComparedOptions;
  readonly sides: Sides;
  readonly made: Made;
}

async function playAll(
  place: Place,
  objective: Named,
  { times, replan, play, stopped, request, sides, made }: Playing,
): Promise<void> {
  const { definition } = sides.A;
  const nameOf = await freeNames(place, definition.name, times);
  if (replan !== true && (await plansFirst(place, definition))) {
    const end = await play(`${nameOf('plan')} plans for all runs`, async (drive) =>
      run(place, objective, { ...request, name: nameOf('plan'), plan: 'ask', ...drive }),
    );
    const plan = await findPlan(place, end.runId);
    if (plan === undefined) return void (made.why = `there is no plan: ${end.headline}`);
    made.plan = plan;
  }
  for (const { side, number } of turnsOf(times)) {
    made.why = stopped() ?? (made.plan === undefined ? await movedHead(place, definition) : undefined);
    if (made.why !== undefined) return;
    const name = nameOf(endOf(side, number));
    const about = `${name}: run ${number} of ${times} with ${side}, ${plainLine(sides[side].prompts, 200)}`;
    const end = await play(about, async (drive) => {
      const running =
        made.plan === undefined
          ? await run(place, objective, { ...request, name, plan: 'auto', prompts: sides[side].bodies, ...drive })
          : await runPlan(place, made.plan, { name, side: sides[side], drive: { ...drive, trust: request.trust } });
      made.runs.push({ side, runId: running.runId });
      return running;
    });
    if (end.outcome === 'interrupted') made.why = stopped() ?? end.headline;
    if (made.why !== undefined) return;
  }
}

/** Starts a run that begins with the plan, as a person approved it. */
async function runPlan(
  place: Place,
  plan: SharedPlan,
  { name, side, drive }: { readonly name: string; readonly side: SidePrompts; readonly drive: ResumeOptions },
): Promise<RunningRun> {
  const made = await fork(place, plan.runId, { at: plan.at, name }, (parent) => withPrompts(parent, side));
  await answer(place, made.runId, 'approve', plan.question);
  return resume(place, made.runId, drive);
}

function aboutSide({ prompts, definition }: SidePrompts): { prompts: string; hash: string } {
  return { prompts, hash: definition.promptHash ?? '' };
}

/** A, B, A, B …: what changes in time, such as the load of a server, meets both. */
function turnsOf(times: number): { side: Side; number: number }[] {
  return Array.from({ length: times }, (_, index) =>
    (['A', 'B'] as const).map((side) => ({ side, number: index + 1 })),
  ).flat();
}

function endOf(side: Side, number: number): string {
  return `${side.toLowerCase()}-${number}`;
}

async function plansFirst(place: Place, definition: RunDefinition): Promise<boolean> {
  const { composition } = await openWorkspace(place);
  return playbookOf(composition.playbooks, definition)?.planning !== undefined;
}

/** Makes names of runs from one beginning, all of which are free. */
async function freeNames(place: Place, begin: string, times: number): Promise<(end: string) => string> {
  const { host, composition } = await openWorkspace(place);
  const repository = await inspectForWork(composition.git, host.workingDirectory);
  const taken = await findNames({ host, composition, repository });
  const ends = ['plan', ...turnsOf(times).map(({ side, number }) => endOf(side, number))];
  for (let attempt = 1; ; attempt += 1) {
    const nameOf = (end: string): string => {
      const suffix = `${attempt === 1 ? '' : `-${attempt}`}-${end}`;
      return `${begin.slice(0, LONGEST_SLUG - suffix.length).replace(/-+$/, '')}${suffix}`;
    };
    if (!ends.some((end) => taken.includes(nameOf(end)))) return nameOf;
  }
}

/** undefined: it waits for no approval. */
async function findPlan(place: Place, runId: string): Promise<SharedPlan | undefined> {
  const { reading, directory, composition } = await openRun(place, runId);
  const proposal = openProposal(reading);
  const at = lookIn({ directory, composition }, (ledger) => ledger.events({ stream: runId }).at(-1)?.seq);
  if (proposal === undefined || at === undefined) return undefined;
  const { question, tasks } = proposal;
  return { runId, name: reading.row.name, question, at, tasks: tasks.length };
}

/** Its plan has been used: nothing waits for an answer any more. */
async function endPlan(place: Place, { runId, question }: SharedPlan, trust: NewRunOptions['trust']): Promise<void> {
  await answer(place, runId, 'stop', question);
  await (
    await resume(place, runId, { trust })
  ).done;
}

/** Why a further run would begin from another commit; undefined: it would not. */
async function movedHead(place: Place, { repository: { base } }: RunDefinition): Promise<string | undefined> {
  const { host, composition } = await openWorkspace(place);
  const { head } = await inspectForWork(composition.git, host.workingDirectory);
  return head === base
    ? undefined
    : `HEAD is at ${head.slice(0, 12)} now, and the runs began from ${base.slice(0, 12)}`;
}

async function readRun(place: Place, { side, runId }: { side: Side; runId: string }): Promise<ComparedRun> {
  const { reading, directory, composition, now } = await openRun(place, runId);
  const view = viewOf(reading, { now });
  const events = lookIn({ directory, composition }, (ledger) =>
    ledger.events({ stream: runId, types: [RUN_EVENTS.plan] }),
  );
  const entries = (events ?? []).flatMap((one) => (one.cause === null ? [] : [readEvent(one, planEntrySchema)]));
  const { name, branch, state } = view.run;
  const measures = measureRun(view, reading.board, entries);
  return { side, runId, name, branch, state, headline: view.end?.headline ?? null, measures };
}
