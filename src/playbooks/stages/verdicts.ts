import { z } from 'zod';
import type { AnswerFinding, AnswerForm, AnswerReading, PlaybookSource, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { criterionLabel, judgeWordSchema, verdictsIn } from '../../model/plan/gate.ts';
import { normaliseFindings } from '../../model/plan/review.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { defined } from '../../text/defined.ts';
import { answerSchema } from '../shared/tasks.ts';
import type { Stage } from './stage-list.ts';
import type { Placed, Scene, StageProgress } from './stage-progress.ts';
import { roundsOf, type JudgeFinding, type StageRound } from './stage-records.ts';

const verdictSchema = z.object({
  approved: z.boolean().describe('true only if nothing has to change'),
  summary: z.string().describe('your verdict in a sentence'),
  findings: z
    .array(
      z.object({
        file: z.string().nullable().describe('null: it is about no file'),
        line: z.number().int().nullable().describe('null: it is about no line'),
        problem: z.string().describe('what is wrong'),
        suggestion: z.string().nullable().describe('what would be right; null if you have none'),
      }),
    )
    .describe('what has to change; a rejection needs at least one'),
  criteria: z.array(judgeWordSchema).describe('one for each criterion that no command checks'),
});

/** The form in which a stage judges. */
export const VERDICT: AnswerForm = { schema: answerSchema(verdictSchema), guide, read: readVerdict };

function guide({ objective, prompts }: Omit<PlaybookSource, 'options'>): string {
  const criteria = objective.criteria.flatMap(({ text, command }, index) =>
    command === undefined ? [`${criterionLabel(index)}: ${text}`] : [],
  );
  return renderPrompt('stage/verdict', { criteria }, prompts);
}

/** Each criterion that is not met is a required change. The engine knows whether a verdict on a criterion counts. */
function readVerdict({ objective }: View, answer: unknown, task: string): AnswerReading {
  const said = verdictSchema.safeParse(answer).data;
  if (said === undefined) return { problems: ['this is no verdict'] };
  const { approved, summary } = said;
  const criteria = verdictsIn(said.criteria);
  const unmet = criteria
    .filter(({ met }) => !met)
    .map(({ criterion, evidence, why }): AnswerFinding => {
      const { file, line } = evidence !== null && 'quote' in evidence ? evidence : { file: null, line: null };
      return { file, line, problem: `criterion ${criterionLabel(criterion)} is not met: ${why}`, suggestion: null };
    });
  const isOpen = (index: number): boolean =>
    objective.criteria[index] !== undefined && objective.criteria[index].command === undefined;
  return {
    verdict: { approved, summary, findings: [...(approved ? [] : said.findings), ...unmet] },
    changes: criteria
      .filter(({ criterion }) => isOpen(criterion))
      .map((verdict) => ({ do: 'judge-criterion', task, ...verdict })),
  };
}

/** The verdict of one judge in one pass. */
export interface Verdict {
  readonly role: string;
  readonly agent: string;
  readonly approved: boolean;
  readonly summary: string;
  readonly findings: readonly JudgeFinding[];
}

/** A person who says that such a task is done approves, whatever its judge said. */
export function verdictOf(view: View, form: AnswerForm | undefined, { role = '', state }: Placed): JudgedAnswer {
  const agent = state.doneBy ?? role;
  const reading = state.answer === undefined ? {} : (form?.read?.(view, state.answer, state.id) ?? {});
  const { verdict, changes = [] } = reading.problems === undefined ? reading : {};
  if (verdict === undefined || state.acceptedBy !== undefined)
    return { verdict: { role, agent, approved: true, summary: '', findings: [] }, changes };
  const findings = verdict.findings.map((finding) => ({ ...finding, by: role }));
  const { summary } = verdict;
  const approved = verdict.approved && findings.length === 0;
  const reason = { file: null, line: null, problem: summary, suggestion: null, by: role };
  const found = approved || findings.length > 0 ? findings : [reason];
  return { verdict: { role, agent, approved, summary, findings: found }, changes };
}

interface JudgedAnswer {
  readonly verdict: Verdict;
  /** Those of its form. */
  readonly changes: readonly PlanChange[];
}

export function roundFrom(
  scene: Scene,
  { stage, pass }: StageProgress,
  verdicts: readonly Verdict[],
  approved: boolean,
  entry?: string,
): StageRound {
  const before = rejectionsOf(scene, stage).filter((round) =>
    entry === undefined ? round.pass !== pass.pass : round.pass === pass.pass && round.entry === entry,
  );
  const findings = onceEach(verdicts.flatMap((verdict) => (verdict.approved ? [] : verdict.findings)));
  const last = before.at(-1);
  const isSame = last !== undefined && textOf(findings) !== '' && textOf(last.findings) === textOf(findings);
  return {
    stage: stage.id,
    pass: pass.pass,
    ...defined({ entry }),
    round: before.length + 1,
    approved,
    by: verdicts.map(({ role, agent, approved: yes }) => ({ role, agent, approved: yes })),
    summary: verdicts
      .map(({ summary }) => summary)
      .filter((text) => text !== '')
      .join('\n'),
    findings,
    converging: approved || !isSame,
  };
}

/** Merges equal findings of several judges into one that names them all. */
function onceEach(findings: readonly JudgeFinding[]): JudgeFinding[] {
  const found = new Map<string, JudgeFinding>();
  for (const finding of findings) {
    const key = `${finding.line ?? ''} ${textOf([finding])}`;
    const before = found.get(key);
    const by = before === undefined ? finding.by : `${before.by}, ${finding.by}`;
    found.set(key, { ...(before ?? finding), by });
  }
  return [...found.values()];
}

function rejectionsOf(scene: Scene, { id }: Stage): readonly StageRound[] {
  return roundsOf(scene, id).filter(({ approved }) => !approved);
}

function textOf(findings: readonly JudgeFinding[]): string {
  return normaliseFindings(findings.map(({ file, problem }) => `${file ?? ''} ${problem}`)).join('\n');
}
