import { OF_A_TEAM } from '../../model/playbook-name.ts';
import { isTurnEvent, type RunEvent } from '../../model/run-event.ts';
import { type ShownStage, stagesAtRest } from '../../model/shown-stage.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import { reasons } from '../../text/reasons.ts';
import { sentenceOf } from '../../view/sentence.ts';
import type { ShownTeam } from '../../view/sprint/shown-team-schema.ts';
import type { RunProgress } from '../../view/usage-count.ts';
import { type Activity, type BoardState, type Spoken, withEntry, withoutEntry } from './board-state.ts';

/** Kept of each agent. */
const MOST_SPOKEN = 400;
const MOST_TEXT = 4_000;

type OfTurn = Extract<RunEvent, { attemptId: string; agent: string }>;

const KINDS = {
  'tool-started': 'tool',
  'tool-ended': 'failed',
  'files-changed': 'tool',
  'retry-scheduled': 'notice',
  notice: 'notice',
} as const;

export interface BoardView {
  readonly state: BoardState;
  /** Epoch ms. */
  readonly now: number;
  /** The use so far, from the engine or from the ledger; undefined: not known yet. */
  readonly progress: RunProgress | undefined;
  /** The agent whose transcript is open. */
  readonly open: string | undefined;
  /** Lines back from the newest, of the transcript if one is open, else of the activity. A frame stops at the oldest. */
  readonly scrolled: number;
  /** Hints in the foot of the board. */
  readonly keys: readonly KeyHint[];
  /** The team whose run it is; absent: it is of none. */
  readonly team?: ShownTeam | undefined;
  /** Something that the terminal itself has to say, such as a countdown. */
  readonly notice: string | undefined;
}

export interface KeyHint {
  readonly key: string;
  readonly does: string;
}

/** Lines of activity that can be scrolled back to. */
const MOST_ACTIVITY = 1_000;

/**
 * The state after one more event of the run. Whatever is missed (live output, the segments before a view) is missing in it, and
 * nothing else.
 */
export function takeEvent(state: BoardState, event: RunEvent): BoardState {
  const after = factsAfter(state, event);
  const activity = activityOf(event, state);
  if (activity === undefined) return after;
  const before = state.activity.at(-1);
  // The mail that asked a person says the same.
  const isAsked = event.type === 'question-asked' && before?.who === 'mail' && before.at === event.at;
  const earlier = after.activity.slice(1 - MOST_ACTIVITY, isAsked ? -1 : undefined);
  return { ...withTurn(after, event, activity), activity: [...earlier, activity] };
}

/** Turns begin and end in the transcript of their agent. */
function withTurn(state: BoardState, event: RunEvent, { at, text }: Activity): BoardState {
  const isStep = event.type === 'attempt-taken' || event.type === 'attempt-ended';
  const agent = isStep && event.kind === 'turn' ? state.agents.get(event.agent) : undefined;
  if (agent === undefined || !isStep) return state;
  const transcript = transcriptWith(agent.transcript, { at, kind: 'turn', text });
  return { ...state, agents: withEntry(state.agents, event.agent, { ...agent, transcript }) };
}

function factsAfter(state: BoardState, event: RunEvent): BoardState {
  switch (event.type) {
    case 'run-started': {
      const agents = state.agents.size > 0 ? state.agents : agentsOf(event.agents);
      const run = { ...state.run, name: plainLine(event.name, 60), isOfTeam: OF_A_TEAM.has(event.playbook) };
      return { ...state, agents, run, ended: undefined };
    }
    case 'run-defined': {
      const { limits, deadline } = event;
      const run = { name: plainLine(event.name, 60), title: plainLine(event.title, 300), limits, deadline };
      return { ...state, agents: agentsOf(event.agents), run: { ...state.run, ...run } };
    }
    case 'limits-changed':
      return { ...state, run: { ...state.run, limits: event.limits } };
    case 'task-changed':
      return taskChanged(state, event);
    case 'stage-changed':
      return { ...state, stages: withEntry(state.stages, event.stage.id, plainStage(event.stage)) };
    case 'attempt-taken':
      return attemptTaken(state, event);
    case 'attempt-ended':
      return attemptEnded(state, event);
    case 'decided':
      return { ...state, decided: event };
    case 'question-asked': {
      const { question: id, text, options, tasks, at } = event;
      return { ...state, questions: withEntry(state.questions, id, { id, text, options, tasks, at }) };
    }
    case 'question-answered':
      return { ...state, questions: withoutEntry(state.questions, event.question) };
    case 'pause-changed': {
      const { scope, verb, by = 'squad' } = event;
      const { pauses } = state;
      const pause = verb === null ? undefined : { verb, by: plainLine(by, 60) };
      return { ...state, pauses: pause === undefined ? withoutEntry(pauses, scope) : withEntry(pauses, scope, pause) };
    }
    case 'account-changed': {
      const { account, state: now, until } = event;
      const { accounts } = state;
      const closed =
        now === 'works' ? withoutEntry(accounts, account) : withEntry(accounts, account, { state: now, until });
      return { ...state, accounts: closed };
    }
    case 'run-ended':
      return runEnded(state, event);
    case 'intervened':
      return event.verb === 'past-deadline' ? { ...state, run: { ...state.run, isPastDeadline: true } } : state;
    case 'task-returned':
    case 'review-round':
    case 'gate-checked':
    case 'mail':
    case 'mail-overdue':
    case 'warning':
    case 'tracing':
      return state;
    default:
      return isTurnEvent(event) ? takeTurnEvent(state, event) : state;
  }
}

function agentsOf(
  agents: readonly { name: string; role: string; runtime: string; model?: string | undefined; account?: string }[],
): BoardState['agents'] {
  return new Map(
    agents.map(({ name, role, runtime, model, account }) => [
      name,
      {
        ...{ name: plainLine(name, 40), role, account, idleSince: undefined, transcript: [] },
        model: plainLine(model ?? runtime, 60),
      },
    ]),
  );
}

function runEnded(state: BoardState, event: Extract<RunEvent, { type: 'run-ended' }>): BoardState {
  const headline = plainLine(reasons(event.headline), 600);
  const [next = ''] = event.next;
  const ended = { outcome: event.outcome, headline, next: plainLine(next, 300) };
  const keys = [...state.stages.keys()];
  const stages = stagesAtRest([...state.stages.values()]).map((stage, index) => [keys[index] ?? '', stage] as const);
  return { ...state, live: new Map(), stages: new Map(stages), ended };
}

function taskChanged(state: BoardState, event: Extract<RunEvent, { type: 'task-changed' }>): BoardState {
  const { task, status, round } = event;
  const changed = {
    ...{ id: plainLine(task, 60), title: plainLine(event.title, 300), role: plainLine(event.role, 40), status, round },
    why: plainLine(reasons(event.why ?? ''), 400),
    agent: state.tasks.get(task)?.agent,
    item: event.item,
  };
  return { ...state, tasks: state.tasks.with(task, changed) };
}

/** Its tasks stay as the run has them: they are keys. */
function plainStage({ id, title, by, ...stage }: ShownStage): ShownStage {
  return { ...stage, id: plainLine(id, 40), title: plainLine(title, 60), by: by.map((name) => plainLine(name, 40)) };
}

function attemptTaken(state: BoardState, event: Extract<RunEvent, { type: 'attempt-taken' }>): BoardState {
  const { attemptId, task, agent: name, kind, at } = event;
  const doing = { text: '', since: at };
  const live = withEntry(state.live, attemptId, { task, agent: name, kind, since: at, doing });
  if (kind === 'check') return { ...state, live };
  const agent = state.agents.get(name);
  const of = state.tasks.get(task);
  // A reviewer's turn is about the work of another agent.
  const isAuthor = of !== undefined && agent !== undefined && of.role === agent.role;
  return {
    ...state,
    live,
    tasks: isAuthor ? state.tasks.with(task, { ...of, agent: agent.name }) : state.tasks,
  };
}

function attemptEnded(state: BoardState, event: Extract<RunEvent, { type: 'attempt-ended' }>): BoardState {
  const agent = state.agents.get(event.agent);
  const agents =
    agent === undefined ? state.agents : withEntry(state.agents, event.agent, { ...agent, idleSince: event.at });
  return { ...state, agents, live: withoutEntry(state.live, event.attemptId) };
}

/** One event of a run as a line of the activity; undefined for what other parts of the frame show, or what is only noise. */
function activityOf(event: RunEvent, before: BoardState): Activity | undefined {
  const sentence = isShown(event, before) ? sentenceOf(event) : undefined;
  if (sentence?.said === undefined) return undefined;
  const { who, said, tone } = sentence;
  return { at: event.at, who: plainLine(who, 40), text: plainLine(said.slice(0, 2_000), 400), tone };
}

function isShown(event: RunEvent, before: BoardState): boolean {
  switch (event.type) {
    case 'task-changed':
      return before.tasks.get(event.task) === undefined || ENDS.has(event.status);
    case 'stage-changed':
      return event.change === 'state' && event.stage.state !== 'waiting';
    case 'attempt-taken':
      return event.kind === 'turn';
    case 'decided':
      return isNews(event, before);
    case 'files-changed':
      return false;
    default:
      return true;
  }
}

const ENDS: ReadonlySet<string> = new Set(['done', 'failed', 'cancelled', 'skipped']);

/** A waiting run repeats its decision after every input. */
function isNews(event: Extract<RunEvent, { type: 'decided' }>, { decided }: BoardState): boolean {
  const { next, why, until } = event;
  if (next === 'start' || next === 'ask' || (next === 'wait' && until === undefined)) return false;
  return decided?.next !== next || decided.why !== why || decided.until !== until;
}

/** Updates the activity of the agent, its model and its transcript. */
function takeTurnEvent(state: BoardState, event: OfTurn & TurnEvent): BoardState {
  const attempt = state.live.get(event.attemptId);
  const text = doingOf(event, attempt?.doing.text ?? '');
  const live =
    attempt === undefined || text === undefined
      ? state.live
      : withEntry(state.live, event.attemptId, { ...attempt, doing: { text, since: event.at } });
  const agent = state.agents.get(event.agent);
  if (agent === undefined) return { ...state, live };
  const spoken = spokenOf(event);
  const announced = event.type === 'session-announced' ? event.model : undefined;
  const model = announced === undefined ? agent.model : plainLine(announced, 60);
  if (spoken === undefined && model === agent.model) return { ...state, live };
  const transcript = spoken === undefined ? agent.transcript : transcriptWith(agent.transcript, spoken);
  return { ...state, live, agents: withEntry(state.agents, event.agent, { ...agent, model, transcript }) };
}

function transcriptWith(transcript: readonly Spoken[], spoken: Spoken): readonly Spoken[] {
  return [...transcript.slice(1 - MOST_SPOKEN), spoken];
}

/** One line; undefined: that stays as it was. */
function doingOf(event: TurnEvent, before: string): string | undefined {
  switch (event.type) {
    case 'text':
      return event.delta ? undefined : lastSentence(event.text) || before;
    case 'thinking':
      return 'thinks';
    case 'tool-started':
    case 'files-changed':
    case 'retry-scheduled':
      return sentenceOf(event)?.said;
    case 'session-announced':
    case 'tool-ended':
    case 'notice':
      return undefined;
    default:
      return event satisfies never;
  }
}

/** Speech and thoughts keep their line breaks; all else is one line. undefined: not for the transcript. */
function spokenOf(event: TurnEvent): Spoken | undefined {
  const { at, type } = event;
  if (type === 'session-announced') return undefined;
  if (type === 'thinking') return { at, kind: 'thinks', text: bounded(event.text) };
  if (type === 'text') return event.delta ? undefined : { at, kind: 'says', text: bounded(event.text) };
  const text = sentenceOf(event)?.said;
  return text === undefined ? undefined : { at, kind: KINDS[type], text };
}

/** People read the end of what an agent said: what it does next. */
function lastSentence(text: string): string {
  const line = plainLine(text.slice(-2_000), 2_000);
  return line.split(/(?<=[.!?]) /u).at(-1) ?? '';
}

function bounded(text: string): string {
  return plainText(text.slice(0, MOST_TEXT).toWellFormed()).trim();
}
