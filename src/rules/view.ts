import { openReviewOf } from '../model/plan/open-review.ts';
import { defined } from '../text/defined.ts';
import type { View, TaskView } from '../model/plan.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import { liveAttempts } from './work-requests.ts';
import { authorAttempts, isEnded, statusOf } from './work-status.ts';

const MAIL_KEYS = ['key', 'task', 'from', 'type', 'action', 're'] as const;

/** The part of the board that a playbook sees. */
export function createView(board: Board): View {
  const { facts } = board;
  return {
    now: board.now,
    objective: facts.objective,
    options: facts.options,
    ...defined({ locale: facts.locale, prompts: facts.prompts, asksForPlan: facts.asksForPlan, routes: facts.routes }),
    get roster() {
      const busy = busyAgents(board);
      return facts.roster.map((member) => ({ ...member, busy: busy.has(member.name) }));
    },
    task(id) {
      const state = board.tasks.get(id);
      return state === undefined || state.task.owner === 'engine' ? undefined : viewOf(state, board);
    },
    tasks: (where = {}) =>
      (where.ended === false ? board.tasks.open : [...board.tasks.values()])
        .filter(
          (state) =>
            state.task.owner !== 'engine' &&
            (where.ended === undefined || isEnded(state) === where.ended) &&
            (where.status === undefined || statusOf(state, board) === where.status) &&
            (where.role === undefined || state.task.role === where.role) &&
            (where.parent === undefined || state.task.parent === where.parent) &&
            (where.kind === undefined || state.task.kind === where.kind),
        )
        .map((state) => viewOf(state, board)),
    record: (where, id) => board.records.get(where)?.get(id),
    records: (where) => [...(board.records.get(where) ?? [])].map(([id, value]) => ({ id, value })),
    mail: (where = {}) =>
      [...board.mail.values()].filter((mail) =>
        MAIL_KEYS.every((key) => where[key] === undefined || mail[key] === where[key]),
      ),
    unanswered: (of) =>
      [...board.mail.values()].filter(({ owes }) => (of === undefined ? owes.length > 0 : owes.includes(of))),
  };
}

/** Cache of views of ended tasks: they never change, and a long run has thousands that it views after each event. */
const ENDED = new WeakMap<TaskState, TaskView>();

function viewOf(state: TaskState, board: Board): TaskView {
  const known = ENDED.get(state);
  if (known !== undefined) return known;
  const view = makeView(state, board);
  if (isEnded(state)) ENDED.set(state, view);
  return view;
}

function makeView(state: TaskState, board: Board): TaskView {
  const { work, task } = state;
  const { phase } = work;
  return {
    ...task,
    status: statusOf(state, board),
    round: work.round,
    rounds: work.rounds,
    reviewers: reviewersOf(work),
    ...(phase.at === 'reviewing' ? defined({ openReview: openReviewOf(work, task)?.id }) : {}),
    at: state.at,
    attempts: authorAttempts(work),
    followUps: work.followUps,
    ...(work.commit === null ? {} : { commit: work.commit }),
    ...(work.output === null ? {} : { answer: work.output }),
    ...(work.author.thread === null ? {} : { doneBy: work.author.thread.agent }),
    ...(work.override?.as === 'done' ? { acceptedBy: work.override.by } : {}),
    ...(phase.at === 'ended' ? { why: phase.why } : {}),
    ...(phase.at === 'ended' && phase.cause !== null ? { cause: phase.cause } : {}),
  };
}

/** Reviewers at work, or else those of the last verdict. */
function reviewersOf({ phase, rounds }: TaskState['work']): readonly string[] {
  if (phase.at !== 'reviewing') return rounds.at(-1)?.by.map(({ agent }) => agent) ?? [];
  return phase.slots.flatMap(({ request }) => (request.state.at === 'queued' ? [] : (request.thread?.agent ?? [])));
}

function busyAgents(board: Board): Set<string> {
  return new Set(board.tasks.open.flatMap(({ work }) => liveAttempts(work).map(({ agent }) => agent)));
}
