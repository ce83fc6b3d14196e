import { boardCascades } from '../rules/cascade.ts';
import { shownStatusOf } from '../rules/work-status.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import type { AskedPlan } from '../model/plan/asked-question.ts';
import type { RunEvent } from '../model/run-event.ts';
import { defined } from '../text/defined.ts';
import { accountEvents } from './account-events.ts';
import { itemOf } from './blocked-item.ts';
import type { Base } from './event-base.ts';
import { returnsBetween } from './replay-plan.ts';

/** The changes of one entry on the board: tasks, reviews, questions, pauses and accounts. */
export function boardEvents(
  base: Base,
  before: Board,
  after: Board,
  planOf: (question: string) => AskedPlan | undefined = () => undefined,
): RunEvent[] {
  const causeOf = causesOn(after);
  const tasks = mayHaveChanged(before, after).flatMap((state) => {
    const old = before.tasks.get(state.task.id);
    return [
      ...reviewEvents(base, old, state),
      ...returnEvents(base, old, state),
      ...statusEvents(base, { old, before }, state, { after, causeOf }),
    ];
  });
  return [
    ...tasks,
    ...(before.questions === after.questions ? [] : questionEvents(base, before, after, planOf)),
    ...(before.pauses === after.pauses ? [] : pauseEvents(base, before, after)),
    ...accountEvents(base, before, after),
  ];
}

/** A question may be asked again under its id after its answer. */
function questionEvents(
  base: Base,
  { questions: before }: Board,
  { questions: after }: Board,
  planOf: (question: string) => AskedPlan | undefined,
): RunEvent[] {
  return [...after.values()].flatMap(({ id: question, text, options, blocks, answer }): RunEvent[] => {
    const old = before.get(question);
    const wasOpen = old !== undefined && old.answer === null;
    if (answer === null) {
      if (wasOpen) return [];
      const tasks = blocks === 'run' ? [] : [...blocks];
      const about = { text, options: [...options], tasks, ...defined({ plan: planOf(question) }) };
      return [{ type: 'question-asked', ...base, question, ...about }];
    }
    return wasOpen ? [{ type: 'question-answered', ...base, question, answer }] : [];
  });
}

function pauseEvents(base: Base, { pauses: before }: Board, { pauses: after }: Board): RunEvent[] {
  const begun = [...after].flatMap(([scope, pause]): RunEvent[] =>
    before.get(scope) === pause ? [] : [{ type: 'pause-changed', ...base, scope, verb: pause.verb, by: pause.by }],
  );
  const ended = [...before.keys()].filter((scope) => !after.has(scope));
  return [...begun, ...ended.map((scope) => ({ type: 'pause-changed', ...base, scope, verb: null }) as const)];
}

/** In the order of the plan. An ended task of a long run is not compared. */
function mayHaveChanged({ tasks: before }: Board, { tasks: after }: Board): readonly TaskState[] {
  const changed = after.changedSince(before);
  if (before.size === after.size) return changed;
  return [...new Set([...changed, ...after.open])].toSorted((a, b) => a.order - b.order);
}

function reviewEvents(base: Base, old: TaskState | undefined, { task, work }: TaskState): RunEvent[] {
  const replaced = (work.replaced ?? []).slice(old?.work.replaced?.length ?? 0);
  return [
    ...work.rounds
      .slice(old?.work.rounds.length ?? 0)
      .map(({ review, round, commit, approved, overruled, silent, feedback }): RunEvent => {
        const without = silent?.map(({ role }) => role);
        const verdict = { approved, ...defined({ overruled, silent: without }), feedback };
        return { type: 'review-round', ...base, task: task.id, ...defined({ review }), round, commit, ...verdict };
      }),
    ...replaced.map((one): RunEvent => ({ type: 'judge-replaced', ...base, task: task.id, ...one })),
  ];
}

/** Reviews and a person's commands have events of their own. */
function returnEvents(base: Base, old: TaskState | undefined, { task, work }: TaskState): RunEvent[] {
  return returnsBetween(old?.work, work).flatMap(({ from, text }): RunEvent[] =>
    from === 'end' || from === 'review' || from === 'person'
      ? []
      : [{ type: 'task-returned', ...base, task: task.id, from, why: text }],
  );
}

/** For a task that was cancelled with another one, that one's id. Looks at the whole plan once, and only if it is asked. */
function causesOn(board: Board): (id: string) => string | undefined {
  let causes: ReadonlyMap<string, string> | undefined;
  return (id) => {
    causes ??= new Map([...boardCascades(board)].flatMap(([cause, ids]) => ids.map((one) => [one, cause])));
    return causes.get(id);
  };
}

function statusEvents(
  base: Base,
  { old, before }: { old: TaskState | undefined; before: Board },
  state: TaskState,
  { after, causeOf }: { after: Board; causeOf: (id: string) => string | undefined },
): RunEvent[] {
  const { task, work } = state;
  const status = shownStatusOf(state, after);
  if (old !== undefined && shownStatusOf(old, before) === status && old.work.round === work.round) return [];
  const why = work.phase.at === 'ended' ? { why: work.phase.why } : {};
  const { id, title, role } = task;
  const because = status === 'cancelled' ? causeOf(id) : undefined;
  const item = status === 'blocked' ? itemOf(after, id) : undefined;
  const more = { ...why, ...defined({ because, item }) };
  return [{ type: 'task-changed', ...base, task: id, title, role, status, round: work.round, ...more }];
}
