import type { Member } from '../../model/plan/board.ts';
import type { NewTask, Requirement, ReviewPolicy } from '../../model/plan/task.ts';
import { workTask } from '../shared/tasks.ts';
import type { PlannedTask } from './plan-answer.ts';

export interface DeliverySettings {
  readonly reviewRounds: number;
  /** Roles that must show an open pull request at the reviewed commit. */
  readonly prRoles: readonly string[];
}

/**
 * One planned piece: build (reviewed); commit, where nobody who builds it can commit; test, where there is a tester.
 * Needs are those of the plan: each becomes the last task of its piece, so that nothing is built on what may yet come back.
 */
export function tasksOfPiece(
  planned: PlannedTask,
  plan: readonly PlannedTask[],
  roster: readonly Member[],
  settings: DeliverySettings,
): NewTask[] {
  const needs = planned.needs.map((need) => lastOf(plan.find((task) => task.id === need) ?? planned, roster));
  const handsOver = needsCommitter(planned, roster);
  const test = hasTester(planned, roster);
  return [
    buildTask(planned, needs, handsOver, roster, settings),
    ...(handsOver ? [commitTask(planned, settings)] : []),
    ...(test ? [testTask(planned, handsOver)] : []),
  ];
}

/** The task whose end means that the piece is delivered. */
export function lastOf(planned: PlannedTask, roster: readonly Member[]): string {
  if (hasTester(planned, roster)) return `${planned.id}-test`;
  return needsCommitter(planned, roster) ? `${planned.id}-commit` : planned.id;
}

export function commitsItself(role: string, roster: readonly Member[]): boolean {
  return roster.filter((member) => member.role === role).every((member) => member.commits);
}

function needsCommitter({ role }: PlannedTask, roster: readonly Member[]): boolean {
  return !commitsItself(role, roster) && roster.some((member) => member.role === 'committer');
}

function hasTester({ role }: PlannedTask, roster: readonly Member[]): boolean {
  return role !== 'tester' && roster.some((member) => member.role === 'tester');
}

function buildTask(
  planned: PlannedTask,
  needs: string[],
  handsOver: boolean,
  roster: readonly Member[],
  settings: DeliverySettings,
): NewTask {
  const { id, title, role } = planned;
  const brief = `${planned.brief}\n\nDone means:\n${planned.acceptance.map((line) => `- ${line}`).join('\n')}`;
  // Without a committer the engine's own commit of the tree is delivered: the work is kept either way.
  const commits: Requirement[] = commitsItself(role, roster) ? [{ kind: 'commit' }] : [];
  const review = reviewOf(planned, roster, settings);
  return workTask(
    { id, title, role, brief },
    {
      needs,
      workspace: 'own',
      requires: [...commits, { kind: 'diff' }, ...(handsOver ? [] : prOf(role, settings))],
      integrate: !handsOver,
      ...(review === undefined ? {} : { review }),
    },
  );
}

/** By the reviewers, where there are any. */
function reviewOf(
  planned: PlannedTask,
  roster: readonly Member[],
  settings: DeliverySettings,
): ReviewPolicy | undefined {
  if (!roster.some((member) => member.role === 'reviewer')) return undefined;
  return { by: ['reviewer'], quorum: 'all', rounds: settings.reviewRounds, criteria: planned.acceptance };
}

function commitTask(planned: PlannedTask, settings: DeliverySettings): NewTask {
  const brief = `Commit the reviewed work of ${planned.id} (${planned.title}) as it stands, with a message that says why. It lies staged in your worktree; change nothing of it.`;
  return workTask(
    { id: `${planned.id}-commit`, title: `Commit: ${planned.title}`, role: 'committer', brief },
    {
      parent: planned.id,
      needs: [planned.id],
      base: planned.id,
      workspace: 'own',
      requires: [{ kind: 'commit' }, ...prOf('committer', settings)],
      integrate: true,
    },
  );
}

function testTask(planned: PlannedTask, handsOver: boolean): NewTask {
  const { id, title } = planned;
  const brief = `Test ${title} on the run branch. Done means:\n${planned.acceptance.map((line) => `- ${line}`).join('\n')}`;
  return workTask(
    { id: `${id}-test`, title: `Test: ${title}`, role: 'tester', brief },
    { parent: id, needs: [handsOver ? `${id}-commit` : id], output: { schema: 'test-report', repairs: 1 } },
  );
}

function prOf(role: string, settings: DeliverySettings): Requirement[] {
  return settings.prRoles.includes(role) ? [{ kind: 'pr' }] : [];
}
