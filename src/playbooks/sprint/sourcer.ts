import type { TaskView, View } from '../../model/plan.ts';
import { candidatesFor } from '../../model/sprint/candidates.ts';
import type { Finding } from '../../model/sprint/finding.ts';
import type { ReviewOptions } from '../../model/sprint/options.ts';
import { sourcerAnswerSchema, type SourcerAnswer } from '../../model/sprint/sourcer-answer.ts';
import { fenceTag } from '../../text/fence.ts';
import { plainLine, quotedName } from '../../text/plain-text.ts';
import type { StageForm } from '../stages/stage-options.ts';
import { stageTask } from '../stages/stage-records.ts';
import { checkedForm, saidProblems } from './forms.ts';
import { stageAnswer } from './chains.ts';
import { PLANS, SOURCE } from './review-list.ts';

const MOST_TEXT = 40_000;

export function candidatesForm({ findings }: ReviewOptions): StageForm {
  const ids = new Set(findings.map(({ id }) => id));
  return checkedForm(sourcerAnswerSchema, (_, answer) => ({
    problems: problemsOf(ids, answer),
    summary: answer.summary,
  }));
}

/** Each finding is in one candidate or more, or dismissed, and none is made up. One that could not look owes none. */
function problemsOf(ids: ReadonlySet<string>, answer: SourcerAnswer): string[] {
  const { candidates, dismissed } = answer.proposals;
  const used = new Set(candidates.flatMap(({ findings }) => findings));
  const left = new Set(dismissed.map(({ finding }) => finding));
  const owed = answer.status === 'failed' ? [] : [...ids];
  return [
    ...saidProblems(answer, ['sourcer']),
    ...[...new Set([...used, ...left])].flatMap((id) => (ids.has(id) ? [] : [`there is no finding ${quotedName(id)}`])),
    ...owed.flatMap((id) =>
      used.has(id) || left.has(id) ? [] : [`the finding ${quotedName(id)} is in no candidate, and not dismissed`],
    ),
    ...[...left].flatMap((id) =>
      used.has(id) ? [`the finding ${quotedName(id)} is in a candidate, and dismissed`] : [],
    ),
  ];
}

type Suggested = SourcerAnswer['proposals'] & Pick<NonNullable<Finding['candidate']>, 'by'>;

/** By the sourcer or, where none took part or it failed, by squad’s rule. */
function suggested({ findings }: ReviewOptions, view: View): Suggested {
  const answer = sourcerAnswerSchema.safeParse(stageAnswer(view, SOURCE)).data;
  if (answer?.status === 'completed') return { by: 'sourcer', ...answer.proposals };
  const candidates = candidatesFor(findings).map(({ finding, ...one }) => {
    return { ...one, findings: [finding], acceptance: [], why: '' };
  });
  return { by: 'rule', candidates, dismissed: [] };
}

/** The candidates with which the planner begins, by finding; null: the sourcer would make nothing of it. */
export function candidatesIn(
  options: ReviewOptions,
  view: View,
): ReadonlyMap<string, NonNullable<Finding['candidate']> | null> {
  const { by, candidates, dismissed } = suggested(options, view);
  const made = candidates.flatMap(({ findings, title, kind, priority }) =>
    findings.map((finding) => [finding, { by, title, kind, priority }] as const),
  );
  return new Map([...dismissed.map(({ finding }) => [finding, null] as const), ...made]);
}

/** For the planner, which reviews them. */
export function backgroundOfPlans(options: ReviewOptions, view: View, { id }: Pick<TaskView, 'id'>): string {
  if (options.findings.length === 0 || stageTask(view, id)?.stage !== PLANS) return '';
  const { by, candidates, dismissed } = suggested(options, view);
  const lines = [
    ...candidates.flatMap(({ findings, title, kind, priority, acceptance, why }) => [
      `- ${findings.join(', ')}: ${kind}, priority ${priority}: ${plainLine(title)}`,
      ...acceptance.map((one) => `  acceptance: ${plainLine(one, 500)}`),
      ...(why.trim() === '' ? [] : [`  why: ${plainLine(why, 1_000)}`]),
    ]),
    ...dismissed.map(({ finding, reason }) => `- ${finding}: nothing: ${plainLine(reason, 1_000)}`),
  ];
  return fenceTag(`candidates-by-${by === 'rule' ? 'squad' : 'the-sourcer'}`, lines.join('\n'), MOST_TEXT);
}
