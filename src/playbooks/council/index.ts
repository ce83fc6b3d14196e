import { z } from 'zod';
import type { Playbook, PlaybookSource, View } from '../../model/plan.ts';
import { HANDOFF, MAIN } from '../../model/mail/vocabulary.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { plainJson } from '../../text/json.ts';
import { mailChanges } from '../shared/mail.ts';
import { MAIL_ANSWER, mailAnswerForm } from '../shared/mail-ends.ts';
import { repairByLastAuthor } from '../shared/repair.ts';
import { cancelDependents, ENDED } from '../shared/tasks.ts';
import { COUNCIL_ANSWERS } from './answers.ts';
import { assignmentsIn } from './assignments.ts';
import { COUNCIL_SETTINGS, councilOf, longestAssignmentMs, sectionOf, type Council } from './council.ts';
import { minutesOf } from './minutes.ts';
import { COUNCIL_ROLES, councilCast } from './roles.ts';
import { hasSpoken, sayingsTo, taskOf, type Asking } from './sayings.ts';
import { councilTexts } from './texts.ts';
import { again, documentation, LOOK, nextStep, stop } from './stages.ts';

type Heard<T extends PlaybookEvent['type']> = Extract<PlaybookEvent, { type: T }>;

/** MAIN and members: review → improve → verify → assign → execute → done or fail, all by messages. */
export function createCouncilPlaybook(): Playbook<Council> {
  return {
    name: 'council',
    roles: COUNCIL_ROLES,
    cast: councilCast,
    settings: COUNCIL_SETTINGS,
    options: ({ section, limits }) => plainJson({ reviewRounds: limits.reviewRounds, ...sectionOf(section) }),
    answers: { ...COUNCIL_ANSWERS, [MAIL_ANSWER]: mailAnswerForm },
    parse: (source: PlaybookSource) => {
      const council = councilOf(source);
      return 'main' in council ? { ok: true, input: council } : { ok: false, errors: council };
    },
    // Deadlines need the time of an event, so the first step waits for one.
    plan: () => [again({ now: 0 })],
    advance: (view, event) => {
      const council = councilOf(view);
      return 'main' in council ? advance(view, council, event) : [];
    },
    // Members write to MAIN only. Only MAIN reviews, verifies and assigns.
    tools: (role) =>
      role === 'main' ? ['review', 'assign', 'ask', 'send', 'done', 'fail'] : ['report', 'ask', 'send', 'done', 'fail'],
    longestAssignmentMs,
    files: (view) => {
      const council = councilOf(view);
      return 'main' in council ? [{ path: 'council.md', text: minutesOf(view, council) }] : [];
    },
  };
}

function advance(view: View, council: Council, event: PlaybookEvent): PlanChange[] {
  switch (event.type) {
    case 'timer':
      return event.id === LOOK ? nextStep(view, council) : [];
    case 'task-failed':
      return [...answered(view, council, event), ...cancelDependents(view, event.task), again(view)];
    case 'task-done':
    case 'task-skipped':
      return [...answered(view, council, event), again(view)];
    case 'mail':
      return [...mailed(view, council, event), again(view)];
    case 'overdue':
      return [...overdue(view, council, event), again(view)];
    case 'gate-refused':
      return repairByLastAuthor(view, event);
    case 'refused':
      return refused(view, event);
    case 'answered':
      // Its members agree on the plan among themselves, so no person is asked to approve it.
      return [];
    default:
      return event satisfies never;
  }
}

function answered(view: View, council: Council, event: PlaybookEvent): PlanChange[] {
  return (mailChanges(view, event) ?? []).map((change) => asMain(change, council));
}

/** MAIN never writes code: its tasks change documentation only, and run in its own session. */
function asMain(change: PlanChange, council: Council): PlanChange {
  if (change.do !== 'add-task') return change;
  const { task } = change;
  const only = { kind: 'only' as const, paths: documentation(council) };
  const writes = task.role === 'main' && task.integrate;
  const requires = writes ? [...task.requires.filter(({ kind }) => kind !== 'only'), only] : task.requires;
  return { ...change, task: { ...task, session: 'agent', requires } };
}

const bodySchema = z.object({ task_type: z.string().optional(), reason: z.string().optional() });

function mailed(view: View, council: Council, event: Heard<'mail'>): PlanChange[] {
  const { kind, action, from } = event;
  const body = bodySchema.safeParse(event.body).data;
  const texts = councilTexts(view);
  if (kind === 'ask' && (action === 'review' || action === 'verify')) {
    const reason = texts.askedByCouncil;
    return [{ do: 'refuse-mail', message: event.id, reason }];
  }
  // It becomes a task when the council executes.
  if (kind === 'ask' && action === 'assign' && from === MAIN && body?.task_type !== HANDOFF) return [];
  const task = kind === 'fail' ? askedOf(view, council, { ...event.re, by: from }) : undefined;
  const state = task === undefined ? undefined : view.task(task);
  if (state !== undefined && !ENDED.has(state.status)) {
    return [{ do: 'settle-task', id: state.id, as: 'failed', why: texts.gaveUp(from, body?.reason) }];
  }
  return answered(view, council, event);
}

/** Silence ends the task that was waited for, and the council continues. It is no approval: the run names who was silent. */
function overdue(view: View, council: Council, event: Heard<'overdue'>): PlanChange[] {
  const id = askedOf(view, council, { id: event.message, ...event, by: event.to });
  if (id === undefined) return answered(view, council, event);
  const task = view.task(id);
  if (task === undefined || ENDED.has(task.status)) return [];
  if (event.action === 'assign') {
    return [{ do: 'settle-task', id: task.id, as: 'failed', why: councilTexts(view).tooLate }];
  }
  const asking = askingOf(event);
  const saying = asking && sayingsTo(view, council, asking).find((one) => one.task.id === task.id);
  if (saying !== undefined && hasSpoken(saying)) return [];
  return [{ do: 'settle-task', id: task.id, as: 'skipped', why: councilTexts(view).silentInTime(event.to) }];
}

interface Asked {
  readonly id?: string | undefined;
  readonly key?: string | undefined;
  readonly by: string;
}

/** The task in which this address answers that message. */
function askedOf(view: View, council: Council, { id, key, by }: Asked): string | undefined {
  const asking = askingOf({ key });
  const seat = council.members.find(({ address }) => address === by);
  if (asking !== undefined && seat !== undefined) return taskOf(council, asking, seat);
  const mail = key === undefined ? id : `key:${key}`;
  return assignmentsIn(view, council).find((one) => one.mail.id === mail && one.to === by)?.task;
}

function askingOf({ key }: { readonly key?: string | undefined }): Asking | undefined {
  if (key === 'review') return { key, action: 'review' };
  return key?.startsWith('verify-') === true ? { key, action: 'verify' } : undefined;
}

function refused(view: View, event: Heard<'refused'>): PlanChange[] {
  const { change, why } = event;
  const byMail = mailChanges(view, event);
  if (byMail !== undefined) return byMail;
  // A task is missing from the plan: stop instead of waiting for it forever.
  if (change.do === 'add-task') return [stop(`${change.task.id} cannot be planned: ${why}`)];
  return change.do === 'reopen-task' ? [stop(`${change.id} cannot continue: ${why}`)] : [];
}
