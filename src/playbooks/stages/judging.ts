import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { failRun } from '../shared/tasks.ts';
import { authorsOf } from './judge-tasks.ts';
import { cascadeOf } from './end-run.ts';
import { judgedByPerson } from './approving.ts';
import { formNameOf } from './answers.ts';
import { judgesWhole, targetOf, wayBetween } from './list-facts.ts';
import { findingLines } from './stage-brief.ts';
import type { Stage, StageList } from './stage-list.ts';
import type { Play } from './stage-options.ts';
import type { Placed, Scene, StageProgress } from './stage-progress.ts';
import { passOf, putPass, putRound, roundsOf, type StageRound } from './stage-records.ts';
import { roundFrom, verdictOf, type Verdict } from './verdicts.ts';

/** Changes for verdicts that have had no effect yet: they approve the stage or send work back. */
export function decideRounds(scene: View, options: Play, progress: readonly StageProgress[]): PlanChange[] {
  const { list, forms } = options;
  return progress.flatMap((one) => {
    if (!judgesWhole(one.stage) || !isUndecided(scene, one)) return [];
    if ('approval' in one.stage.makes) {
      const { verdict, asks } = judgedByPerson(scene, options, { of: one, progress });
      return verdict === undefined ? [...asks] : concluded(scene, list, { judge: one, progress }, [verdict]);
    }
    const { agents } = authorsOf(one.stage, { scene, list, progress });
    const own = one.tasks.find(({ state: { doneBy, status } }) => status === 'done' && agents.has(doneBy ?? ''));
    if (own !== undefined) return [takenBack(own)];
    const done = one.tasks.filter(({ state: { status } }) => status === 'done');
    const form = forms[formNameOf(one.stage) ?? ''];
    const judged = done.map((task) => verdictOf(scene, form, task));
    const verdicts = judged.map(({ verdict }) => verdict);
    const then = concluded(scene, list, { judge: one, progress }, verdicts);
    return [...judged.flatMap(({ changes }) => changes), ...then];
  });
}

interface Judged {
  readonly judge: StageProgress;
  readonly progress: readonly StageProgress[];
}

function concluded(scene: Scene, list: StageList, about: Judged, verdicts: readonly Verdict[]): PlanChange[] {
  const isApproved = verdicts.every(({ approved }) => approved);
  return isApproved
    ? [putRound(roundFrom(scene, about.judge, verdicts, true))]
    : rejected(scene, list, about, verdicts);
}

/** A check that failed on the way to a judge is a rejection without a verdict. */
export function decideFailedChecks(scene: View, { list }: Play, progress: readonly StageProgress[]): PlanChange[] {
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

export function takenBack({ state: { id, doneBy } }: Placed): PlanChange {
  return { do: 'settle-task', id, as: 'failed', why: `${doneBy ?? 'its agent'} wrote some of the work that it judges` };
}

function rejected(
  scene: Scene,
  list: StageList,
  { judge, progress }: Judged,
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
