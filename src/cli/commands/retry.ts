import { attemptName } from '../../model/attempt-id.ts';
import { usageError, type SquadError } from '../../model/errors.ts';
import { taskScope } from '../../model/plan/scope.ts';
import { requestOf } from '../../model/plan/verbs.ts';
import { BUILT_IN_RUNTIMES } from '../../model/runtime-name.ts';
import type { TaskFailure } from '../../model/task-failure.ts';
import { failuresOf } from '../../view/explain-failure.ts';
import { stuckTasksOf, type StuckTask } from '../../view/stuck-tasks.ts';
import { refuseOpenAgain } from '../../squad/folder-runs.ts';
import { openRun } from '../../squad/open-run.ts';
import { squadOn } from '../../squad/squad.ts';
import { listKeptWork } from '../../substrate/git/repository.ts';
import { plainLine } from '../../text/plain-text.ts';
import { chooseTask, chooseWay, type Way } from '../ask/ask-retry.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { failureLines, stuckLines } from '../render/failure-lines.ts';
import { canOffer, offerResume } from '../offer-resume.ts';
import { intervene, waitsForResume } from './intervene.ts';

/** Retries a task. Without one, it lists the tasks that failed or are stuck, and at a terminal asks what to do with a failed one. */
export async function retry(
  context: CommandContext,
  task: string | undefined,
  options: Options<'retry'>,
): Promise<void> {
  if (task !== undefined) return retryTask(context, task, options);
  const { stuck, ...troubled } = await troubledTasks(context, options.run);
  const { name, failures, closed } = troubled;
  if (failures.length + stuck.length === 0) {
    throw usageError(
      `no task of ${name} has failed or is stuck`,
      `Name a task to retry it; \`squad status ${name}\` lists them.`,
    );
  }
  if (options.json === true) context.output.json({ type: 'failed-tasks', name, failures, stuck });
  else for (const line of stuckLines(stuck)) context.output.line(line);
  const tried = failures.filter(canTry);
  const offers = canOffer(context, options) && tried.length > 0;
  if (options.json !== true && !offers) for (const line of failureLines(failures)) context.output.line(line);
  closed();
  if (offers) return retryAtTerminal(context, { ...troubled, failures: tried }, options);
  throw whichTask(name, failures, stuck);
}

type Failed = Pick<TaskFailure, 'task' | 'next'>;

/** One that waits for a person’s input would lack the same in another try. */
function canTry({ next }: Pick<Failed, 'next'>): boolean {
  return next.length === 0 || next.some((command) => command.startsWith('squad retry '));
}

/** The error without a task, with an example that would help. */
export function whichTask(name: string, failures: readonly Failed[], stuck: readonly StuckTask[]): SquadError {
  const task = failures.find(canTry)?.task ?? stuck.find((one) => one.task !== null)?.task;
  const [instead] = failures.flatMap(({ next }) => next);
  if (task !== undefined || instead === undefined) {
    const example = `squad retry ${task ?? '<task>'} --run ${name}`;
    return usageError('squad retry needs the id of a task', `For example: \`${example}\`.`);
  }
  return usageError(`another try of what failed in ${name} would end in the same way`, `Instead: \`${instead}\`.`);
}

interface Troubled {
  readonly name: string;
  readonly failures: readonly TaskFailure[];
  /** Other agents that can do it. */
  readonly agentsOf: (failure: TaskFailure) => readonly string[];
  /** Its result is an answer of which other tasks are made. */
  readonly isAnswer: (failure: TaskFailure) => boolean;
  /** Throws if no task of the run can be opened again. */
  readonly closed: () => void;
  /** Its last turn, as `squad show` names it. */
  readonly lastTurnOf: (failure: TaskFailure) => string | undefined;
}

async function troubledTasks(
  { host }: CommandContext,
  run: string | undefined,
): Promise<Troubled & { readonly stuck: readonly StuckTask[] }> {
  const opened = await openRun({ host }, run);
  const { reading, composition, repository, now } = opened;
  const { name } = reading.row;
  const closed = (): void => (reading.board.finished === null ? undefined : refuseOpenAgain(opened, reading));
  const failures = failuresOf(reading, await listKeptWork(composition.git, repository.root, name));
  const { tasks, facts } = reading.board;
  const agentsOf = ({ task, agent }: TaskFailure): string[] =>
    facts.roster
      .filter((member) => member.role === tasks.get(task)?.task.role && member.name !== agent)
      .map((member) => member.name);
  const isAnswer = ({ task: id }: TaskFailure): boolean => {
    const task = tasks.get(id)?.task;
    return task?.output !== undefined && !task.integrate;
  };
  const lastTurnOf = ({ task }: TaskFailure): string | undefined => {
    const last = reading.attempts.findLast(({ attempt }) => attempt.kind === 'turn' && attempt.taskId === task);
    return last && attemptName(last.attempt);
  };
  return { name, failures, stuck: stuckTasksOf(reading, now), agentsOf, isAnswer, lastTurnOf, closed };
}

async function retryAtTerminal(
  context: CommandContext,
  { name, failures, agentsOf, isAnswer, lastTurnOf }: Troubled,
  options: Options<'retry'>,
): Promise<void> {
  const { TERMINAL_PROMPTS: prompts } = await import('../ask/prompts.ts');
  const failure = await chooseTask(prompts, failures);
  if (failure === undefined) return context.output.problem('Nothing was changed.');
  const { output } = context;
  for (const line of failureLines([failure])) output.line(line);
  const choices = { runtimes: BUILT_IN_RUNTIMES, agents: agentsOf(failure), isAnswer: isAnswer(failure) };
  let way = await chooseWay(prompts, failure, choices);
  while (way?.way === 'show') {
    const { show } = await import('./show.ts');
    await show(context, lastTurnOf(failure) ?? failure.task, { ...options, run: name });
    way = await chooseWay(prompts, failure, choices);
  }
  if (way === undefined) return context.output.problem('Nothing was changed.');
  await take(context, failure.task, way, { ...options, run: name });
}

type Taken = Exclude<Way, { way: 'show' }>;

async function take(context: CommandContext, task: string, way: Taken, options: Options<'retry'>): Promise<void> {
  if (way.way === 'retry') return retryTask(context, task, { ...options, ...way.options });
  await intervene(context, options.run, requestOf(way.way, { task, as: 'done', reason: way.why }), options);
}

/** Switches the task to another runtime first, if one is given, so that no turn starts on the old one. */
async function retryTask(context: CommandContext, task: string, options: Options<'retry'>): Promise<void> {
  const { run, runtime, model } = options;
  if (runtime === undefined && model !== undefined) {
    throw usageError(
      '--model needs --runtime',
      `For example: \`squad retry ${plainLine(task, 80)} --runtime ${BUILT_IN_RUNTIMES[0]} --model ${plainLine(model, 80)}\`.`,
    );
  }
  const request = requestOf('retry', { ...options, task });
  if (runtime !== undefined) {
    const opened = await openRun(context, run);
    const { checkRequest, refuse } = await import('../../squad/intervene.ts');
    // Before the switch is stored, which only serves the retry.
    await refuse(opened, checkRequest(request));
    const { id } = opened.reading.row;
    const squad = context.remote ?? squadOn(context.host);
    await squad.intervene(id, { verb: 'switch', on: taskScope(task), runtime, model });
  }
  const offers = canOffer(context, options);
  const done = await intervene(context, run, request, options, offers);
  if (offers && waitsForResume(done)) await offerResume(context, done.runId, done.name);
}
