import type { RunEvent } from '../../model/run-event.ts';
import { clockTime, localDate } from '../../text/time.ts';
import { createLines } from './event-lines.ts';
import { levelOf, type LogLevel } from './event-level.ts';
import type { Style } from './style.ts';

/** Keeps only events of this task and this agent; absent: of all. */
export interface LogScope {
  readonly task?: string;
  readonly agent?: string;
}

/** Whether an event is about this task and this agent. */
export function isAbout(event: RunEvent, { task, agent }: LogScope): boolean {
  const ofTask = task === undefined || ('task' in event && event.task === task);
  return ofTask && (agent === undefined || ('agent' in event && event.agent === agent));
}

/** The lines of events in their order: local times, a line for each new day, and colour for what went well or did not. */
export function createLogLines(chosen: LogLevel, style: Style) {
  const lineOf = createLines(chosen, undefined);
  let day: string | undefined;
  return (event: RunEvent): string[] => {
    const line = lineOf(event);
    if (line === undefined) return [];
    const date = localDate(event.at);
    const isNewDay = date !== day;
    day = date;
    const format = formatOf(event);
    const shown = format === undefined ? line : style(format, line);
    return [...(isNewDay ? [style('dim', date)] : []), `${style('dim', clockTime(event.at))}  ${shown}`];
  };
}

function formatOf(event: RunEvent): 'yellow' | 'green' | undefined {
  if (levelOf(event) === 'warn') return 'yellow';
  return event.type === 'task-changed' && event.status === 'done' ? 'green' : undefined;
}
