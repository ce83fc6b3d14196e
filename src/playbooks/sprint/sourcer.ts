import type { TaskView, View } from '../../model/plan.ts';
import { candidatesFor } from '../../model/sprint/candidates.ts';
import type { Finding } from '../../model/sprint/finding.ts';
import type { ReviewOptions } from '../../model/sprint/options.ts';
import { sourcerAnswerSchema, type SourcerAnswer } from '../../model/sprint/sourcer-answer.ts';
import { renderPrompt, type ChangedPrompts } from '../../prompts/render.ts';
import { fenceTag } from '../../text/fence.ts';
import { plainLine, quotedName } from '../../text/plain-text.ts';
import type { StageForm } from '../stages/stage-options.ts';
import type { Stage } from '../stages/stage-list.ts';
import { stageTask } from '../stages/stage-records.ts';
import { checkedForm, saidProblems } from './forms.ts';
import { stageTasksOf } from './todo-tasks.ts';

const SOURCE = 'SOURCE';
export const PLANS = 'PLAN_REQUESTS';
const MOST_TEXT = 40_000;

/** An agent makes candidates of findings. If it fails, squad's rule does. */
export function sourceStage(found: string, prompts?: ChangedPrompts): Stage {
  return {
    ...{ id: SOURCE, title: 'Make candidates', by: ['sourcer'], onFail: 'skip' },
    brief: renderPrompt('sprint/source', { found }, prompts).replaceAll('{', '{{'),
    makes: { answer: 'candidates' },
  };
}

export function candidatesForm({ findings }: ReviewOptions): StageForm {
  const ids = new Set(findings.map(({ id }) => id));
  return checkedForm(sourcerAnswerSchema, (_, answer) => {
    const problems = problemsOf(ids, answer);
    return problems.length > 0 ? { problems } : { summary: answer.summary };
  });
}

/** Each finding is in one candidate or more, or dismissed, and none is made up. One that could not look owes none. */
function problemsOf(ids: ReadonlySet<string>, answer: SourcerAnswer): string[] {
  const {
    status,
    proposals: { candidates, dismissed },
  } = answer;
  const used = new Set(candidates.flatMap(({ findings }) => findings));
  const left = dismissed.map(({ finding }) => finding);
  return [
    ...saidProblems(answer, ['sourcer']),
    ...[...new Set([...used, ...left])].flatMap((id) => (ids.has(id) ? [] : [`there is no finding ${quotedName(id)}`])),
    ...(status === 'failed' ? [] : [...ids]).flatMap((id) =>
      used.has(id) || left.includes(id) ? [] : [`the finding ${quotedName(id)} is in no candidate, and not dismissed`],
    ),
    ...[...new Set(left)].flatMap((id) =>
      used.has(id) ? [`the finding ${quotedName(id)} is in a candidate, and dismissed`] : [],
    ),
    ...candidates.flatMap(({ title }, index) => (title.trim() === '' ? [`candidate ${index + 1} has no title`] : [])),
  ];
}

/** undefined: no sourcer took part, or it failed. */
function answered(view: View): SourcerAnswer | undefined {
  const task = stageTasksOf(view, SOURCE).findLast(({ status }) => status === 'done');
  const answer = sourcerAnswerSchema.safeParse(task?.answer).data;
  return answer?.status === 'completed' ? answer : undefined;
}

/** The candidates with which the planner begins, by finding; null: the sourcer would make nothing of it. */
export function candidatesIn(
  { findings }: ReviewOptions,
  view: View,
): ReadonlyMap<string, NonNullable<Finding['candidate']> | null> {
  const proposals = answered(view)?.proposals;
  if (proposals === undefined) {
    return new Map(candidatesFor(findings).map(({ finding, ...one }) => [finding, { by: 'rule' as const, ...one }]));
  }
  const made = proposals.candidates.flatMap(({ findings: of, title, kind, priority }) =>
    of.map((finding) => [finding, { by: 'sourcer' as const, title, kind, priority }] as const),
  );
  return new Map([...proposals.dismissed.map(({ finding }) => [finding, null] as const), ...made]);
}

/** For the planner, which reviews them. */
export function backgroundOfPlans(options: ReviewOptions, view: View, { id }: Pick<TaskView, 'id'>): string {
  if (options.findings.length === 0 || stageTask(view, id)?.stage !== PLANS) return '';
  const answer = answered(view);
  const lines =
    answer === undefined
      ? candidatesFor(options.findings).map(
          ({ finding, title, kind, priority }) => `- ${finding}: ${kind}, priority ${priority}: ${plainLine(title)}`,
        )
      : [
          ...answer.proposals.candidates.flatMap(({ findings, title, kind, priority, acceptance, why }) => [
            `- ${findings.join(', ')}: ${kind}, priority ${priority}: ${plainLine(title)}`,
            ...acceptance.map((one) => `  acceptance: ${plainLine(one, 500)}`),
            ...(why.trim() === '' ? [] : [`  why: ${plainLine(why, 1_000)}`]),
          ]),
          ...answer.proposals.dismissed.map(
            ({ finding, reason }) => `- ${finding}: nothing: ${plainLine(reason, 1_000)}`,
          ),
        ];
  return fenceTag(`candidates-by-${answer === undefined ? 'squad' : 'the-sourcer'}`, lines.join('\n'), MOST_TEXT);
}
