import type { CheckAnswer } from '../checks/run-checks.ts';
import { isLeftOut } from '../../rules/baseline.ts';
import type { Baseline } from '../../model/plan/baseline.ts';
import type { CheckFacts, GateFacts } from '../../model/plan/gate.ts';
import { cannotRun, mainLine } from '../../text/cannot-run.ts';
import { defined } from '../../text/defined.ts';
import { FolderLost, SetupFailed, type CheckFolder } from './check-folder.ts';
import type { OperationPorts } from './operation-ports.ts';
import { amendedMark, describe, MINUTE, MOST_WORDS, runCommand } from './run-commands.ts';

interface CheckStep {
  /** The id of the first run. Later ones end in `-x2` and `-x3`; after a new start in a new folder, in `-n1` and so on. */
  readonly id: string;
  readonly task: string;
  readonly run: string;
  readonly wallMs: number;
  readonly env?: readonly string[] | undefined;
  readonly purpose: 'evidence' | 'verify';
}

/** Runs a command by itself until it passes, at most so often. Throws `SetupFailed`. */
export async function runCheck(
  ports: OperationPorts,
  checkFolder: CheckFolder,
  step: CheckStep,
  most: number,
): Promise<CheckFacts> {
  for (let run = 1; ; run += 1) {
    const own = { ...step, id: runId(step.id, run) };
    const facts = await runStep(ports, checkFolder, own, { before: 'go', after: () => 'go' });
    if (facts.passed || run >= most) return run > 1 && facts.passed ? { ...facts, flaky: true } : facts;
  }
}

interface Turn {
  /** Whether ignored files of the command before and of this one stay. */
  readonly before: 'stay' | 'go';
  readonly after: (passed: boolean) => 'stay' | 'go';
}

async function runStep(
  ports: OperationPorts,
  checkFolder: CheckFolder,
  step: CheckStep,
  turn: Turn,
): Promise<CheckFacts> {
  const { id, task, run, wallMs, env, purpose } = step;
  const answer = await runCommand(ports, {
    ...{ id, task, wallMs, env, purpose },
    command: run,
    workspace: async () => checkFolder.ready(turn.before),
  });
  const changed = await checkFolder.bringBack(turn.after(answer.passed));
  const output = answer.passed ? answer.output : describe(run, answer);
  return { run, passed: answer.passed, output, ...defined({ changed, cannotRun: whyNotRun(answer) }) };
}

/** undefined: it could run. */
function whyNotRun(answer: CheckAnswer): string | undefined {
  if (answer.passed || answer.why !== 'exit' || !cannotRun(answer.code, answer.output)) return undefined;
  return mainLine(answer.output).slice(0, MOST_WORDS);
}

function runId(id: string, run: number): string {
  return run === 1 ? id : `${id}-x${run}`;
}

/** Whether a check has begun, in this engine or an earlier one. */
export function hasBegun({ checks }: OperationPorts, id: string, run = 1): boolean {
  return checks.attemptOf(runId(id, run)) !== undefined;
}

interface VerifyOrder {
  readonly task: string;
  readonly baseline: Pick<Baseline, 'without'>;
  readonly commit: string;
  /** Begins the ids of its checks. */
  readonly name: 'verify' | 'gate';
  /** The numbers of the runs that are due, if it does not pass before. */
  readonly runs: { readonly first: number; readonly last: number };
}

/**
 * Runs the `verify` commands on a commit, in their order, until one fails: each one finds what the ones before have built. If one
 * fails, all run again until they pass or their runs are used up.
 */
export async function runVerify(
  ports: OperationPorts,
  checkFolder: CheckFolder,
  order: VerifyOrder,
): Promise<GateFacts['commands']> {
  const { first, last } = order.runs;
  const failed = new Set<string>();
  for (let run = first; ; run += 1) {
    const ran = await runInOrder(ports, checkFolder, verifySteps(ports, order), run);
    const bad = ran.find(({ passed }) => !passed);
    if (bad === undefined) return ran.map((one) => (failed.has(one.run) ? { ...one, flaky: true } : one));
    if (bad.purpose === 'setup' || run >= last) return ran;
    failed.add(bad.run);
    checkFolder.spoil();
  }
}

/** Counts also a run that an earlier engine began. */
export function hasVerifyBegun(ports: OperationPorts, order: Omit<VerifyOrder, 'runs'>, run = 1): boolean {
  const [first] = verifySteps(ports, order);
  return first !== undefined && hasBegun(ports, first.id, run);
}

function verifySteps(
  ports: OperationPorts,
  { task, name, commit, baseline }: Omit<VerifyOrder, 'runs'>,
): readonly CheckStep[] {
  return ports.definition.verify.flatMap((step, index): CheckStep[] => {
    if (isLeftOut(step, baseline)) return [];
    const id = `${name}-${commit.slice(0, 12)}-${index + 1}${amendedMark(ports, step.run)}`;
    const { run, env } = step;
    return [{ id, task, run, env, wallMs: Math.ceil(step.minutes * MINUTE), purpose: 'verify' }];
  });
}

/** From the first command on again if what the ones before have built is gone. */
async function runInOrder(
  ports: OperationPorts,
  checkFolder: CheckFolder,
  steps: readonly CheckStep[],
  run: number,
): Promise<GateFacts['commands']> {
  const anew = (times: number): CheckStep[] =>
    steps.map((step) => ({ ...step, id: times === 0 ? runId(step.id, run) : `${runId(step.id, run)}-n${times}` }));
  let times = 0;
  while (anew(times + 1).some(({ id }) => hasBegun(ports, id))) times += 1;
  for (; ; times += 1) {
    try {
      return await runOnce(ports, checkFolder, anew(times));
    } catch (error) {
      if (!(error instanceof FolderLost)) return [setupFacts(error)];
    }
  }
}

async function runOnce(
  ports: OperationPorts,
  checkFolder: CheckFolder,
  steps: readonly CheckStep[],
): Promise<GateFacts['commands']> {
  const ran: GateFacts['commands'] = [];
  for (const [index, step] of steps.entries()) {
    const isLast = index === steps.length - 1;
    const after = (passed: boolean): 'stay' | 'go' => (passed && !isLast ? 'stay' : 'go');
    const facts = await runStep(ports, checkFolder, step, { before: index === 0 ? 'go' : 'stay', after });
    ran.push({ purpose: 'verify', ...facts, output: facts.passed ? '' : facts.output });
    if (!facts.passed) break;
  }
  return ran;
}

/** Throws what is no `SetupFailed`. */
export function setupFacts(thrown: unknown): GateFacts['commands'][number] {
  if (!(thrown instanceof SetupFailed)) throw thrown;
  const { command, output } = thrown.answer;
  return { purpose: 'setup', run: command, passed: false, output };
}
