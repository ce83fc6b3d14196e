import { z } from 'zod';
import { HANDOFF, MAIN } from '../../model/mail/vocabulary.ts';
import type { View } from '../../model/plan.ts';
import type { MailView } from '../../model/plan/board.ts';
import { sortByNeeds } from '../shared/sort-by-needs.ts';
import { assignedSchema, type Assigned } from './answers.ts';
import type { Council, Seat } from './council.ts';
import type { CouncilTexts } from './texts.ts';

const body = {
  task_type: z.string(),
  summary: z.string().default(''),
  files: z.array(z.string()).default([]),
  success_criteria: z.array(z.string()).default([]),
  dependencies: z.array(z.string()).default([]),
};
const bodySchema = z.object(body);
/** Without a field that is in no brief. What it waits for is delivered before it begins. */
const wholeSchema = z.strictObject(body);

/** Whether the brief of its task has all that its message says. */
export function isInBrief({ mail }: Assignment): boolean {
  return wholeSchema.safeParse(mail.body).success;
}

/** One piece of work for one member. The n-th one is the task `execute-<n>`, whether MAIN sent it or listed it in its answer. */
export interface Assignment extends z.infer<typeof bodySchema> {
  readonly task: string;
  readonly mail: MailView;
  /** Its address, or a role. */
  readonly to: string;
  /** undefined: any member. */
  readonly seat: Seat | undefined;
}

/** In the order in which MAIN gave them. */
export function assignmentsIn(view: View, council: Council): Assignment[] {
  const given = view.mail({ from: MAIN, type: 'ask', action: 'assign' }).flatMap((mail) => {
    const body = bodySchema.safeParse(mail.body).data;
    return body === undefined || body.task_type === HANDOFF ? [] : mail.to.map((to) => ({ ...body, mail, to }));
  });
  return withoutRepeats(given).map((one, index) => {
    const seat = council.members.find(({ address }) => address === one.to);
    return { ...one, task: `execute-${index + 1}`, seat };
  });
}

/** Drops repeated assignments. If a reopened task of MAIN sent one again, the last version counts. */
function withoutRepeats<T extends { readonly mail: MailView; readonly to: string }>(given: readonly T[]): T[] {
  const keyOf = ({ mail: { id, via, task }, to }: T): string =>
    via === undefined || task === undefined ? `${id} ${to}` : `${via} ${task} ${to}`;
  return [...new Map(given.map((one) => [keyOf(one), one])).values()];
}

/** Tasks of the earlier assignments that this one depends on, named by their task here or in messages. */
export function needsOf(assignment: Assignment, all: readonly Assignment[]): string[] {
  const before = all.slice(0, all.indexOf(assignment));
  return before.flatMap(({ task, mail }) =>
    assignment.dependencies.some((one) => one === task || one === mail.task) ? [task] : [],
  );
}

/** `waitsFor`: its dependencies, by their names in messages. */
export type NewAssignment = Assigned & {
  readonly task: string;
  readonly seat: Seat;
  readonly waitsFor: readonly string[];
};

type CheckedAssignments =
  | { readonly ok: true; readonly assigned: readonly NewAssignment[] }
  | { readonly ok: false; readonly problems: readonly string[] };

const MOST_ASSIGNMENTS = 50;

/**
 * The assignments in MAIN's answer that it has not already sent with the tool, under the same id or in the same words. Each comes
 * after those that it depends on.
 */
export function checkAssignments(
  answer: unknown,
  council: Council,
  given: readonly Assignment[],
  texts: CouncilTexts,
): CheckedAssignments {
  const parsed = assignedSchema.safeParse(answer);
  if (!parsed.success) return { ok: false, problems: [texts.namesNone] };
  const { assignments } = parsed.data;
  if (assignments.length > MOST_ASSIGNMENTS) {
    return { ok: false, problems: [texts.tooMany(MOST_ASSIGNMENTS)] };
  }
  const left = assignments.filter((one) => !given.some((sent) => isSame(one, sent, council)));
  const names = new Map(
    given.flatMap(({ task, mail }): [string, string][] => {
      const named = mail.task ?? task;
      return [task, named].map((name) => [name, named]);
    }),
  );
  const ids = left.map(({ task_id: id }) => id);
  const problems = left.flatMap((one) =>
    problemsOf(one, { where: assignments.indexOf(one), ids, known: [...ids, ...names.keys()], council, texts }),
  );
  if (problems.length > 0) return { ok: false, problems };
  const needed = left.map((one) => ({
    ...one,
    id: one.task_id,
    needs: one.dependencies.filter((id) => ids.includes(id)),
  }));
  const sorted = sortByNeeds(needed);
  if (sorted.length < needed.length) return { ok: false, problems: [texts.inACircle] };
  for (const [index, { id }] of sorted.entries()) names.set(id, `execute-${given.length + index + 1}`);
  const assigned = sorted.flatMap((one): NewAssignment[] => {
    const seat = seatOf(one, council);
    const task = names.get(one.id);
    const waitsFor = one.dependencies.flatMap((need) => names.get(need) ?? []);
    return seat === undefined || task === undefined ? [] : [{ ...one, task, seat, waitsFor }];
  });
  return { ok: true, assigned };
}

function isSame(one: Assigned, sent: Assignment, council: Council): boolean {
  if (sent.mail.task?.toLowerCase() === one.task_id.trim().toLowerCase()) return true;
  return sent.seat !== undefined && seatOf(one, council) === sent.seat && wordsOf(sent) === wordsOf(one);
}

function wordsOf({
  task_type,
  summary,
  files,
  success_criteria,
}: Omit<Assigned, 'task_id' | 'to'> | Assignment): string {
  return JSON.stringify([task_type, summary, files, success_criteria]);
}

interface AboutAssignments {
  readonly where: number;
  readonly ids: readonly string[];
  readonly known: readonly string[];
  readonly council: Council;
  readonly texts: CouncilTexts;
}

function problemsOf(one: Assigned, { where, ids, known, council, texts }: AboutAssignments): string[] {
  const unknown = one.dependencies.filter((need) => !known.includes(need));
  const addresses = council.members.map(({ address }) => address).join(', ');
  const isUsed = one.task_id.trim() === '' || ids.filter((id) => id === one.task_id).length > 1;
  const rules: readonly (readonly [isBroken: boolean, problem: string])[] = [
    [seatOf(one, council) === undefined, texts.toOneOf(addresses)],
    [one.task_type.trim() === '', texts.noType],
    [one.task_type === HANDOFF, texts.noHandOff],
    [one.success_criteria.every((line) => line.trim() === ''), texts.noCriterion],
    [isUsed, texts.idUsed],
    [unknown.length > 0, texts.unknownNeeds(unknown.join(', '), known.join(', '))],
  ];
  return rules.flatMap(([isBroken, problem]) => (isBroken ? [texts.assignment(where + 1, problem)] : []));
}

function seatOf({ to }: Assigned, council: Council): Seat | undefined {
  const wanted = to.trim().toLowerCase();
  return council.members.find(
    ({ address, agent }) => address.toLowerCase() === wanted || agent.toLowerCase() === wanted,
  );
}
