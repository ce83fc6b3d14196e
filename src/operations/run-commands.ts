import type { CheckAnswer } from '../checks/run-checks.ts';
import { mainLine } from '../text/cannot-run.ts';
import { isLeftOut } from '../graph/decisions/baseline.ts';
import { SquadError } from '../model/errors.ts';
import type { Baseline } from '../model/plan/baseline.ts';
import type { GateFacts } from '../model/plan/gate.ts';
import type { TaskFolder } from '../substrate/ports/workspaces.ts';
import { shortHash, type OperationPorts } from './operation-ports.ts';

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
  task: string,
  tries: number,
): Promise<CommandsAnswer> {
  const { checks, definition } = ports;
  const { resetFor = '', remade = '' } = folder;
  // A new or reset folder needs its setup again.
  const mark = shortHash(`${folder.task} ${resetFor} ${remade}`.trimEnd());
  for (const [index, step] of definition.setup.entries()) {
    const name = `setup-${mark}-${folder.base.slice(0, 12)}-${index + 1}${amendedMark(ports, step.run)}`;
    const earlier = Array.from({ length: tries }, (_, at) => `${name}-t${at + 1}`);
    if (earlier.some((id) => checks.passed(id))) continue;
    const answer = await checks.run({
      id: `${name}-t${tries}`,
      task,
      command: step.run,
      workspace: folder.workspace,
      wallMs: Math.ceil(step.minutes * MINUTE),
      purpose: 'setup',
    });
    if (!answer.passed) {
      const output = `The setup command ${describe(step.run, answer, outputPath(ports, `${name}-t${tries}`))}`;
      return { ok: false, ran: answer.why !== 'not-run', command: step.run, answer, output };
    }
  }
  return { ok: true };
}

/** Runs the `verify` commands on a commit, after its own setup, until one fails. A command that already ran there keeps its result. */
export async function runVerify(
  ports: OperationPorts,
  folder: TaskFolder,
  { task, baseline }: { readonly task: string; readonly baseline: Pick<Baseline, 'without'> },
  candidate: string,
): Promise<GateFacts['commands']> {
  const ready = await setUp(ports, { ...folder, base: candidate }, task, 1);
  if (!ready.ok && !ready.ran) throw notRun(task, ready.output);
  if (!ready.ok) return [{ purpose: 'setup', run: ready.command, passed: false, output: ready.output }];
  const ran: GateFacts['commands'] = [];
  for (const [index, step] of ports.definition.verify.entries()) {
    if (isLeftOut(step, baseline)) continue;
    const answer = await runCommand(ports, {
      id: `verify-${candidate.slice(0, 12)}-${index + 1}${amendedMark(ports, step.run)}`,
      task,
      command: step.run,
      folder,
      wallMs: Math.ceil(step.minutes * MINUTE),
      purpose: 'verify',
    });
    ran.push({
      purpose: 'verify',
      run: step.run,
      passed: answer.passed,
      output: answer.passed ? '' : describe(step.run, answer),
    });
    if (!answer.passed) break;
  }
  return ran;
}

/** Runs one command to its end. Throws if it gave no result, because then the machine is at fault, not the work. */
export async function runCommand(
  ports: OperationPorts,
  order: {
    id: string;
    task: string;
    command: string;
    folder: TaskFolder;
    wallMs: number;
    purpose: 'evidence' | 'verify';
  },
): Promise<CheckAnswer> {
  const { id, task, command, folder, wallMs, purpose } = order;
  const answer = await ports.checks.run({ id, task, command, workspace: folder.workspace, wallMs, purpose });
  if (answer.passed || answer.why !== 'not-run') return answer;
  throw notRun(task, describe(command, answer));
}

export function notRun(task: string, output: string): SquadError {
  return new SquadError({
    code: 'wrong-environment',
    message: `a command for ${task} could not be run: ${output}`,
    next: 'See `squad doctor`, then `squad resume`.',
  });
}

/** A part of the check's id that makes a command from a reload a new check. */
function amendedMark({ definition }: OperationPorts, command: string): string {
  return definition.began === undefined ? '' : `-${shortHash(command)}`;
}

/** Path of a check's whole output, from the repository's root; undefined if the check never began. */
function outputPath({ checks }: OperationPorts, id: string): string | undefined {
  const attempt = checks.attemptOf(id);
  return attempt === undefined ? undefined : `.squad/turns/${attempt}/stderr`;
}

const MOST_LINES = 3;
const MOST_WORDS = 200;

/** Which command failed and how, and the path of its whole output. */
export function describe(command: string, answer: FailedCheck, path?: string): string {
  const where = path === undefined ? '' : ` (its whole output: ${path})`;
  // Of a long output, the line that says most comes first.
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
