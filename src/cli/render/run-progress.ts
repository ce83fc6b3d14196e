import type { RunProgress } from '../../read-model/usage-count.ts';
import type { RunEvent } from '../../model/run-event.ts';
import { localTime } from '../../text/time.ts';
import { plainLine } from '../../text/plain-text.ts';
import { costText } from '../../model/amount.ts';

/** The status line: the engine supplies the progress, and the run's events the working agents. */
export function createProgress() {
  const live = new Map<string, { agent: string; task: string; since: number }>();
  let waits: { why: string; until?: number | undefined } | undefined;
  return {
    take: (event: RunEvent): void => {
      if (event.type === 'decided') waits = event.next === 'wait' ? event : undefined;
      if (event.type === 'attempt-taken') live.set(event.attemptId, { ...event, since: event.at });
      if (event.type === 'attempt-ended') live.delete(event.attemptId);
    },
    line: (now: number, { tasks, usage, elapsedMs }: RunProgress): string => {
      const who = [...live.values()].map(({ agent, task, since }) => `${agent}→${task} ${seconds(now - since)}`);
      const cost = usage.costUsd === 0 ? '' : `  ${costText(usage)}`;
      const until = waits?.until === undefined ? '' : ` until ${localTime(waits.until, now)}`;
      const waiting = waits === undefined ? 'waiting' : `${plainLine(waits.why, 80)}${until}`;
      const working = who.length === 0 ? waiting : who.join(', ');
      return `${seconds(elapsedMs)}  ${tasks.ended}/${tasks.all} tasks${cost}  ${working}`;
    },
  };
}

function seconds(ms: number): string {
  const whole = Math.max(0, Math.round(ms / 1000));
  return whole < 60 ? `${whole}s` : `${Math.floor(whole / 60)}m${String(whole % 60).padStart(2, '0')}s`;
}
