import type { PlanChange } from '../../model/plan/change.ts';
import { normaliseFindings } from '../../model/plan/review.ts';
import { failRun } from '../shared/tasks.ts';
import { verdictSchema, type VerdictAnswer } from './answers.ts';
import { authorsOf } from './judge-tasks.ts';
import { cascadeOf } from './end-run.ts';
import { targetOf, wayBetween } from './list-facts.ts';
import { findingLines } from './stage-brief.ts';
import type { Stage, StageList } from './stage-list.ts';
import type { Placed, Scene, StageProgress } from './stage-progress.ts';
import { passOf, putPass, putRound, roundsOf, type JudgeFinding, type StageRound } from './stage-records.ts';

interface Verdict {
  readonly role: string;
  readonly agent: string;
  readonly approved: boolean;
  readonly summary: string;
  readonly findings: readonly JudgeFinding[];
}

/** What follows from verdicts that have had no effect yet: a stage is approved, or work goes back. */
export function decideRounds(scene: Scene, list: StageList, progress: readonly StageProgress[]): PlanChange[] {
  return progress.flatMap((one) => {
    if (one.stage.judges === undefined || !isUndecided(scene, one)) return [];
    const { agents } = authorsOf(one.stage, progress);
    const own = one.tasks.find(({ state: { doneBy, status } }) => status === 'done' && agents.has(doneBy ?? ''));
    if (own !== undefined) return [takenBack(own)];
    const done = one.tasks.filter(({ state: { status } }) => status === 'done');
    const verdicts = done.map(verdictOf);
    const judged = done.flatMap((task) => criteriaIn(scene, task));
    const isApproved = verdicts.every(({ approved }) => approved);
    const then = isApproved
      ? [putRound(roundFrom(scene, one, verdicts, true))]
      : rejected(scene, list, { judge: one, progress }, verdicts);
    return [...judged, ...then];
  });
}

/** A check that failed on the way to a judge is a rejection without a verdict. */
export function decideFailedChecks(scene: Scene, list: StageList, progress: readonly StageProgress[]): PlanChange[] {
  return progress.flatMap((one) => {
    const { stage, tasks, state } = one;
    if (!('checks' in stage.makes) || state !== 'failed' || tasks.some((task) => task.state.cause !== 'verify'))
      return [];
    const judge = judgeOf(list, stage, progress);
    if (judge === undefined) return [];
    const problem = tasks.map((task) => task.state.why ?? 'a command fails').join('\n');
    const finding = { file: null, line: null, problem, suggestion: null, by: 'engine' };
    const summary = `${stage.id} failed`;
    return rejected(scene, list, { judge, progress }, [
      { role: 'engine', agent: 'engine', approved: false, summary, findings: [finding] },
    ]);
  });
}

/** The first stage whose rejection runs this one again. */
function judgeOf(list: StageList, stage: Stage, progress: readonly StageProgress[]): StageProgress | undefined {
  return progress.find(({ stage: judge }) => {
    const target = targetOf(judge);
    return (
      target !== undefined &&
      judge.id !== stage.id &&
      wayBetween(list, target, judge.id).some(({ id }) => id === stage.id)
    );
  });
}

function isUndecided(scene: Scene, { stage, pass, tasks, state }: StageProgress): boolean {
  if (state !== 'live' || tasks.some((task) => task.state.at.ended === undefined)) return false;
  return !roundsOf(scene, stage.id).some((round) => round.pass === pass.pass);
}

function takenBack({ state: { id, doneBy } }: Placed): PlanChange {
  return { do: 'settle-task', id, as: 'failed', why: `${doneBy ?? 'its agent'} wrote some of the work that it judges` };
}

/** Only an operator ends such a task without a verdict, as done. */
function verdictOf({ role = '', state }: Placed): Verdict {
  const agent = state.doneBy ?? role;
  const answer = verdictSchema.safeParse(state.answer).data;
  if (answer === undefined) return { role, agent, approved: true, summary: '', findings: [] };
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

/** What has to change: the findings of a rejection, and each criterion that is not met. */
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
function criteriaIn({ objective }: Scene, { state: { id: task, answer } }: Placed): PlanChange[] {
  const { criteria = [] } = verdictSchema.safeParse(answer).data ?? {};
  const isOpen = (index: number): boolean =>
    objective.criteria[index] !== undefined && objective.criteria[index].command === undefined;
  return criteria
    .filter(({ criterion }) => isOpen(criterion))
    .map((verdict) => ({ do: 'judge-criterion', task, ...verdict }));
}

function roundFrom(
  scene: Scene,
  { stage, pass }: StageProgress,
  verdicts: readonly Verdict[],
  approved: boolean,
): StageRound {
  const before = rejectionsOf(scene, stage).filter((round) => round.pass !== pass.pass);
  const findings = verdicts.flatMap((verdict) => (verdict.approved ? [] : verdict.findings));
  const last = before.at(-1);
  const isSame = last !== undefined && textOf(findings) !== '' && textOf(last.findings) === textOf(findings);
  return {
    stage: stage.id,
    pass: pass.pass,
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

function rejectionsOf(scene: Scene, { id }: Stage): readonly StageRound[] {
  return roundsOf(scene, id).filter(({ approved }) => !approved);
}

function textOf(findings: readonly JudgeFinding[]): string {
  return normaliseFindings(findings.map(({ file, problem }) => `${file ?? ''} ${problem}`)).join('\n');
}

function rejected(
  scene: Scene,
  list: StageList,
  { judge, progress }: { readonly judge: StageProgress; readonly progress: readonly StageProgress[] },
  verdicts: readonly Verdict[],
): PlanChange[] {
  const round = roundFrom(scene, judge, verdicts, false);
  const { id, judges } = judge.stage;
  const cap = judges?.rounds ?? 1;
  const isStuck = !round.converging && list.whenNotConverging === 'stop';
  if (round.round >= cap || isStuck) {
    const after = cascadeOf(list, progress, id);
    return [putRound(round), ...giveUp(judge, round, cap, after)];
  }
  return [putRound(round), ...sendBack(scene, list, judge, round)];
}

/** The judges' tasks fail as well, so that the operator can ask for another verdict. */
function giveUp(
  { stage, tasks }: StageProgress,
  round: StageRound,
  cap: number,
  after: readonly string[],
): PlanChange[] {
  const note = round.converging ? '' : '; not converging: the same findings as in the round before';
  const why = `rejected in round ${round.round} of ${cap}${note}`;
  const rejecting = new Set(round.by.flatMap(({ role, approved }) => (approved ? [] : [role])));
  const lines = [...findingLines(round.findings).map((line) => `- ${line}`), ...after];
  return [
    ...tasks.flatMap(({ role, state: { id, status } }): PlanChange[] =>
      status === 'done' && rejecting.has(role ?? '') ? [{ do: 'settle-task', id, as: 'failed', why }] : [],
    ),
    failRun([`${stage.id} was ${why}`, ...lines].join('\n')),
  ];
}

/** The next pass of what is sent back, of the stage that judges, and of what lies between. */
function sendBack(scene: Scene, list: StageList, { stage }: StageProgress, round: StageRound): PlanChange[] {
  const target = targetOf(stage);
  if (target === undefined || stage.judges === undefined) return [];
  const why = { by: stage.id, findings: round.findings };
  const next = (id: string): number => passOf(scene, id).pass + 1;
  const way = 'redo' in stage.judges.else ? 'redo' : 'fix';
  return [
    putPass(target, { pass: next(target), way, ...why }),
    ...wayBetween(list, target, stage.id).map(({ id }) =>
      putPass(id, { pass: next(id), way: 'again', by: stage.id, findings: id === stage.id ? round.findings : [] }),
    ),
  ];
}
