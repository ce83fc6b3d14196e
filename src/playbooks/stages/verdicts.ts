import type { PlanChange } from '../../model/plan/change.ts';
import { normaliseFindings } from '../../model/plan/review.ts';
import { defined } from '../../text/defined.ts';
import { verdictSchema, type VerdictAnswer } from './answers.ts';
import type { Stage } from './stage-list.ts';
import type { Placed, Scene, StageProgress } from './stage-progress.ts';
import { roundsOf, type JudgeFinding, type StageRound } from './stage-records.ts';

/** The verdict of one judge in one pass. */
export interface Verdict {
  readonly role: string;
  readonly agent: string;
  readonly approved: boolean;
  readonly summary: string;
  readonly findings: readonly JudgeFinding[];
}

/** A person who says that such a task is done approves, whatever its judge said. */
export function verdictOf({ role = '', state }: Placed): Verdict {
  const agent = state.doneBy ?? role;
  const answer = verdictSchema.safeParse(state.answer).data;
  if (answer === undefined || state.acceptedBy !== undefined)
    return { role, agent, approved: true, summary: '', findings: [] };
  const findings = findingsIn(answer, role);
  const approved = answer.approved && findings.length === 0;
  const reason = { file: null, line: null, problem: answer.summary, suggestion: null, by: role };
  return {
    role,
    agent,
    approved,
    summary: answer.summary,
    findings: approved || findings.length > 0 ? findings : [reason],
  };
}

/** Required changes: the findings of a rejection, and each criterion that is not met. */
function findingsIn({ approved, findings, criteria }: VerdictAnswer, by: string): JudgeFinding[] {
  const unmet = criteria.filter(({ met }) => !met);
  return [
    ...(approved ? [] : findings.map((finding) => ({ ...finding, by }))),
    ...unmet.map(({ criterion, file, line, why }) => {
      return { file, line, problem: `criterion ${criterion} is not met: ${why}`, suggestion: null, by };
    }),
  ];
}

/** The verdicts on criteria that no command checks. The engine knows whether they count. */
export function criteriaIn({ objective }: Scene, { state: { id: task, answer } }: Placed): PlanChange[] {
  const { criteria = [] } = verdictSchema.safeParse(answer).data ?? {};
  const isOpen = (index: number): boolean =>
    objective.criteria[index] !== undefined && objective.criteria[index].command === undefined;
  return criteria
    .filter(({ criterion }) => isOpen(criterion))
    .map((verdict) => ({ do: 'judge-criterion', task, ...verdict }));
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
