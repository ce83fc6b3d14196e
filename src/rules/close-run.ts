import type { GateFacts } from '../model/plan/gate.ts';
import type { Draft } from './board.ts';
import { checkerText, protectedCriteria } from '../model/plan/checker.ts';
import { notesIn, noting } from './check-notes.ts';
import { addEngineTask, finishFailed } from './finish.ts';
import { judgeTask, leftToJudge, pickJudge, problemsOf } from './gate.ts';
import { findForeign } from './run-branch.ts';
import { defined } from '../text/defined.ts';

/** Applies the check of the run branch: the run ends, a reviewer judges the criteria without a command, or more work follows. */
export function gateChecked(draft: Draft, facts: GateFacts): void {
  const { gate, branch } = draft;
  // The check is out of date. The engine checks again.
  if (gate.at !== 'checking' || draft.finished !== null || facts.expected !== branch.head) return;
  if (facts.head !== branch.head) return findForeign(draft, facts.head);
  const { criteria } = draft.facts.objective;
  const before = gate.facts;
  draft.gate = noting({ ...gate, facts }, notesIn(facts.commands));
  if (facts.missing.length > 0) {
    return finishFailed(draft, `delivered work is missing from the run branch: ${facts.missing.join(', ')}`);
  }
  const problems = problemsOf(facts, gate, criteria);
  if (problems.length > 0) return refuse(draft, problems, gate.refused > 0 && before?.head === facts.head);
  const { problems: _, ...sound } = draft.gate;
  draft.gate = sound;
  const left = leftToJudge(facts, gate, criteria);
  const judge = left.length > 0 ? pickJudge(draft) : undefined;
  if (judge === undefined) {
    draft.finished = { outcome: 'done', why: gate.why, ...defined({ remarks: gate.remarks }) };
    draft.gate = { ...draft.gate, at: 'idle' };
    return;
  }
  const changes = protectedCriteria(facts.checkers).map(
    ({ text, change }) => `${text} (${checkerText(change)}; see \`git diff ${draft.facts.base} ${facts.head}\`)`,
  );
  const id = addEngineTask(draft, 'judge', (name) =>
    judgeTask(name, judge, criteria, left, { changes, ...defined({ prompts: draft.facts.prompts }) }),
  );
  draft.gate = { ...draft.gate, at: 'judging', judge: id };
}

/** Reports the problems to the playbook, as long as a repair can change the result. */
function refuse(draft: Draft, problems: readonly string[], unchanged: boolean): void {
  const refused = draft.gate.refused + 1;
  draft.gate = { ...draft.gate, at: 'idle', refused, problems: { at: draft.now, texts: problems } };
  if (unchanged || refused > draft.facts.limits.rounds) return finishFailed(draft, problems.join('\n'));
  draft.news.push({ type: 'gate-refused', refused, problems: [...problems] });
}
