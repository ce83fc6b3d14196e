import { compose } from '../../engine/compose.ts';
import { listKeptWork } from '../../substrate/git/repository.ts';
import { listChanges, readDiff, type DiffRange } from '../../substrate/git/show-diff.ts';
import { statusOf, type RunStatus } from '../../view/status.ts';
import { viewOf } from '../../view/view-of.ts';
import { taskFactsOf } from '../../view/task-facts.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { findRange } from '../find-range.ts';
import { openTarget, type OpenedTarget } from '../find-target.ts';
import { printPaged } from '../print-paged.ts';
import { renderPatch } from '../render/patch-lines.ts';
import { renderShownRun, renderShownTask } from '../render/show-lines.ts';
import { renderTurn } from '../render/turn-record-lines.ts';
import { readTurns, recordOf } from '../show/read-turns.ts';
import type { TurnRecord } from '../show/turn-record.ts';

/** Lines of a prompt that the view of a task shows. */
const SOME_PROMPT = 12;
/** Lines of the diff; `squad diff` shows all. */
const MOST_PATCH = 1_000;

/** In place of a name: the plan of the run. */
const PLAN = 'plan';

/** Shows a run, a task or an attempt from the ledger, the turn folders and the refs; says what is not kept. */
export async function show(context: CommandContext, name: string | undefined, options: Options<'show'>): Promise<void> {
  if (name === PLAN) return (await import('./show-plan.ts')).showPlan(context, options);
  const target = await openTarget(context, { run: options.run, name, kinds: 'run, task or attempt' });
  const shown = await gather(context, target);
  if (options.json === true) return context.output.json(await jsonOf(target, shown));
  await printPaged(context, options, linesOf(context, target, shown));
}

interface Shown {
  readonly turns: readonly TurnRecord[];
  /** undefined: there is no work, or it is gone. */
  readonly range: DiffRange | undefined;
}

async function gather({ host }: CommandContext, target: OpenedTarget): Promise<Shown> {
  const { reading, task, attempt, directory } = target;
  const own = reading.attempts.filter((one) => {
    if (attempt !== undefined) return one.attempt.id === attempt.id;
    return task === undefined || one.attempt.taskId === task || one.attempt.taskId === `check:${task}`;
  });
  // A run has too many turns to read what each of them said.
  const isWhole = task === undefined && attempt === undefined;
  const turns = isWhole
    ? own.map((one) => recordOf(reading, one))
    : await readTurns({ composition: compose(host), directory }, reading, own);
  // A review or a command changes nothing.
  const hasWork = turns.every(({ kind, isReview }) => attempt === undefined || (kind === 'turn' && !isReview));
  return { turns, range: hasWork ? await findRange(target) : undefined };
}

async function* linesOf(
  context: CommandContext,
  target: OpenedTarget,
  { turns, range }: Shown,
): AsyncGenerator<string> {
  const { style, columns } = context.output;
  const { reading, now, composition, repository, task, attempt } = target;
  const look = { now, style, columns: columns() };
  if (attempt !== undefined) {
    for (const turn of turns) yield* renderTurn(turn, { ...look, promptLines: Infinity });
    if (range === undefined) return;
  } else yield* overviewLines(target, turns, look);
  yield* ['', style('bold', 'Work')];
  if (range === undefined) return yield '  none, or its commits are not kept';
  const { name } = reading.row;
  const all = `squad diff ${name}${task === undefined ? '' : ` ${task}`}`;
  let shown = 0;
  for await (const line of renderPatch(readDiff(composition.git, repository, range, 'patch'), style)) {
    if (shown === MOST_PATCH) return yield style('dim', `… and more: ${all}`);
    shown += 1;
    yield line;
  }
}

async function* overviewLines(
  target: OpenedTarget,
  turns: Shown['turns'],
  look: Parameters<typeof renderShownRun>[2],
): AsyncGenerator<string> {
  const { reading, task } = target;
  const status = await statusIn(target);
  const tasks = taskFactsOf(reading);
  if (task === undefined)
    yield* renderShownRun(
      status,
      { asked: reading.definition.objective.text, notes: notesIn(reading, status), tasks, turns },
      look,
    );
  for (const facts of tasks) if (facts.id === task) yield* renderShownTask(facts, status, look.style);
  if (task !== undefined) {
    for (const turn of turns) yield* ['', ...renderTurn(turn, { ...look, promptLines: SOME_PROMPT })];
  }
}

function notesIn({ interventions }: OpenedTarget['reading'], { notes = [] }: RunStatus) {
  return interventions.flatMap(({ by, at, intervention }) => {
    if (intervention.verb !== 'tell') return [];
    const { agent, text } = intervention;
    const isRead = !notes.some((note) => note.agent === agent && note.at === at && note.text === text);
    return [{ agent, text, by, isRead }];
  });
}

async function jsonOf(target: OpenedTarget, { turns, range }: Shown): Promise<object> {
  const { reading, task, attempt, composition, repository } = target;
  const { id: runId, name } = reading.row;
  const about = { type: 'show', runId, name, task: task ?? null, attempt: attempt?.id ?? null };
  const diff = range === undefined ? null : { ...range, files: await listChanges(composition.git, repository, range) };
  if (attempt !== undefined) return { ...about, turns, diff };
  const tasks = taskFactsOf(reading).filter(({ id }) => task === undefined || id === task);
  const { text: objective } = reading.definition.objective;
  return { ...about, objective, status: await statusIn(target), tasks, turns, diff };
}

async function statusIn({ reading, now, composition, repository }: OpenedTarget): Promise<RunStatus> {
  const kept = await listKeptWork(composition.git, repository.root, reading.row.name);
  return statusOf(viewOf(reading, { now, kept }));
}
