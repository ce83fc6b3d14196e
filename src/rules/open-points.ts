import { z } from 'zod';
import { NOT_WRITTEN } from '../model/mail/effects.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import type { MailView } from '../model/plan/board.ts';
import type { TaskEnd } from '../model/plan/task.ts';
import { counted } from '../text/counted.ts';
import { isJsonObject } from '../text/json.ts';
import { choicesOf } from './choice.ts';
import { fewerVotes, fewerVotesText, silentTasks } from './silent-judges.ts';

type BoardPart = Pick<Board, 'tasks' | 'records' | 'mail' | 'finished'>;

/**
 * Reasons why a run that ends as done is less than was asked for, from how tasks and mail ended. The playbook adds reasons from its agents.
 * Decisions of people are not among them.
 */
export function openPointsOf(board: BoardPart): string[] {
  return [
    ...leftOut(board),
    ...overruled(board),
    ...fewerVotes(board).flatMap((one) => (one.isEnough ? [] : [fewerVotesText(one)])),
    ...notAnswered(board),
    ...notPlanned(board),
    ...notWritten(board),
    ...saidIn(board),
  ];
}

function saidIn({ finished }: BoardPart): readonly string[] {
  return finished?.remarks ?? [];
}

const VERBS: Readonly<Record<Exclude<TaskEnd, 'done'> | 'blocked', readonly [one: string, more: string]>> = {
  failed: ['failed', 'failed'],
  blocked: ['is blocked', 'are blocked'],
  skipped: ['was skipped', 'were skipped'],
  cancelled: ['was cancelled', 'were cancelled'],
};

/**
 * Work that is not done. A later pass of its stage replaces it, or a try that was delivered; what only answers a question counts by the
 * question.
 */
function leftOut(board: BoardPart): string[] {
  const places = placesOf(board);
  const tries = choicesOf(board);
  const silent = silentTasks(board);
  const answers = new Set(ordersOf(board).flatMap(({ task, isAnswer }) => (isAnswer ? [task] : [])));
  const isReplaced = (id: string): boolean => {
    const place = places.get(id);
    return (
      place !== undefined && [...places.values()].some((one) => one.stage === place.stage && one.pass > place.pass)
    );
  };
  const left = [...board.tasks.values()].filter(
    (state) =>
      isLeft(state) &&
      !tries.has(state.task.id) &&
      !answers.has(state.task.id) &&
      !silent.has(state.task.id) &&
      !isReplaced(state.task.id),
  );
  return (['failed', 'blocked', 'skipped', 'cancelled'] as const).flatMap((as) => {
    const ended = left.filter(({ work: { phase } }) => {
      return phase.at === 'ended' && (phase.cause === 'blocked' ? 'blocked' : phase.as) === as;
    });
    const names = [...new Set(ended.map(({ task }) => places.get(task.id)?.stage ?? task.id))];
    if (names.length === 0) return [];
    const [verb, it] = names.length === 1 ? [VERBS[as][0], 'it'] : [VERBS[as][1], 'them'];
    return [`${names.join(', ')} ${verb}, and the run continued without ${it}`];
  });
}

/** Rejections whose findings no longer counted. An approval after it answers one. */
function overruled({ tasks }: BoardPart): string[] {
  const over = [...tasks.values()].filter(({ work: { phase, rounds } }) => {
    return phase.at === 'ended' && phase.as === 'done' && rounds.at(-1)?.overruled === true;
  });
  if (over.length === 0) return [];
  const names = over.map(({ task }) => task.id).join(', ');
  return [
    over.length === 1
      ? `the last rejection of ${names} was overruled`
      : `the last rejections of ${names} were overruled`,
  ];
}

function isLeft({ task, work: { phase, override } }: TaskState): boolean {
  // The closing word names the skips of people by itself.
  const isPersons = phase.at === 'ended' && phase.as === 'skipped' && override?.as === 'skipped';
  // Tasks of the engine are left out: criteria that a silent judge left open are shown as not checked.
  return !isPersons && task.owner !== 'engine';
}

/** Questions and reviews that a turn asked for, and that no one answered. */
function notAnswered({ mail, tasks }: BoardPart): string[] {
  const all = [...mail.values()];
  const asked = all.filter(({ id, action = '', via }) => {
    const answers = ANSWERS[action];
    if (answers === undefined || !isDone(tasks, via)) return false;
    return !all.some((other) => other.re === id && answers.includes(other.action ?? other.type));
  });
  return asked.length === 0 ? [] : [`${counted(asked.length, 'question')} of ${sendersOf(asked)} not answered`];
}

const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  clarify: ['answer'],
  review: ['review_feedback', 'done'],
  verify: ['review_feedback', 'done'],
};

/** Work that a turn or a person assigned or handed on, and that was refused. Of what it says again, the last counts. */
function notPlanned(board: BoardPart): string[] {
  const planned = new Set([
    ...ordersOf(board).map(({ message }) => message),
    ...[...board.tasks.values()].flatMap(({ task }) => task.brief.mail ?? []),
  ]);
  const given = [...board.mail.values()].filter(({ action, key }) => action === 'assign' && key === undefined);
  const last = new Map(given.map((mail) => [`${mail.via ?? ''} ${mail.task ?? mail.id} ${mail.to.join(',')}`, mail]));
  const refused = [...last.values()].filter(({ id }) => !planned.has(id));
  return refused.length === 0 ? [] : [`${counted(refused.length, 'assignment')} of ${sendersOf(refused)} refused`];
}

/** Answers whose sender says that the documentation has them, and delivered no change of it. */
function notWritten({ mail }: BoardPart): string[] {
  const promised = [...mail.values()].filter(
    ({ action, body }) => action === 'answer' && isJsonObject(body) && body['reason'] === NOT_WRITTEN,
  );
  return promised.length === 0 ? [] : [`documentation that ${sendersOf(promised)} promised is missing`];
}

function sendersOf(mail: readonly MailView[]): string {
  return [...new Set(mail.map(({ from }) => from))].join(', ');
}

function isDone(tasks: BoardPart['tasks'], id: string | undefined): boolean {
  const phase = id === undefined ? undefined : tasks.get(id)?.work.phase;
  return phase?.at === 'ended' && phase.as === 'done';
}

const placeSchema = z.object({ stage: z.string(), pass: z.number() });

/** The places of tasks in a list of stages, as its playbook records them. */
function placesOf({ records }: BoardPart): ReadonlyMap<string, z.infer<typeof placeSchema>> {
  return new Map(
    [...(records.get('stage-tasks') ?? [])].flatMap(([task, value]) => {
      const place = placeSchema.safeParse(value).data;
      return place === undefined ? [] : [[task, place] as const];
    }),
  );
}

const orderSchema = z.object({ message: z.string(), answers: z.boolean() });

/** The messages that added tasks, as playbooks record them. A finished run keeps the record, and adds no task. */
function ordersOf({ records, tasks }: BoardPart): { task: string; message: string; isAnswer: boolean }[] {
  return [...(records.get('mail') ?? [])].flatMap(([task, value]) => {
    const order = orderSchema.safeParse(value).data;
    return order === undefined || !tasks.has(task) ? [] : [{ task, message: order.message, isAnswer: order.answers }];
  });
}
