import type { Member } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { committerOf } from './list-facts.ts';
import type { Stage, StageList } from './stage-list.ts';
import { staffedRole, type Scene } from './stage-progress.ts';

/** Whether an agent of the role may be one that cannot commit, so that another stage commits what it leaves. */
export function handsOver(list: StageList, stage: Stage, roster: readonly Member[], role: string): boolean {
  const committer = committerOf(list, stage);
  if (committer === undefined || staffedRole(committer.by, roster) === undefined) return false;
  return !commitsItself(role, roster);
}

/** Whether every agent of the role commits its own work. */
export function commitsItself(role: string, roster: readonly Member[]): boolean {
  return roster.filter((member) => member.role === role).every((member) => member.commits);
}

/** Skips the commit of work that left nothing. */
export function skipEmptyCommit(scene: Scene, task: string): PlanChange[] {
  if (scene.task(task)?.commit !== undefined) return [];
  const waiting = scene.tasks({ ended: false }).filter(({ base }) => base === task);
  return waiting.map(({ id }) => ({ do: 'settle-task', id, as: 'skipped', why: `${task} left nothing to commit` }));
}
