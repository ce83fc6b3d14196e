import type { RunEvent } from '../../model/run-event.ts';

/** From the most to the least important. */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** How important an event of a run is to a person. */
export function levelOf(event: RunEvent): LogLevel {
  switch (event.type) {
    case 'question-asked':
    case 'mail-overdue':
    case 'task-returned':
    case 'warning':
      return 'warn';
    case 'attempt-ended':
      if (event.outcome !== 'completed') return 'warn';
      return event.kind === 'check' ? 'debug' : 'info';
    case 'task-changed':
      return event.status === 'failed' || event.status === 'cancelled' ? 'warn' : 'info';
    case 'attempt-taken':
      return event.kind === 'check' ? 'debug' : 'info';
    case 'decided':
      if (event.next === 'wait') return event.until === undefined ? 'debug' : 'info';
      return event.next === 'start' ? 'debug' : 'info';
    case 'thinking':
      return 'debug';
    default:
      return 'info';
  }
}

export function isShown(level: LogLevel, chosen: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(chosen);
}
