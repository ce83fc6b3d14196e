import type { Board, Question, RunFacts } from '../model/plan/board.ts';
import type { Baseline, BaselineCommand, BaselineFacts } from '../model/plan/baseline.ts';
import { plainLine } from '../text/plain-text.ts';

export function newBaseline({ baseline, prepares, verifies, doubtful }: RunFacts): Baseline {
  const at = baseline !== undefined && (prepares === true || verifies || doubtful !== undefined) ? 'due' : 'off';
  return { at, tries: 1, facts: null, question: null, without: null };
}

/** Whether the engine has to check the base commit now. Once no task is open, its result would help no one. */
export function isBaselineDue({ baseline, finished, tasks }: Pick<Board, 'baseline' | 'finished' | 'tasks'>): boolean {
  return baseline.at === 'due' && finished === null && tasks.open.length > 0;
}

/** The open question about the base commit, which holds the run; undefined: none does. */
export function baselineQuestion({ baseline, questions }: Pick<Board, 'baseline' | 'questions'>): Question | undefined {
  const question = baseline.question === null ? undefined : questions.get(baseline.question);
  return question?.answer === null ? question : undefined;
}

/** The command that holds the run until a person answers: the first that cannot run, or with `green` that fails; undefined: none. */
export function decideHold(
  facts: BaselineFacts,
  { baseline }: Pick<RunFacts, 'baseline'>,
): BaselineCommand | undefined {
  const failed = facts.commands.filter(({ passed }) => !passed);
  const cannot = failed.find((one) => one.purpose === 'setup' || isBeyondWork(one));
  return cannot ?? (baseline === 'green' ? failed.find(({ purpose }) => purpose !== 'criterion') : undefined);
}

/** Whether it will not run either when the work is done. The script that a criterion names may be what the run is to make. */
export function isBeyondWork({ purpose, cannotRun, noProgram }: BaselineCommand): boolean {
  return cannotRun && (purpose !== 'criterion' || noProgram === true);
}

/** Whether a person said that this command is left out of the run. */
export function isLeftOut({ run }: { readonly run: string }, { without }: Pick<Baseline, 'without'>): boolean {
  return without?.commands.includes(run) === true;
}

/** One line: which command fails on the base, how, and in its own words. */
export function baselineCause({ purpose, run, how, words, cannotRun }: BaselineCommand, commit: string): string {
  const what = cannotRun ? `cannot run (it ${how})` : how;
  const at = `on ${commit.slice(0, 12)}, the commit that the run begins from`;
  return `${purpose}: \`${plainLine(run, 120)}\` ${what} ${at}: ${plainLine(words, 200)}`;
}

/** Commands that failed on the base commit. Prompts, status and the report name them. */
export function redCommands({ facts }: Pick<Baseline, 'facts'>): readonly BaselineCommand[] {
  return facts === null ? [] : facts.commands.filter(({ passed }) => !passed);
}
