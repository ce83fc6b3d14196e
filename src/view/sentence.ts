import { MAIN } from '../model/mail/vocabulary.ts';
import { roundVerdict } from '../model/plan/review.ts';
import type { RunEvent } from '../model/run-event.ts';
import { placeText, roundText } from '../model/shown-stage.ts';
import type { TurnEvent } from '../model/turn-event.ts';
import type { TurnResult } from '../model/turn-result.ts';
import { accountText } from '../model/wall-text.ts';
import { spanText } from '../text/duration.ts';
import { plainLine } from '../text/plain-text.ts';
import { reasons } from '../text/reasons.ts';
import { localTime } from '../text/time.ts';
import { toolTarget } from '../text/tool-target.ts';
import { judgeWords } from './judge-words.ts';
import { tracingText } from './tracing-text.ts';

/** One event of a run in words, the same in each view. Plain text, each part in one line. */
export interface Sentence {
  /** The word that a line of the log begins with; empty: lines of other events say it. */
  readonly label: string;
  /** The rest of that line. */
  readonly line: string;
  /** Whom the board names beside it: an agent, a task, a person or squad. */
  readonly who: string;
  /** The line without `who`, which has a column of its own on the board. Absent: the board says nothing. */
  readonly said?: string | undefined;
  readonly tone: Tone;
}

export type Tone = 'usual' | 'good' | 'bad' | 'attention';

type Of<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** As a runtime reports it. `agent` is absent before it is an event of a run. */
type OfTurn<T extends TurnEvent['type']> = Extract<TurnEvent, { type: T }> & { agent?: string };

const RETURNED: Readonly<Record<string, string>> = {
  evidence: 'evidence is missing',
  conflict: 'conflict',
  verify: 'verify failed on the merged work',
  playbook: 'reopened',
} satisfies Record<Of<'task-returned'>['from'], string>;

/** Why a task goes back to its author. */
export function returnedText(from: string): string {
  return RETURNED[from] ?? from;
}

/** `failed (auth)`: how a turn ended. */
export function howEnded({ outcome, failure }: Pick<TurnResult, 'outcome' | 'failure'>): string {
  return failure === undefined || failure.kind === outcome ? outcome : `${outcome} (${failure.kind})`;
}

type Row<T extends RunEvent['type']> = (event: T extends TurnEvent['type'] ? OfTurn<T> : Of<T>) => Sentence | undefined;

/** The words for each event. */
const SENTENCES: { readonly [T in RunEvent['type']]: Row<T> } = {
  'run-started': (event) => {
    const branch = event.branch === undefined ? 'no branch,' : `branch ${event.branch}`;
    const said = `${event.name}: ${branch} from ${event.base.slice(0, 12)}, playbook ${event.playbook}`;
    const label = event.resumed ? 'resumed' : 'started';
    return { label, line: said, who: 'squad', said: `${label} ${said}`, tone: 'usual' };
  },
  'run-defined': () => undefined,
  'pause-changed': () => undefined,
  'limits-changed': () => onBoard('the limits are raised', 'usual'),
  'task-changed': taskSentence,
  'stage-changed': stageSentence,
  'attempt-taken': (event) => {
    const what = `${shortId(event.attemptId)} ${event.how}`;
    const place = `(${event.runtime}${event.insteadOf === undefined ? '' : ` in place of ${event.insteadOf}`})`;
    const [who, said] = [event.agent, `${what} ${place}`];
    return { label: event.kind, line: `${what}: ${who} ${place}`, who, said, tone: 'usual' };
  },
  'attempt-ended': endSentence,
  'task-returned': ({ task, from, why }) =>
    // A playbook reopens a task for what is new, such as a person's words about a plan.
    about(
      task,
      'back',
      `${returnedText(from)}: ${plainLine(reasons(why), 400)}`,
      from === 'playbook' ? 'attention' : 'bad',
    ),
  decided: ({ next, why, until, at }) => {
    const when = until === undefined ? '' : `until ${localTime(until, at)}: `;
    const line = `${when}${plainLine(reasons(why), 300)}`;
    const said = `${next}${when === '' ? ': ' : ' '}${line}`;
    return { label: next, line, who: 'squad', said, tone: next === 'finish' ? 'usual' : 'attention' };
  },
  'review-round': (event) => {
    const of = event.review === undefined ? '' : `${event.review}, `;
    const said = `${of}round ${event.round}: ${roundVerdict(event)} — ${plainLine(judgeWords(event.feedback), 200)}`;
    const tone = !event.approved ? 'bad' : event.silent === undefined ? 'good' : 'attention';
    return { label: 'review', line: `${event.task} ${said}`, who: event.task, said, tone };
  },
  'judge-replaced': ({ task, agent, by, why }) => {
    const said = `${agent} gave no verdict, ${by} judges in its place — ${plainLine(reasons(why), 200)}`;
    return about(task, 'review', said, 'attention');
  },
  'gate-checked': gateSentence,
  'question-asked': ({ question, text }) => {
    const sentence = about(plainLine(question, 80), 'question', plainLine(text, 400), 'attention');
    return { ...sentence, who: 'question' };
  },
  'question-answered': ({ question, answer }) => {
    // An edited plan is as long as the plan.
    const said = answer.trimStart().startsWith('{') ? 'the plan, edited' : plainLine(answer, 400);
    return { ...about(plainLine(question, 80), 'answered', said, 'usual'), who: 'answer' };
  },
  intervened: ({ verb, on, by, text }) => {
    const about = on === undefined ? '' : ` ${plainLine(on, 80)}`;
    const said = `${verb}${about}${text === undefined ? '' : ` “${plainLine(text, 300)}”`}`;
    const who = plainLine(by, 64);
    return { label: 'operator', line: `${said}, by ${who}`, who, said, tone: 'usual' };
  },
  'account-changed': (event) => {
    const tone = ({ works: 'good', limited: 'attention', 'locked-out': 'bad' } as const)[event.state];
    return about(plainLine(event.account, 80), 'account', accountText(event), tone);
  },
  'stall-changed': (event) => {
    const isStalled = event.state === 'stalled';
    const [id, why] = [shortId(event.attemptId), plainLine(event.why, 200)];
    const words = { line: `${id} ${event.agent}: ${why}`, who: event.agent, said: `${id}: ${why}` };
    return { label: isStalled ? 'stall' : 'works', ...words, tone: isStalled ? 'attention' : 'good' };
  },
  mail: ({ line }) => noted('mail', 'mail', plainLine(line, 500), 'usual'),
  'mail-overdue': (event) => {
    const question = event.line === undefined ? '' : `: ${plainLine(event.line, 300)}`;
    const what = `${plainLine(event.to, 60)} has not answered ${plainLine(event.message, 120)} in time`;
    return noted('mail', 'mail', `${what}${question}${howToAnswer(event)}`, 'attention');
  },
  tracing: (event) => {
    const isWhole = (event.dropped ?? 0) === 0 && event.unscored === undefined;
    return noted('traces', 'traces', tracingText(event), isWhole ? 'usual' : 'attention');
  },
  warning: ({ text }) => noted('note', 'note', plainLine(text, 600), 'attention'),
  'run-ended': ({ headline, outcome }) => onBoard(reasons(headline), outcome === 'done' ? 'good' : 'attention'),
  'session-announced': (event) => {
    const model = event.model === undefined ? '' : `, ${plainLine(event.model)}`;
    return turn(event, 'session', `${plainLine(event.id)}${event.resumed ? ' (resumed)' : ''}${model}`);
  },
  // A part of a text is no line of its own.
  text: (event) => (event.delta ? undefined : turn(event, 'says', plainLine(event.text), event.text)),
  thinking: (event) => turn(event, 'thinks', plainLine(event.text)),
  'tool-started': (event) => {
    const tool = event.server === undefined ? event.tool : `${event.server}/${event.tool}`;
    return turn(
      event,
      'tool',
      `${plainLine(tool, 60)} ${callText(event.input, 120)}`,
      `${plainLine(tool, 60)} ${callText(event.input, 300)}`,
    );
  },
  'tool-ended': toolSentence,
  'files-changed': (event) => {
    const line = event.changes.map(({ kind, path }) => `${kind} ${plainLine(path, 120)}`).join(', ');
    return turn(event, 'files', line, plainLine(line, 400));
  },
  'retry-scheduled': (event) => {
    const line = `${event.failure}: ${plainLine(event.message)}`;
    return turn(event, 'retries', line, `retries, ${line}`, 'attention');
  },
  notice: (event) => turn(event, 'notice', plainLine(event.text), plainLine(event.text, 400)),
};

/** The words for an event; undefined: no view says anything of it. */
export function sentenceOf(event: RunEvent | TurnEvent): Sentence | undefined {
  // The row of its own type.
  return (SENTENCES as Record<string, (event: RunEvent | TurnEvent) => Sentence | undefined>)[event.type]?.(event);
}

function turn({ agent = '' }: { agent?: string }, label: string, line: string, said?: string, tone: Tone = 'usual') {
  return { label, line, who: agent, said, tone };
}

function noted(label: string, who: string, line: string, tone: Tone): Sentence {
  return { label, line, who, said: line, tone };
}

/** The log says it in lines of other events. */
function onBoard(said: string, tone: Tone): Sentence {
  return { label: '', line: '', who: 'squad', said, tone };
}

function about(who: string, label: string, said: string, tone: Tone): Sentence {
  return { label, line: `${who}: ${said}`, who, said, tone };
}

/** Without the run's name. */
function shortId(attemptId: string): string {
  return attemptId.slice(attemptId.lastIndexOf('.') + 1);
}

const TASK_TONES: Partial<Record<Of<'task-changed'>['status'], Tone>> = {
  done: 'good',
  failed: 'bad',
  blocked: 'bad',
  cancelled: 'bad',
  skipped: 'bad',
};

function taskSentence({ task, status, round, title, why, because }: Of<'task-changed'>): Sentence | undefined {
  // The end says how many were cancelled with the task that they need.
  if (because !== undefined) return undefined;
  const of = why === undefined || status === 'done' ? '' : `: ${plainLine(reasons(why), 300)}`;
  const said = `${status}${round > 1 ? `, round ${round}` : ''} — ${plainLine(title, 80)}${of}`;
  return { label: 'task', line: `${task} ${said}`, who: task, said, tone: TASK_TONES[status] ?? 'usual' };
}

/** `SPEC_REVIEW (4/13) live, round 2 of 4, by reviewer, pm`. */
function stageSentence(event: Of<'stage-changed'>): Sentence | undefined {
  const { state, title, by } = event.stage;
  // The end says how many were cancelled.
  if (state === 'cancelled') return undefined;
  const facts = [roundText(event.stage), by.length === 0 ? '' : `by ${by.join(', ')}`].filter((fact) => fact !== '');
  const where = plainLine([`${placeText(event)} ${state}`, ...facts].join(', '), 200);
  const line = `${where} — ${plainLine(title, 80)}`;
  const tone = state === 'failed' ? 'bad' : state === 'done' ? 'good' : 'usual';
  return noted('stage', 'stage', line, tone);
}

function endSentence(event: Of<'attempt-ended'>): Sentence {
  const { attemptId, agent, task, kind, outcome, failure, durationMs } = event;
  const isCompleted = outcome === 'completed';
  const tone = isCompleted ? 'usual' : 'bad';
  const after = `after ${durationMs < 10_000 ? `${(durationMs / 1000).toFixed(1)} s` : spanText(durationMs)}`;
  if (kind === 'check') {
    const line = `${shortId(attemptId)} ${isCompleted ? 'passed' : 'failed'} ${after}`;
    return noted('check', task, line, tone);
  }
  const kindOf = failure === undefined || failure.kind === outcome ? '' : `${failure.kind}: `;
  const why = failure === undefined ? '' : ` (${kindOf}${plainLine(failure.message, 300)})`;
  const what = `${shortId(attemptId)} ${outcome} ${after}`;
  return { label: 'turn', line: `${what}: ${agent}${why}`, who: agent, said: `${what}${why}`, tone };
}

const GATE_TONES = { finished: 'good', judging: 'usual', refused: 'bad', void: 'attention' } as const;

function gateSentence({ head, passed, failed, cannotRun = [], result }: Of<'gate-checked'>): Sentence {
  const named = (how: string, commands: readonly string[]): string[] =>
    commands.length === 0 ? [] : [`${how}: ${plainLine(commands.join(', '), 200)}`];
  const ran = [`${passed} passed`, ...named('failed', failed), ...named('cannot run', cannotRun)].join(', ');
  const commands = passed + failed.length + cannotRun.length === 0 ? 'no command to run' : ran;
  const line =
    result === 'void'
      ? `the run branch is at ${head?.slice(0, 12) ?? 'no commit'}, where squad did not leave it`
      : `${head?.slice(0, 12) ?? ''}: ${commands}${result === 'judging' ? '; a reviewer judges the rest' : ''}`;
  return noted('gate', 'gate', line, GATE_TONES[result]);
}

/** The command that answers a question to MAIN, who may be a person away from the inbox. */
function howToAnswer({ to, action, message }: Of<'mail-overdue'>): string {
  if (to !== MAIN || action !== 'clarify') return '';
  return `. Next: squad mail reply "…" --corr '#${plainLine(message.split('-').at(-1) ?? '', 20)}'`;
}

/** That by which people recognise a call; data of another form as it is. */
function callText(input: unknown, most: number): string {
  return plainLine(toolTarget(input) || (JSON.stringify(input) ?? ''), most);
}

function toolSentence(event: OfTurn<'tool-ended'>): Sentence {
  const { ok, denied, input, output = '' } = event;
  const call = input === undefined ? '' : `${callText(input, 120)} `;
  const line = `${call}${plainLine(output, 160)}`;
  if (ok) return turn(event, 'tool ok', line);
  const said = `${denied ? 'denied' : 'failed'}: ${plainLine(output, 400)}`;
  return turn(event, denied ? 'tool DENY' : 'tool FAIL', line, said, 'bad');
}
