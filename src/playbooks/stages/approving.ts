import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { PLAN_OPTIONS, readPlanAnswer } from '../../model/plan/proposal.ts';
import type { NewTask, Requirement } from '../../model/plan/task.ts';
import { nameOf, taskIdOf } from './list-facts.ts';
import { firstId, placed, titleNow, type Opening } from './opening.ts';
import { fillBrief } from './stage-brief.ts';
import type { Play } from './stage-options.ts';
import type { StageProgress } from './stage-progress.ts';
import type { Verdict } from './verdicts.ts';

/** The last question of a stage that a person judges, by the stage. */
const APPROVALS = 'stage-approvals';

interface Approval {
  /** From 1: the verdict of an earlier pass has another question. */
  readonly number: number;
  /** The stage’s pass that it is about; 0: it counts no more. */
  readonly pass: number;
  readonly question: string;
  /** Absent: not yet. */
  readonly said?: { readonly answer: string; readonly by: string };
}

type Records = Pick<View, 'record' | 'records'>;

function approvalOf({ record }: Records, stage: string): Approval | undefined {
  return record(APPROVALS, stage) as unknown as Approval | undefined;
}

function putApproval(stage: string, { said, ...approval }: Approval): PlanChange {
  const value = said === undefined ? approval : { ...approval, said: { ...said } };
  return { do: 'put', in: APPROVALS, id: stage, value };
}

/** The task that stands for the question. No agent works on it: it ends at once, and the stage waits for the answer. */
export function approvalTask(opening: Opening, common: NewTask): PlanChange[] {
  const { stage, pass } = opening.of;
  const id = firstId(opening);
  const task: NewTask = { ...common, id, title: titleNow(opening), kind: 'check', session: 'new', requires: [HELD] };
  return [
    ...placed(task, { stage: stage.id, pass: pass.pass, as: 'judge', role: PERSON }),
    { do: 'settle-task', id, as: 'done', why: 'a person is asked' },
  ];
}

const PERSON = 'person';

/** A check requires something. No commit touches this path, so that a stage which a person retries asks again. */
const HELD: Requirement = { kind: 'untouched', paths: ['.git'], instead: '' };

/** The person's verdict, or the question about it; neither: the question is open. */
export function judgedByPerson(
  scene: View,
  options: Play,
  { of, progress }: { readonly of: StageProgress; readonly progress: readonly StageProgress[] },
): { readonly verdict?: Verdict; readonly asks: readonly PlanChange[] } {
  const { stage, pass, tasks } = of;
  const [task] = tasks;
  const last = approvalOf(scene, stage.id);
  const accepted = task?.state.acceptedBy;
  if (accepted !== undefined) return { verdict: verdictFrom({ answer: 'approve', by: accepted }), asks: [] };
  if (last?.pass === pass.pass)
    return { asks: [], ...(last.said === undefined ? {} : { verdict: verdictFrom(last.said) }) };
  const number = (last?.number ?? 0) + 1;
  const question = `approve-${taskIdOf(stage)}-${number}`;
  const text = `Approve ${nameOf(stage)}? ${fillBrief({ scene, options, stage, entry: undefined, progress })}`;
  return {
    asks: [
      putApproval(stage.id, { number, pass: pass.pass, question }),
      { do: 'ask', id: question, text, options: [...PLAN_OPTIONS], task: task?.state.id ?? '' },
    ],
  };
}

/** As with a plan: any other text rejects, and is the reason. */
function verdictFrom({ answer, by }: NonNullable<Approval['said']>): Verdict {
  const approved = readPlanAnswer(answer).say === 'approve';
  const findings = approved ? [] : [{ file: null, line: null, problem: answer, suggestion: null, by: PERSON }];
  return { role: PERSON, agent: by, approved, summary: '', findings };
}

/** Notes a person's answer; undefined: it is about something else. */
export function answeredByPerson(
  view: View,
  { list }: Play,
  { question, answer, by }: { readonly question: string; readonly answer: string; readonly by: string },
): PlanChange[] | undefined {
  const stage = list.stages.find(({ id }) => approvalOf(view, id)?.question === question);
  const open = stage && approvalOf(view, stage.id);
  if (stage === undefined || open === undefined || open.said !== undefined) return undefined;
  if (readPlanAnswer(answer).say !== 'stop') return [putApproval(stage.id, { ...open, said: { answer, by } })];
  return [{ do: 'finish', outcome: 'cancelled', why: `cancelled by ${by}: ${nameOf(stage)} was not approved` }];
}

/** A verdict that is given again. */
export function dropApproval(view: Records, stage: string): PlanChange[] {
  const last = approvalOf(view, stage);
  if (last === undefined) return [];
  const { said: _, ...again } = last;
  return [putApproval(stage, { ...again, pass: 0 })];
}
