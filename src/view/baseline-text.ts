import { baselineCause, baselineQuestion, decideHold, isLeftOut, redCommands } from '../rules/baseline.ts';
import type { Board } from '../model/plan/board.ts';
import type { BaselineCommand, BaselineFacts } from '../model/plan/baseline.ts';
import { plainLine } from '../text/plain-text.ts';

/** A line for each command that fails on the base commit, except one that a question to a person names. */
export function baselineText(facts: BaselineFacts, board: Board): string[] {
  if (facts.problem !== undefined) return [`the base commit could not be checked: ${plainLine(facts.problem, 300)}`];
  const asked = baselineQuestion(board) === undefined ? undefined : decideHold(facts, board.facts);
  return facts.commands
    .filter((one) => !one.passed && one !== asked)
    .map(
      (one) =>
        `${one.purpose === 'criterion' ? 'cannot run yet' : 'red before the work'}: ${baselineCause(one, facts.commit)}${copyHint(one)}`,
    );
}

/** A file or variable that is not there, as programs say it; not a module, which `setup` installs. */
const NOT_THERE =
  /\.env\b|ENOENT|no such file or directory|(?:environment )?variable\S* .*(?:required|not set|missing|undefined)/i;

/** A new folder has no file that git ignores, and the checkout of the person does: the usual cause of what is red there alone. */
function copyHint({ purpose, words }: Pick<BaselineCommand, 'purpose' | 'words'>): string {
  if (purpose === 'criterion' || !NOT_THERE.test(words)) return '';
  return '. If it needs a file that git ignores, such as .env, name that in `copy` of squad.yaml';
}

type ComparedBoard = Pick<Board, 'baseline' | 'gate' | 'branch' | 'finished' | 'questions' | 'facts'>;

/** How the commands that failed on the base commit stand now, a line for each; empty if none failed there. */
export function comparedWithBaseline(board: ComparedBoard): string[] {
  const { baseline, gate, branch } = board;
  const now = gate.facts?.head === branch.head ? gate.facts.commands : [];
  // Its question says it.
  const asked =
    baseline.facts === null || baselineQuestion(board) === undefined
      ? undefined
      : decideHold(baseline.facts, board.facts);
  const red = redCommands(baseline).filter((one) => one !== asked);
  return red.map((one) => {
    const { run, purpose, words, how } = one;
    const name = `\`${plainLine(run, 120)}\``;
    const before = `${name} was red before the work (${purpose} ${how}: ${plainLine(words, 200)})`;
    if (isLeftOut(one, baseline)) return `${before}; ${baseline.without?.by ?? 'a person'} left it out`;
    const ran = now.find((other) => other.purpose === purpose && other.run === run);
    if (ran?.cannotRun !== undefined) return `${before} and cannot run now either`;
    if (ran !== undefined) return `${before} and is ${ran.passed ? 'green' : 'red'} now`;
    return board.finished?.why.includes(`\`${run}\``) === true ? `${before} and is red now` : before;
  });
}
