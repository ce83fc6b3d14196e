import type { PlanChange } from '../../model/plan/change.ts';
import type { Cause } from '../../model/plan/task.ts';
import { authorsOf } from './judge-tasks.ts';
import { rolesOf } from './roles.ts';
import type { StageList } from './stage-list.ts';
import type { Placed, Scene, StageProgress } from './stage-progress.ts';
import { putTask } from './stage-records.ts';

/** A judge whose task failed so gave no verdict. */
const NO_VERDICT: readonly (Cause | undefined)[] = ['bad-output', 'attempts', 'limit'];

/** Gives the task of a judge without a verdict to another agent; empty: it is no such task, or no other agent may judge. */
export function anotherJudge(
  scene: Scene,
  list: StageList,
  progress: readonly StageProgress[],
  { task, why }: { readonly task: string; readonly why: string },
): PlanChange[] {
  const of = progress.find(({ tasks }) => tasks.some(({ state: { id } }) => id === task));
  const judge = of?.tasks.find(({ state: { id } }) => id === task);
  if (of?.stage.judges === undefined || judge?.as !== 'judge') return [];
  const { status, cause, doneBy } = judge.state;
  if (status !== 'failed' || doneBy === undefined || !NO_VERDICT.includes(cause)) return [];
  const { state: _, ...place } = judge;
  const now = { ...place, tried: [...new Set([...(place.tried ?? []), doneBy])] };
  const agent = nextJudge({ ...judge, ...now }, of, { scene, list, progress });
  if (agent === undefined) return [];
  return [putTask(task, now), { do: 'reopen-task', id: task, feedback: why, session: 'new', agent }];
}

/** First from the judge's role, then from the stage's other roles, then from any role that judges in this list. */
function nextJudge(
  judge: Placed,
  { stage, tasks }: StageProgress,
  about: { readonly scene: Scene; readonly list: StageList; readonly progress: readonly StageProgress[] },
): string | undefined {
  const { roster } = about.scene;
  const authors = authorsOf(stage, about);
  const others = tasks.filter(({ state: { id } }) => id !== judge.state.id);
  const out = new Set([...authors.agents, ...[judge, ...others].flatMap(({ tried = [] }) => tried)]);
  const membersOf = (role: string): string[] =>
    roster.flatMap((member) => (member.role === role && !out.has(member.name) ? [member.name] : []));
  const seated = others.flatMap(({ state: { agent, doneBy, role } }) => {
    const [only, ...more] = membersOf(role);
    return agent ?? doneBy ?? (more.length === 0 ? (only ?? []) : []);
  });
  const judges = Object.entries(rolesOf(about.list)).flatMap(([role, { judges: does }]) =>
    does === true ? [role] : [],
  );
  const roles = new Set([judge.role ?? '', ...stage.by, 'reviewer', ...judges]);
  return [...roles]
    .filter((role) => !authors.roles.has(role))
    .flatMap(membersOf)
    .find((name) => !seated.includes(name));
}
