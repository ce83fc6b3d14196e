import { defined } from '../../text/defined.ts';
import { z } from 'zod';
import type { View } from '../../model/plan.ts';
import type { Member } from '../../model/plan/board.ts';
import type { NewTask, Requirement, ReviewPolicy } from '../../model/plan/task.ts';
import { mailCriteria } from '../shared/mail-work.ts';
import { workTask } from '../shared/tasks.ts';
import type { PlannedTask } from './plan-answer.ts';
import { DELIVERY_ROLES, deliversFiles } from './roles.ts';

/** The options of `squad.yaml` that this playbook reads. */
export const settingsSchema = z.object({
  reviewRounds: z.number().int().min(1).max(20).default(4),
  /** Roles that must show an open pull request at the reviewed commit. */
  prRoles: z.array(z.string()).default([]),
});
export type DeliverySettings = z.infer<typeof settingsSchema>;

export function settingsOf({ options }: Pick<View, 'options'>): DeliverySettings {
  return settingsSchema.parse(options ?? {});
}

export const TEST_REPORT = 'test-report';

/** Roles that a plan gives no work to. */
const HELPERS = new Set(Object.keys(DELIVERY_ROLES).filter((role) => role !== 'builder'));

/** Roles that a plan may give work to. */
export function builderRoles(roster: readonly Member[]): string[] {
  return [...new Set(roster.map((member) => member.role).filter((role) => !HELPERS.has(role)))];
}

/**
 * The tasks of one planned piece: build (with review); commit, if its builders cannot commit; test, if there is a tester. A
 * need becomes the last task of its piece, so that nothing is built on work that may still change.
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

/** The last task of a piece: its end means that the piece is delivered. */
function lastOf(planned: PlannedTask, roster: readonly Member[]): string {
  if (hasTester(planned, roster)) return `${planned.id}-test`;
  return needsCommitter(planned, roster) ? `${planned.id}-commit` : planned.id;
}

/**
 * Plans work that mail adds like a planned piece. Its tester also repeats earlier tests, because they did not cover this work.
 * Roles that build nothing get one task that changes nothing.
 */
export function tasksByMail(view: View, asked: NewTask): NewTask[] {
  if (!deliversFiles(asked.role)) return [asked];
  const { id, title, role, brief, needs, agent, parent, session } = asked;
  const planned = { id, title, role, needs: [], brief: brief.text, acceptance: mailCriteria(view) };
  const above = defined({ parent });
  const mail = brief.mail ?? [];
  return tasksOfPiece(planned, [planned], view.roster, settingsOf(view)).map((task) => {
    if (task.id === id) return { ...task, ...above, brief, needs, session, ...defined({ agent }) };
    if (task.role !== 'tester') return { ...task, ...above };
    return { ...task, ...above, brief: { text: [task.brief.text, ...testedBefore(view)].join('\n\n'), mail } };
  });
}

/** Adds a review to MAIN's answer, because it may change the documentation. */
export function answerByMail(view: View, task: NewTask): NewTask {
  const review = reviewBy(
    ['its answer agrees with the code', ...mailCriteria(view).slice(1)],
    view.roster,
    settingsOf(view),
  );
  return review === undefined ? task : { ...task, review };
}

/** Most earlier tests that a tester is asked to repeat. */
const MOST_TESTED = 20;

function testedBefore(view: View): string[] {
  const tests = view.tasks({ role: 'tester' }).filter(({ output }) => output?.schema === TEST_REPORT);
  if (tests.length === 0) return [];
  const briefs = tests.slice(-MOST_TESTED).map(({ brief }) => brief.text.split('\n\n', 1).join(''));
  return ['This work came after other tests. Also repeat these earlier tests:', ...briefs];
}

function commitsItself(role: string, roster: readonly Member[]): boolean {
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
  // Without a committer, the engine commits the tree and delivers it.
  const commits: Requirement[] = commitsItself(role, roster) ? [{ kind: 'commit' }] : [];
  const review = reviewBy(planned.acceptance, roster, settings);
  return workTask(
    { id, title, role, brief },
    {
      needs,
      workspace: 'own',
      requires: [...commits, { kind: 'diff' }, ...(handsOver ? [] : prOf(role, settings))],
      integrate: !handsOver,
      ...defined({ review }),
    },
  );
}

/** A review by the reviewers, if there are any. */
function reviewBy(
  criteria: readonly string[],
  roster: readonly Member[],
  settings: DeliverySettings,
): ReviewPolicy | undefined {
  if (!roster.some((member) => member.role === 'reviewer')) return undefined;
  return { by: ['reviewer'], quorum: 'all', rounds: settings.reviewRounds, criteria: [...criteria] };
}

function commitTask(planned: PlannedTask, settings: DeliverySettings): NewTask {
  const brief = `Commit the reviewed work of ${planned.id} (${planned.title}), which is staged in your folder. Do not change it. The message says why the work was done.`;
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
  const brief = `Test “${title}” on the run branch. Done means:\n${planned.acceptance.map((line) => `- ${line}`).join('\n')}`;
  return workTask(
    { id: `${id}-test`, title: `Test: ${title}`, role: 'tester', brief },
    { parent: id, needs: [handsOver ? `${id}-commit` : id], output: { schema: TEST_REPORT, repairs: 1 } },
  );
}

function prOf(role: string, settings: DeliverySettings): Requirement[] {
  return settings.prRoles.includes(role) ? [{ kind: 'pr' }] : [];
}
