import { roundVerdict } from '../../model/plan/review.ts';
import type { RunEvent } from '../../model/run-event.ts';
import { placeText } from '../../model/shown-stage.ts';
import { spanText } from '../../text/duration.ts';
import { plainLine } from '../../text/plain-text.ts';
import { localTime } from '../../text/time.ts';
import { accountText } from '../../model/wall-text.ts';
import { answerText, isTurnEvent, placeOf } from '../render/run-lines.ts';
import { reasons } from '../../text/reasons.ts';
import type { Activity, BoardState } from './board-state.ts';
import { toolText } from './live-turn.ts';

const MOST_TEXT = 400;

/** Who says what mail says. */
export const MAIL = 'mail';

type Said = Omit<Activity, 'at'>;

/** One event of a run as a line of the activity; undefined for what other parts of the frame show, or what is only noise. */
export function activityOf(event: RunEvent, before: BoardState): Activity | undefined {
  const said = saidBy(event, before);
  if (said === undefined) return undefined;
  return { at: event.at, ...said, who: plainLine(said.who, 40), text: plainLine(said.text.slice(0, 2_000), MOST_TEXT) };
}

function usual(who: string, text: string): Said {
  return { who, text, tone: 'usual' };
}

function saidBy(event: RunEvent, before: BoardState): Said | undefined {
  switch (event.type) {
    case 'run-started':
      return usual(
        'squad',
        `${event.resumed ? 'resumes' : 'starts'} ${event.name} ${event.branch === undefined ? 'without a branch' : `on branch ${event.branch}`}`,
      );
    case 'task-changed':
      return taskSaid(event, before);
    case 'stage-changed':
      return stageSaid(event);
    case 'attempt-taken':
      return event.kind === 'check' ? undefined : usual(event.agent, takenText(event));
    case 'attempt-ended':
      return endSaid(event);
    case 'decided':
      return decisionSaid(event, before);
    case 'task-returned':
      return { who: event.task, text: `${RETURNED[event.from]}: ${reasons(event.why)}`, tone: 'bad' };
    case 'review-round':
    case 'judge-replaced':
      return reviewSaid(event);
    case 'question-asked':
      return { who: 'question', text: event.text, tone: 'attention' };
    case 'question-answered':
      return usual('answer', answerText(event));
    case 'gate-checked':
      return gateSaid(event);
    case 'intervened':
      return usual(event.by, `${event.verb}${event.on === undefined ? '' : ` ${event.on.replace('/', ' ')}`}`);
    case 'limits-changed':
      return usual('squad', 'the limits are raised');
    case 'account-changed':
      return accountSaid(event);
    case 'stall-changed':
      return stallSaid(event);
    case 'mail':
      return usual(MAIL, event.line);
    case 'mail-overdue':
      return { who: MAIL, text: `${event.to} has not answered ${event.message} in time`, tone: 'attention' };
    case 'warning':
      return { who: 'note', text: event.text, tone: 'attention' };
    case 'run-ended':
      return { who: 'squad', text: reasons(event.headline), tone: event.outcome === 'done' ? 'good' : 'attention' };
    case 'run-defined':
    case 'pause-changed':
      return undefined;
    default:
      return turnSaid(event);
  }
}

function reviewSaid(event: Extract<RunEvent, { type: 'review-round' | 'judge-replaced' }>): Said {
  if (event.type === 'judge-replaced') {
    const text = `judges ${event.task} in place of ${event.agent}, who gave no verdict`;
    return { who: event.by, text, tone: 'attention' };
  }
  const { task: who, approved, silent, feedback } = event;
  const text = `${roundVerdict(event)} in round ${event.round}`;
  if (!approved) return { who, text: `${text}: ${feedback}`, tone: 'bad' };
  return { who, text, tone: silent === undefined ? 'good' : 'attention' };
}

function takenText(event: Extract<RunEvent, { type: 'attempt-taken' }>): string {
  return `${TAKEN[event.how]} ${event.task}${event.insteadOf === undefined ? '' : ` on ${placeOf(event)}`}`;
}

const TAKEN = { started: 'starts', 'started-again': 'starts again with', attached: 'continues' } as const;

const RETURNED = {
  evidence: 'goes back, evidence is missing',
  conflict: 'goes back, its work conflicts',
  verify: 'goes back, verify failed on the merged work',
  playbook: 'is opened again',
} as const;

function taskSaid(
  { task, status, why, title, because }: Extract<RunEvent, { type: 'task-changed' }>,
  before: BoardState,
): Said | undefined {
  // The end says how many were cancelled with the task that they need.
  if (because !== undefined) return undefined;
  if (before.tasks.get(task) === undefined) return usual(task, `is planned: ${title}`);
  switch (status) {
    case 'done':
      return { who: task, text: 'is done', tone: 'good' };
    case 'failed':
    case 'cancelled':
    case 'skipped':
      return { who: task, text: `${status === 'failed' ? '' : 'is '}${status}: ${reasons(why ?? '')}`, tone: 'bad' };
    case 'waiting':
    case 'ready':
    case 'live':
    case 'reviewing':
    case 'integrating':
      return undefined;
    default:
      return status satisfies never;
  }
}

function stageSaid({ stage, change, ...of }: Extract<RunEvent, { type: 'stage-changed' }>): Said | undefined {
  // The end says how many were cancelled.
  if (change !== 'state' || stage.state === 'waiting' || stage.state === 'cancelled') return undefined;
  const text = `${STAGE[stage.state]} ${placeText({ stage, ...of })}`;
  const tone = stage.state === 'failed' ? 'bad' : stage.state === 'done' ? 'good' : 'usual';
  return { who: 'stage', text, tone };
}

const STAGE = { live: 'begins', done: 'done', failed: 'failed', skipped: 'skipped' } as const;

function endSaid({
  agent,
  task,
  kind,
  outcome,
  failure,
  durationMs,
}: Extract<RunEvent, { type: 'attempt-ended' }>): Said {
  const took = spanText(durationMs);
  if (kind === 'check') {
    return outcome === 'completed'
      ? usual(task, `a check passed after ${took}`)
      : { who: task, text: `a check failed after ${took}`, tone: 'bad' };
  }
  if (outcome === 'completed') return usual(agent, `ends its turn on ${task} after ${took}`);
  const of = failure === undefined || failure.kind === 'cancelled' ? '' : `${failure.kind}: `;
  return { who: agent, text: `${task} broke off after ${took}: ${of}${failure?.message ?? outcome}`, tone: 'bad' };
}

/** A waiting run repeats its decision after every input. */
function decisionSaid(event: Extract<RunEvent, { type: 'decided' }>, { decided }: BoardState): Said | undefined {
  const { next, why, until, at } = event;
  if (next === 'start' || next === 'ask' || (next === 'wait' && until === undefined)) return undefined;
  if (decided?.next === next && decided.why === why && decided.until === until) return undefined;
  const when = until === undefined ? '' : ` until ${localTime(until, at)}`;
  const verb = { wait: 'waits', stop: 'stops', finish: 'finishes' }[next] ?? next;
  return { who: 'squad', text: `${verb}${when}: ${reasons(why)}`, tone: next === 'finish' ? 'usual' : 'attention' };
}

function gateSaid({ passed, failed, cannotRun = [], result }: Extract<RunEvent, { type: 'gate-checked' }>): Said {
  const text = {
    finished: 'the result passes',
    judging: 'a reviewer judges the result',
    refused: 'the result is refused',
    void: 'something else moved the run branch',
  }[result];
  const named = (how: string, commands: readonly string[]): string[] =>
    commands.length === 0 ? [] : [`${how}: ${commands.join(', ')}`];
  const of = [`${passed} passed`, ...named('failed', failed), ...named('cannot run', cannotRun)].join(', ');
  const tone = ({ finished: 'good', judging: 'usual', refused: 'bad', void: 'attention' } as const)[result];
  return { who: 'squad', text: passed + failed.length + cannotRun.length === 0 ? text : `${text}: ${of}`, tone };
}

function stallSaid({ agent, task, state, why }: Extract<RunEvent, { type: 'stall-changed' }>): Said {
  return { who: agent, text: `${task}: ${why}`, tone: state === 'stalled' ? 'attention' : 'good' };
}

function accountSaid(event: Extract<RunEvent, { type: 'account-changed' }>): Said {
  const tone = ({ works: 'good', limited: 'attention', 'locked-out': 'bad' } as const)[event.state];
  return { who: event.account, text: accountText(event), tone };
}

function turnSaid(event: Extract<RunEvent, { attemptId: string; agent: string }>): Said | undefined {
  if (!isTurnEvent(event)) return undefined;
  switch (event.type) {
    case 'text':
      return event.delta ? undefined : usual(event.agent, event.text);
    case 'tool-started':
      return usual(event.agent, toolText(event));
    case 'tool-ended':
      if (event.ok) return undefined;
      return { who: event.agent, text: `${event.denied ? 'denied' : 'failed'}: ${event.output ?? ''}`, tone: 'bad' };
    case 'retry-scheduled':
      return { who: event.agent, text: `tries again: ${event.message}`, tone: 'attention' };
    case 'notice':
      return usual(event.agent, event.text);
    case 'session-announced':
    case 'thinking':
    case 'files-changed':
      return undefined;
    default:
      return event satisfies never;
  }
}
