import { z } from 'zod';
import { HANDOFF, MAIN } from '../../model/mail/vocabulary.ts';
import type { View } from '../../model/plan.ts';
import type { MailView } from '../../model/plan/board.ts';
import { sortByNeeds } from '../shared/sort-by-needs.ts';
import { assignedSchema, type Assigned } from './answers.ts';
import type { Council, Seat } from './council.ts';

const bodySchema = z.object({
  task_type: z.string(),
  summary: z.string().default(''),
  files: z.array(z.string()).default([]),
  success_criteria: z.array(z.string()).default([]),
  dependencies: z.array(z.string()).default([]),
});

/** One piece of work for one member. The n-th that MAIN gave is the task `execute-<n>`, however it was given. */
export interface Assignment extends z.infer<typeof bodySchema> {
  readonly task: string;
  readonly mail: MailView;
  /** Its address, or a role. */
  readonly to: string;
  /** undefined: any member. */
  readonly seat: Seat | undefined;
}

/** In the order in which they were given. */
export function assignmentsIn(view: View, council: Council): Assignment[] {
  const given = view.mail({ from: MAIN, type: 'ask', action: 'assign' }).flatMap((mail) => {
    const body = bodySchema.safeParse(mail.body).data;
    return body === undefined || body.task_type === HANDOFF ? [] : mail.to.map((to) => ({ ...body, mail, to }));
  });
  return given.map((one, index) => {
    const seat = council.members.find(({ address }) => address === one.to);
    return { ...one, task: `execute-${index + 1}`, seat };
  });
}

/** The work whose ends it waits for: what was assigned before, by its task here or in messages. */
export function needsOf(assignment: Assignment, all: readonly Assignment[]): string[] {
  const before = all.slice(0, all.indexOf(assignment));
  return before.flatMap(({ task, mail }) =>
    assignment.dependencies.some((one) => one === task || one === mail.task) ? [task] : [],
  );
}

export type CheckedAssignments =
  | { readonly ok: true; readonly assigned: readonly (Assigned & { readonly seat: Seat; readonly needs: string[] })[] }
  | { readonly ok: false; readonly problems: readonly string[] };

const MOST_ASSIGNMENTS = 50;

/** What MAIN answered in place of messages. Each comes after those that it depends on. */
export function checkAssignments(answer: unknown, council: Council): CheckedAssignments {
  const parsed = assignedSchema.safeParse(answer);
  if (!parsed.success) return { ok: false, problems: ['the answer names no assignments'] };
  const { assignments } = parsed.data;
  if (assignments.length > MOST_ASSIGNMENTS) {
    return { ok: false, problems: [`at most ${MOST_ASSIGNMENTS} assignments are possible`] };
  }
  const problems = assignments.flatMap((one, index) => problemsOf(one, index, assignments, council));
  const named = assignments.map((one) => ({ ...one, id: one.task_id, needs: one.dependencies }));
  if (problems.length > 0) return { ok: false, problems };
  const sorted = sortByNeeds(named);
  if (sorted.length < named.length) return { ok: false, problems: ['the assignments need each other in a circle'] };
  return {
    ok: true,
    assigned: sorted.flatMap((one) => {
      const seat = seatOf(one, council);
      return seat === undefined ? [] : [{ ...one, seat }];
    }),
  };
}

function problemsOf(one: Assigned, index: number, all: readonly Assigned[], council: Council): string[] {
  const where = `assignment ${index + 1}`;
  const ids = all.map(({ task_id }) => task_id);
  const unknown = one.dependencies.filter((need) => !ids.includes(need));
  return [
    ...(seatOf(one, council) === undefined
      ? [`${where}: \`to\` is none of ${council.members.map(({ address }) => address).join(', ')}`]
      : []),
    ...(one.task_type.trim() === '' ? [`${where}: \`task_type\` is empty`] : []),
    ...(one.task_type === HANDOFF ? [`${where}: MAIN hands nothing off; it assigns`] : []),
    ...(one.success_criteria.every((line) => line.trim() === '') ? [`${where}: it has no success criterion`] : []),
    ...(one.task_id.trim() === '' || ids.indexOf(one.task_id) !== index
      ? [`${where}: \`task_id\` is not its own`]
      : []),
    ...(unknown.length === 0 ? [] : [`${where}: \`dependencies\` may only name other assignments of this answer`]),
  ];
}

function seatOf({ to }: Assigned, council: Council): Seat | undefined {
  const wanted = to.trim().toLowerCase();
  return council.members.find(
    ({ address, agent }) => address.toLowerCase() === wanted || agent.toLowerCase() === wanted,
  );
}
