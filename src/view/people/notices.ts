import type { Message } from '../../model/people/message.ts';
import type { Reply } from '../../model/people/reply.ts';
import { isTodoDone, type Todo } from '../../model/sprint/sprint.ts';
import type { Team } from '../../model/sprint/team.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import { renderEnd } from '../sprint/request-text.ts';
import type { RequestView } from '../sprint/request-view.ts';
import type { RelaySummary } from './relay.ts';

/** A channel that people have agreed to. `since`: what was before is no news for it (epoch ms). */
export interface NoticePlace {
  readonly channel: string;
  readonly place: string;
  readonly since: number;
}

export interface NoticeView {
  readonly team: Pick<Team, 'sprint' | 'progress' | 'end'>;
  readonly requests: readonly RequestView[];
  /** The messages that made or joined a request. */
  readonly asked: readonly { readonly id: string; readonly request: string; readonly message: Message }[];
  /** Questions of runs that no one has answered. */
  readonly questions: readonly {
    readonly run: string;
    readonly id: string;
    readonly text: string;
    readonly options: readonly string[];
  }[];
  readonly places: readonly NoticePlace[];
  /** By sprint: what its roles handed to each other. */
  readonly relay: ReadonlyMap<string, readonly RelaySummary[]>;
  /** The name of a run; its id where it has none. */
  readonly runName: (id: string) => string;
}

/** A reply that is due unless one of its id is on record. */
export type Notice = Omit<Reply, 'at'> & { readonly id: string };

export function sprintNoticeId(channel: string, sprint: string, what: string): string {
  return `${channel}/${sprint}/${what}`;
}

/** The last thing that a channel hears of a sprint. */
export const SPRINT_END = 'end';

/** All that people have to hear of a team, whether they have heard it or not: the id of each says what it tells. */
export function noticesOf(view: NoticeView): Notice[] {
  return [
    ...view.asked.flatMap((one) => ofRequest(view, one)),
    ...view.places.flatMap((place) => [...ofSprints(view, place), ...ofQuestions(view, place)]),
  ];
}

/** One once its items are known, and one at its end. */
function ofRequest({ requests }: NoticeView, { id, request, message }: NoticeView['asked'][number]): Notice[] {
  const found = requests.find((one) => one.id === request);
  if (found === undefined) return [];
  const to = { channel: message.channel, place: message.place, sender: message.sender };
  const { state, answer, items, joined } = found;
  if (state === 'received' || state === 'planning' || state === 'cancelled') return [];
  if (state === 'planned') {
    const list = items.map((item) => `- ${item.id}: ${plainLine(item.title, 200)}`);
    const said = answer === null ? [] : [plainLine(answer, 1_500)];
    return [{ id: `${id}/planned`, ...to, text: signed([`${request} is planned.`, ...said, ...list], 'planner') }];
  }
  // A second block, after more was said, is news.
  const what = state === 'blocked' ? `blocked-${joined.length}` : state;
  return [{ id: `${id}/${what}`, ...to, text: signed(renderEnd(found), 'orchestrator') }];
}

function ofSprints({ team, relay, runName }: NoticeView, { channel, place, since }: NoticePlace): Notice[] {
  return [...team.sprint].flatMap(([id, { kickoff, run, at }]) => {
    const progress = team.progress.get(id);
    const end = team.end.get(id);
    if ((end?.at ?? progress?.at ?? at) < since) return [];
    const notice = (what: string, lines: readonly string[], role = 'orchestrator'): Notice => {
      return { id: sprintNoticeId(channel, id, what), channel, place, text: signed(lines, role, runName(run)) };
    };
    const todos = progress?.todos ?? [];
    const milestone = plainLine(kickoff.milestone, 500);
    return [
      notice('kickoff', [`The sprint ${id} begins, by ${plainLine(kickoff.by, 80)}: ${milestone}`]),
      ...(todos.length === 0 ? [] : [notice('todos', todoList(id, progress?.title, todos), 'planner')]),
      ...todos.flatMap((todo) =>
        isOver(todo) ? [notice(`${todo.id}-${todo.state}`, [todoLine(todo)], roleOf(todo))] : [],
      ),
      ...(relay.get(id) ?? []).flatMap((one) =>
        one.endsAt < since ? [] : [notice(one.id, [`${id}, between roles:`, ...one.lines])],
      ),
      ...(end === undefined ? [] : [notice(SPRINT_END, endLines(id, end, todos))]),
    ];
  });
}

function todoList(id: string, title: string | undefined, todos: readonly Todo[]): string[] {
  const about = title === undefined ? '' : `: ${plainLine(title, 500)}`;
  return [
    `${id} has ${counted(todos.length, 'todo')}${about}`,
    ...todos.map((todo) => `- ${todo.id}: ${plainLine(todo.title, 200)}`),
  ];
}

const OVER: ReadonlySet<Todo['state']> = new Set(['committed', 'completed', 'blocked', 'failed', 'carried_over']);

function isOver({ state }: Todo): boolean {
  return OVER.has(state);
}

function roleOf({ state }: Todo): string {
  return state === 'committed' ? 'version controller' : 'orchestrator';
}

function todoLine({ id, state, title, commit, why, required_inputs: inputs = [], reopened = {} }: Todo): string {
  const at = commit === undefined ? '' : `, commit ${plainLine(commit.slice(0, 12), 12)}`;
  const because = why === undefined ? '' : `: ${plainLine(why, 500)}`;
  const needs = inputs.length === 0 ? '' : `. It needs ${plainLine(inputs.join('; '), 500)}`;
  const rounds = Object.entries(reopened).map(([category, times]) => `${category} ${times}`);
  const again = rounds.length === 0 ? '' : ` (reopened: ${rounds.join(', ')})`;
  return `${id} is ${state}${at}${again}${because}${needs}. ${plainLine(title, 200)}`;
}

function endLines(
  id: string,
  {
    outcome,
    reason,
    head,
  }: { readonly outcome: string; readonly reason?: string | undefined; readonly head: string | null },
  todos: readonly Todo[],
): string[] {
  const why = reason === undefined ? '' : `: ${plainLine(reason, 500)}`;
  const done = todos.filter(isTodoDone).length;
  const line =
    head === null
      ? 'It delivered nothing.'
      : `The line of work is at ${plainLine(head.slice(0, 12), 12)}: \`squad merge sprints\` takes it.`;
  return [
    `The sprint ${id} is ${outcome}${why}. ${done} of ${counted(todos.length, 'todo')} ${done === 1 ? 'is' : 'are'} done.`,
    ...todos.map((todo) => `- ${todoLine(todo)}`),
    line,
    `The report: \`squad sprint report ${id}\`.`,
  ];
}

function ofQuestions({ questions }: NoticeView, { channel, place }: NoticePlace): Notice[] {
  return questions.map(({ run, id, text, options }) => ({
    ...{ id: `${channel}/${run}/question/${id}`, channel, place },
    text: signed(
      [
        `${run} asks: ${plainLine(text, 1_500)}`,
        ...options.map((one) => `- ${plainLine(one, 300)}`),
        `Answer it here: \`answer to ${run}: …\``,
      ],
      'orchestrator',
      run,
    ),
  }));
}

/** One bot speaks for all roles, so each text names the role, and the run if it is of one. */
export function signed(lines: readonly string[], role: string, run?: string): string {
  return [...lines, `— ${role}${run === undefined ? '' : `, ${run}`}`].join('\n');
}
