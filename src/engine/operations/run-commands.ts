import type { CheckAnswer, CheckOrder } from '../checks/run-checks.ts';
import { mainLine } from '../../text/cannot-run.ts';
import { SquadError } from '../../model/errors.ts';
import type { Workspace } from '../../model/turn-request.ts';
import type { TaskFolder } from '../../substrate/ports/workspaces.ts';
import { pathsOf, type SetupStep } from '../../model/setup-step.ts';
import { shortHash, type OperationPorts } from './operation-ports.ts';
import { reuseOrder } from './reuse-order.ts';

export const MINUTE = 60_000;
/** Time limit of a command in a task's requirements or in a criterion. */
export const CRITERION_MS = 10 * MINUTE;

/** `ran` false: the command gave no result and may be tried again. */
export type CommandsAnswer =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly ran: boolean;
      readonly command: string;
      readonly answer: FailedCheck;
      readonly output: string;
    };

export type FailedCheck = Exclude<CheckAnswer, { passed: true }>;

/**
 * Runs the `setup` commands in a folder that is new, has moved or was reset: once for each commit. `tries`: the number of the
 * task's attempt. The next attempt repeats a setup that failed, never one that passed.
 */
export async function setUp(
  ports: OperationPorts,
  folder: TaskFolder,
  { task, tries, wants = () => true, isProven = true }: SetupOrder,
): Promise<CommandsAnswer> {
  for (const [index, step] of setupOf(ports, folder, tries).entries()) {
    if (!wants(step) || step.earlier.some((id) => ports.checks.passed(id))) continue;
    const answer = await makeStep(ports, folder, { index, step, task, tries, commit: folder.base, isProven });
    if (!answer.ok) return answer;
  }
  return { ok: true };
}

interface SetupOrder {
  readonly task: string;
  readonly tries: number;
  /** Absent: all commands. */
  readonly wants?: (step: Pick<SetupStep, 'for' | 'reuse'>) => boolean;
  /** false: an agent works in this folder, and what it made of `reuse` paths between its turns stays. */
  readonly isProven?: boolean;
}

/** Makes the `reuse` paths of an agent's own folder again for the commands that check its commit, or finds them as they were. */
export async function renewMade(
  ports: OperationPorts,
  folder: TaskFolder,
  { task, tries, commit }: { readonly task: string; readonly tries: number; readonly commit: string },
): Promise<CommandsAnswer> {
  const { fresh: _, ...used } = folder;
  for (const [index, step] of setupOf(ports, { ...used, base: commit }, tries).entries()) {
    if (step.reuse === undefined) continue;
    const answer = await makeStep(ports, used, { index, step, task, tries, commit, isProven: true });
    if (!answer.ok) return answer;
  }
  return { ok: true };
}

interface StepOrder extends Pick<SetupOrder, 'task' | 'tries'> {
  readonly index: number;
  readonly step: ReturnType<typeof setupOf>[number];
  readonly commit: string;
  readonly isProven: boolean;
}

/** Runs a command of `setup`, or puts what it made before for the same content into the folder. */
async function makeStep(
  ports: OperationPorts,
  folder: TaskFolder,
  { index, step, task, tries, commit, isProven }: StepOrder,
): Promise<CommandsAnswer> {
  const { run, minutes, env, name } = step;
  let answer: CommandsAnswer = { ok: true };
  const make = async (): Promise<boolean> => {
    const id = `${name}-t${tries}`;
    const wallMs = Math.ceil(minutes * MINUTE);
    const workspace = async (): Promise<Workspace> => folder.workspace;
    const ran = await ports.checks.run({ id, task, command: run, workspace, wallMs, env, purpose: 'setup' });
    if (ran.passed) return true;
    const output = `The setup command ${describe(run, ran, outputPath(ports, id))}`;
    answer = { ok: false, ran: ran.why !== 'not-run', command: run, answer: ran, output };
    return false;
  };
  const reuse = await reuseOrder(ports, folder, { index, commit, isProven });
  if (reuse?.type !== 'order') await make();
  const made = reuse?.type === 'order' ? await ports.workspaces.reuseMade(folder, reuse.order, make) : undefined;
  const notKept = reuse?.type === 'none' ? reuse.why : made?.notKept;
  if (notKept !== undefined) ports.warn?.(`\`${run}\` runs in each folder: ${notKept}`);
  if (made?.type === 'put') ports.reused?.({ task, id: name, text: `\`${run}\` need not run: ${copied(step)}` });
  return answer;
}

function copied({ reuse }: Pick<SetupStep, 'reuse'>): string {
  return `${pathsOf(reuse).join(', ')} is a copy of what it made before`;
}

/** Whether `setup` has run there for this commit, or a part of it: `setUp` would leave that out. */
export function wasSetUp(ports: OperationPorts, folder: TaskFolder, tries: number): boolean {
  return setupOf(ports, folder, tries).some(({ earlier }) => earlier.some((id) => ports.checks.passed(id)));
}

/** Whether a `setup` command that an earlier engine began still has no result there. */
export function isSettingUp(ports: OperationPorts, folder: TaskFolder, tries: number): boolean {
  return setupOf(ports, folder, tries).some(({ earlier }) => earlier.some((id) => ports.checks.lives(id)));
}

/** A new or reset folder needs its setup again. */
function setupOf(ports: OperationPorts, { task, resetFor, remade, base }: TaskFolder, tries: number) {
  const mark = shortHash(`${task} ${resetFor ?? ''} ${remade ?? ''}`.trimEnd());
  return ports.definition.setup.map((step, index) => {
    const name = `setup-${mark}-${base.slice(0, 12)}-${index + 1}${amendedMark(ports, step.run)}`;
    return { ...step, name, earlier: Array.from({ length: tries }, (_, at) => `${name}-t${at + 1}`) };
  });
}

/** Runs one command to its end. Throws if it gave no result, because then the machine is at fault, not the work. */
export async function runCommand(ports: OperationPorts, order: CheckOrder): Promise<CheckAnswer> {
  const answer = await ports.checks.run(order);
  if (answer.passed || answer.why !== 'not-run') return answer;
  throw notRun(order.task, describe(order.command, answer));
}

export function notRun(task: string, output: string): SquadError {
  return new SquadError({
    code: 'wrong-environment',
    message: `a command for ${task} could not be run: ${output}`,
    next: 'See `squad doctor`, then `squad resume`.',
  });
}

/** A part of the check's id that makes a command from a reload a new check. */
export function amendedMark({ definition }: OperationPorts, command: string): string {
  return definition.began === undefined ? '' : `-${shortHash(command)}`;
}

/** Path of a check's whole output, from the repository's root; undefined if the check never began. */
function outputPath({ checks }: OperationPorts, id: string): string | undefined {
  const attempt = checks.attemptOf(id);
  return attempt === undefined ? undefined : `.squad/turns/${attempt}/stderr`;
}

const MOST_LINES = 3;
export const MOST_WORDS = 200;

/** Which command failed and how, and the path of its whole output. */
export function describe(command: string, answer: FailedCheck, path?: string): string {
  const where = path === undefined ? '' : ` (its whole output: ${path})`;
  // In long output, the line that says most comes first.
  const isLong = answer.output.trim().split('\n').length > MOST_LINES;
  const words = isLong ? ` ${mainLine(answer.output).slice(0, MOST_WORDS)}` : '';
  const how = isLong ? `:${words}${where}` : `${where}:`;
  return `\`${command}\` ${howItFailed(answer)}${how}\n${answer.output}`;
}

export function howItFailed(answer: FailedCheck): string {
  switch (answer.why) {
    case 'exit':
      return `exited with ${answer.code ?? 'a signal'}`;
    case 'wall':
      return 'reached its time limit';
    case 'flood':
      return 'reached its output limit';
    case 'not-run':
      return 'could not be run';
  }
}
