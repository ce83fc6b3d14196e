import { roundVerdict } from '../../model/plan/review.ts';
import { MAIN } from '../../model/mail/vocabulary.ts';
import { placeText, roundText } from '../../model/shown-stage.ts';
import { TURN_EVENTS, type RunEvent } from '../../model/run-event.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import { accountText } from '../../model/wall-text.ts';
import { localTime } from '../../text/time.ts';
import { plainLine } from '../../text/plain-text.ts';
import { renderEvent } from './turn-lines.ts';
import { reasons } from '../../text/reasons.ts';

/** One event of a run as one line for people; undefined for what would only be noise. */
export function renderRunEvent(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'run-started':
      return renderStart(event);
    case 'task-changed': {
      // The end says how many were cancelled with the task that they need.
      if (event.because !== undefined) return undefined;
      const round = event.round > 1 ? `, round ${event.round}` : '';
      const why = event.why === undefined || event.status === 'done' ? '' : `: ${plainLine(reasons(event.why), 300)}`;
      return `task      ${event.task} ${event.status}${round} — ${plainLine(event.title, 80)}${why}`;
    }
    case 'stage-changed':
      // The end says how many were cancelled.
      if (event.stage.state === 'cancelled') return undefined;
      return `stage     ${stageText(event)} — ${plainLine(event.stage.title, 80)}`;
    case 'attempt-taken':
      return `${event.kind === 'check' ? 'check' : 'turn '}     ${short(event.attemptId)} ${event.how}: ${event.agent} (${placeOf(event)})`;
    case 'attempt-ended':
      return renderEnded(event);
    case 'task-returned':
      return `back      ${event.task}: ${RETURNED[event.from]}: ${plainLine(reasons(event.why), 400)}`;
    case 'decided': {
      const until = event.until === undefined ? '' : `until ${localTime(event.until, event.at)}: `;
      return `${event.next.padEnd(9)} ${until}${plainLine(reasons(event.why), 300)}`;
    }
    case 'review-round':
      return `review    ${event.task} round ${event.round}: ${roundVerdict(event)} — ${plainLine(event.feedback, 200)}`;
    case 'judge-replaced':
      return `review    ${event.task}: ${event.agent} gave no verdict, ${event.by} judges in its place — ${plainLine(reasons(event.why), 200)}`;
    case 'gate-checked':
      return renderGate(event);
    case 'question-asked':
      return `question  ${plainLine(event.question, 80)}: ${plainLine(event.text, 400)}`;
    case 'question-answered':
      return `answered  ${plainLine(event.question, 80)}: ${plainLine(answerText(event), 400)}`;
    case 'limits-changed':
    case 'run-defined':
    case 'pause-changed':
      // Lines of other events say it.
      return undefined;
    case 'account-changed':
    case 'stall-changed':
      return renderWall(event);
    case 'intervened':
      return `operator  ${event.verb}${event.on === undefined ? '' : ` ${plainLine(event.on, 80)}`}, by ${plainLine(event.by, 64)}`;
    case 'mail':
      return `mail      ${plainLine(event.line, 500)}`;
    case 'mail-overdue':
      return `mail      ${plainLine(event.to, 60)} has not answered ${plainLine(event.message, 120)} in time${event.line === undefined ? '' : `: ${plainLine(event.line, 300)}`}${howToAnswer(event)}`;
    case 'warning':
      return `note      ${plainLine(event.text, 600)}`;
    case 'run-ended':
      return undefined;
    default:
      return renderTurnEvent(event);
  }
}

function renderStart(event: Extract<RunEvent, { type: 'run-started' }>): string {
  return [
    `${event.resumed ? 'resumed ' : 'started '}  ${event.name}: ${event.branch === undefined ? 'no branch,' : `branch ${event.branch}`} from ${event.base.slice(0, 12)}, playbook ${event.playbook}`,
    `squad     ${event.agents.map(({ name, runtime, model }) => `${name} (${plainLine([runtime, model ?? ''].join(' '), 140)})`).join(', ')}`,
    ...event.agents.flatMap(({ name, equipment = [] }) =>
      equipment.length === 0 ? [] : [`has       ${name}: ${plainLine(equipment.join(', '), 400)}`],
    ),
  ].join('\n');
}

function renderWall(event: Extract<RunEvent, { type: 'account-changed' | 'stall-changed' }>): string {
  if (event.type === 'account-changed') return `account   ${plainLine(event.account, 80)}: ${accountText(event)}`;
  const what = event.state === 'stalled' ? 'stall' : 'works';
  return `${what}     ${short(event.attemptId)} ${event.agent}: ${plainLine(event.why, 200)}`;
}

/** Where a turn runs, and what it stands in for. */
export function placeOf({ runtime, insteadOf }: Extract<RunEvent, { type: 'attempt-taken' }>): string {
  return `${runtime}${insteadOf === undefined ? '' : ` in place of ${insteadOf}`}`;
}

/** `SPEC_REVIEW (4/13) live, round 2 of 4, by reviewer, pm`. */
function stageText(event: Extract<RunEvent, { type: 'stage-changed' }>): string {
  const { stage } = event;
  const by = stage.by.length === 0 ? '' : `by ${stage.by.join(', ')}`;
  const facts = [roundText(stage), by].filter((fact) => fact !== '');
  return plainLine([`${placeText(event)} ${stage.state}`, ...facts].join(', '), 200);
}

/** The command that answers a question to MAIN, who may be a person away from the inbox. */
function howToAnswer({ to, action, message }: Extract<RunEvent, { type: 'mail-overdue' }>): string {
  if (to !== MAIN || action !== 'clarify') return '';
  return `. Next: squad mail reply "…" --corr '#${plainLine(message.split('-').at(-1) ?? '', 20)}'`;
}

const RETURNED = {
  evidence: 'evidence is missing',
  conflict: 'conflict',
  verify: 'verify failed on the merged work',
  playbook: 'reopened',
} as const;

function renderGate({
  head,
  passed,
  failed,
  cannotRun = [],
  result,
}: Extract<RunEvent, { type: 'gate-checked' }>): string {
  if (result === 'void')
    return `gate      the run branch is at ${head?.slice(0, 12) ?? 'no commit'}, where squad did not leave it`;
  const ran = [`${passed} passed`, ...named('failed', failed), ...named('cannot run', cannotRun)].join(', ');
  const commands = passed + failed.length + cannotRun.length === 0 ? 'no command to run' : ran;
  return `gate      ${head?.slice(0, 12) ?? ''}: ${commands}${result === 'judging' ? '; a reviewer judges the rest' : ''}`;
}

function named(how: string, commands: readonly string[]): string[] {
  return commands.length === 0 ? [] : [`${how}: ${plainLine(commands.join(', '), 200)}`];
}

/** The attempt's id without the run's name. */
function short(attemptId: string): string {
  return attemptId.slice(attemptId.lastIndexOf('.') + 1);
}

type Ended = Extract<RunEvent, { type: 'attempt-ended' }>;

function renderEnded({ attemptId, agent, kind, outcome, failure, durationMs }: Ended): string {
  const seconds = `${(durationMs / 1000).toFixed(1)} s`;
  if (kind === 'check')
    return `check     ${short(attemptId)} ${outcome === 'completed' ? 'passed' : 'failed'} after ${seconds}`;
  const why = failure === undefined ? '' : ` (${failure.kind}: ${plainLine(failure.message, 300)})`;
  return `turn      ${short(attemptId)} ${outcome} after ${seconds}: ${agent}${why}`;
}

function renderTurnEvent(event: Extract<RunEvent, { attemptId: string; agent: string }>): string | undefined {
  if (!isTurnEvent(event)) return undefined;
  const line = renderEvent(event);
  return line === undefined ? undefined : `  ${event.agent}/${event.task}  ${line}`;
}

/** A turn's event, with its attempt. */
export function isTurnEvent<T extends { type: string }>(event: T): event is T & TurnEvent {
  return TURN_EVENTS.some((type) => type === event.type);
}

/** What a person answered; an edited plan is as long as the plan. */
export function answerText({ answer }: Extract<RunEvent, { type: 'question-answered' }>): string {
  return answer.trimStart().startsWith('{') ? 'the plan, edited' : answer;
}
