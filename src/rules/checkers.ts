import type { Board } from '../model/plan/board.ts';
import { checkerText, protectedCriteria, type CheckerChange, type CheckerWord } from '../model/plan/checker.ts';
import type { GateFacts } from '../model/plan/gate.ts';
import { wordOn } from './gate.ts';

/** Words of reviewers about changed checks. A later word of the same reviewer about a path replaces the earlier one. */
export function checkerWordsOf({ tasks }: Pick<Board, 'tasks'>): CheckerWord[] {
  const words = [...tasks.values()].flatMap(({ work }) => work.words ?? []);
  return words.filter(
    (word, index) => !words.slice(index + 1).some(({ path, by }) => path === word.path && by === word.by),
  );
}

/** Changes by the work to files that check it, as of the head of the run branch; empty if that head was not checked. */
export function checkerChangesOf({ facts, gate, branch }: Pick<Board, 'facts' | 'gate' | 'branch'>): CheckerChange[] {
  const seen = gate.facts?.head === branch.head ? gate.facts : null;
  if (seen === null) return [];
  const asked = protectedCriteria(seen.checkers).map(({ change }) => change);
  return (seen.checkers ?? []).map((change) => {
    const index = asked.indexOf(change);
    const said = index === -1 ? undefined : wordOn(facts.objective.criteria.length + index, seen, gate);
    return said?.verdict.met === true ? { ...change, accepted: [said.by ?? 'its judge'] } : change;
  });
}

/** The commands at the head of the run branch, with its checks as they were on the base commit; empty: they did not run so. */
export function checksAtBase({ gate, branch }: Pick<Board, 'gate' | 'branch'>): NonNullable<GateFacts['atBase']> {
  return gate.facts?.head === branch.head ? (gate.facts.atBase ?? []) : [];
}

/** A part of the closing word; undefined: they did not run so. */
export function atBaseText(ran: ReturnType<typeof checksAtBase>): string | undefined {
  if (ran.length === 0) return undefined;
  const failed = ran.filter(({ passed }) => !passed).map(({ run }) => `\`${run}\``);
  return `with the checks as they were at the base, ${failed.length === 0 ? 'all pass' : `${failed.join(', ')} fails`}`;
}

const MOST_NAMED = 3;

/** A part of the closing word; undefined: nothing was changed. */
export function checkersText(changes: readonly CheckerChange[]): string | undefined {
  if (changes.length === 0) return undefined;
  const named = changes.slice(0, MOST_NAMED).map(checkerText).join(', ');
  const more = changes.length > MOST_NAMED ? ` and ${changes.length - MOST_NAMED} more` : '';
  return `the work changed what checks it: ${named}${more}`;
}
