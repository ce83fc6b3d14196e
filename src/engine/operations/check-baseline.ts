import { cannotRun, isProgramMissing, mainLine } from '../../text/cannot-run.ts';
import type { Board } from '../../model/plan/board.ts';
import type { BaselineCommand, BaselineFacts } from '../../model/plan/baseline.ts';
import type { PlanNews } from '../../model/plan/event.ts';
import type { Workspace } from '../../model/turn-request.ts';
import { createCheckFolder, FolderLost, SetupFailed } from './check-folder.ts';
import { shortHash, type OperationPorts } from './operation-ports.ts';
import { hasBegun } from './run-checks.ts';
import { CRITERION_MS, howItFailed, MINUTE, runCommand, type FailedCheck } from './run-commands.ts';

/** The task of its attempts. */
export const BASELINE = 'baseline';
const MOST_OUTPUT = 1_500;

/** Runs `setup`, every command of `verify` and those of criteria that may not be able to run on the base commit, in a folder of their own, while the run is under way. */
export async function checkBaseline(
  ports: OperationPorts,
  board: Board,
): Promise<Extract<PlanNews, { type: 'baseline-checked' }>> {
  const commit = ports.definition.repository.base;
  try {
    return { type: 'baseline-checked', facts: { commit, commands: await runOnBase(ports, board, commit) } };
  } catch (error) {
    if (ports.fault === undefined) throw error;
    return { type: 'baseline-checked', facts: { commit, commands: [], problem: await ports.fault(error) } };
  }
}

async function runOnBase(
  ports: OperationPorts,
  { baseline, facts }: Pick<Board, 'baseline' | 'facts'>,
  commit: string,
): Promise<BaselineFacts['commands']> {
  const { workspaces, definition } = ports;
  const { tries } = baseline;
  const doubtful = facts.doubtful?.commands ?? [];
  // Not the ids of checks of a candidate: another try on the same commit has to run anew.
  const idOf = (run: string, index: number): string =>
    `baseline-${commit.slice(0, 12)}-${index + 1}-${shortHash(run)}-t${tries}`;
  const steps = [
    ...definition.verify.map(({ run, minutes, env }) => ({
      ...{ purpose: 'verify' as const, run, env },
      wallMs: minutes * MINUTE,
    })),
    ...doubtful.map((run) => ({ purpose: 'criterion' as const, run, env: undefined, wallMs: CRITERION_MS })),
  ];
  const [first] = steps;
  const checkFolder = createCheckFolder(ports, {
    ...{ task: BASELINE, tries, anew: false, goesOn: first !== undefined && hasBegun(ports, idOf(first.run, 0)) },
    open: async () => workspaces.baselineAt(definition.name, commit),
  });
  // A new folder will do here, because a result on the base is no verdict on work.
  const inNewFolder = async (error: unknown): Promise<Workspace> => {
    if (!(error instanceof FolderLost)) throw error;
    return checkFolder.ready('go');
  };
  const ran: BaselineCommand[] = [];
  try {
    if (first === undefined) await checkFolder.ready('go');
    for (const [index, { purpose, run, env, wallMs }] of steps.entries()) {
      // Later `verify` commands find what earlier ones built. A criterion runs by itself.
      const ignored = index > 0 && purpose === 'verify' ? 'stay' : 'go';
      const answer = await runCommand(ports, {
        ...{ id: idOf(run, index), task: BASELINE, command: run, purpose: 'verify' },
        workspace: async () => checkFolder.ready(ignored).catch(inNewFolder),
        ...{ env, wallMs: Math.ceil(wallMs) },
      });
      await checkFolder.bringBack(steps[index + 1]?.purpose === 'criterion' ? 'go' : 'stay');
      const one = answer.passed ? { ...PASSED, run } : failed(purpose, run, answer);
      // The work has to make criteria true, so one that is not true yet is no news.
      if (purpose === 'verify' || (!one.passed && one.cannotRun)) ran.push(one);
    }
  } catch (error) {
    if (!(error instanceof SetupFailed)) throw error;
    const { command, answer, output } = error.answer;
    return [{ ...failed('setup', command, answer), output: start(output) }];
  }
  return ran;
}

/** Says which command it was, and where all of its output is. */
function start(text: string): string {
  return text.slice(0, MOST_OUTPUT).toWellFormed();
}

const PASSED = { purpose: 'verify', passed: true, cannotRun: false, how: '', words: '', output: '' } as const;

function failed(purpose: BaselineCommand['purpose'], run: string, answer: FailedCheck): BaselineCommand {
  const code = answer.why === 'exit' ? answer.code : null;
  return {
    ...{ purpose, run, passed: false, how: howItFailed(answer) },
    cannotRun: answer.why === 'exit' && cannotRun(code, answer.output),
    ...(answer.why === 'exit' && isProgramMissing(run, code, answer.output) ? { noProgram: true } : {}),
    words: mainLine(answer.output).slice(0, 300),
    output: answer.output.slice(-MOST_OUTPUT).toWellFormed(),
  };
}
