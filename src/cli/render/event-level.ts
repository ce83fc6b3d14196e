import type { RunEvent } from '../../model/run-event.ts';

/** From the most to the least important. */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const LEVELS: Partial<Record<RunEvent['type'], LogLevel>> = {
  'question-asked': 'warn',
  'mail-overdue': 'warn',
  'task-returned': 'warn',
  'judge-replaced': 'warn',
  warning: 'warn',
  thinking: 'debug',
};

const BAD_ENDS: ReadonlySet<string> = new Set(['failed', 'blocked', 'cancelled']);

/** How important an event of a run is to a person. */
export function levelOf(event: RunEvent): LogLevel {
  if (event.type === 'attempt-ended' && event.outcome !== 'completed') return 'warn';
  if (event.type === 'attempt-ended' || event.type === 'attempt-taken')
    return event.kind === 'check' ? 'debug' : 'info';
  if (event.type === 'task-changed' && BAD_ENDS.has(event.status)) return 'warn';
  if (event.type === 'stage-changed') return levelOfStage(event);
  if (event.type === 'stall-changed' || event.type === 'account-changed')
    return event.state === 'works' ? 'info' : 'warn';
  if (event.type === 'tracing') return (event.dropped ?? 0) > 0 || event.unscored !== undefined ? 'warn' : 'info';
  const isRoutine = event.type === 'decided' && event.until === undefined && event.next === 'wait';
  if (isRoutine || (event.type === 'decided' && event.next === 'start')) return 'debug';
  return LEVELS[event.type] ?? 'info';
}

/** Lines of turns say who works, and a stage waits until it begins. */
function levelOfStage({ change, stage: { state } }: Extract<RunEvent, { type: 'stage-changed' }>): LogLevel {
  if (change === 'agents' || state === 'waiting') return 'debug';
  return state === 'failed' ? 'warn' : 'info';
}

export function isShown(level: LogLevel, chosen: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(chosen);
}
