import type { RunEvent } from '../../model/run-event.ts';
import { localTime } from './local-time.ts';
import { plainLine } from './plain-text.ts';

/** What the status line is made of, taken from the events of a run. */
export interface Progress {
  take(event: RunEvent): void;
  line(now: number): string;
}

const ENDED: ReadonlySet<string> = new Set(['done', 'failed', 'skipped', 'cancelled']);

export function createProgress(): Progress {
  const tasks = new Map<string, string>();
  const live = new Map<string, { agent: string; task: string; since: number }>();
  let waits: { why: string; until?: number | undefined } | undefined;
  let startedAt: number | undefined;
  let costUsd = 0;
  return {
    take: (event) => {
      startedAt ??= event.at;
      if (event.type === 'decided') waits = event.next === 'wait' ? event : undefined;
      if (event.type === 'task-changed') tasks.set(event.task, event.status);
      if (event.type === 'attempt-taken') live.set(event.attemptId, { ...event, since: event.at });
      if (event.type === 'attempt-ended') {
        live.delete(event.attemptId);
        costUsd += event.usage?.costUsd ?? 0;
      }
    },
    line: (now) => {
      const ended = [...tasks.values()].filter((status) => ENDED.has(status)).length;
      const who = [...live.values()].map(({ agent, task, since }) => `${agent}→${task} ${seconds(now - since)}`);
      const cost = costUsd === 0 ? '' : `  $${costUsd.toFixed(2)}`;
      const until = waits?.until === undefined ? '' : ` until ${localTime(waits.until, now)}`;
      const waiting = waits === undefined ? 'waiting' : `${plainLine(waits.why, 80)}${until}`;
      const working = who.length === 0 ? waiting : who.join(', ');
      return `${seconds(now - (startedAt ?? now))}  ${ended}/${tasks.size} tasks${cost}  ${working}`;
    },
  };
}

function seconds(ms: number): string {
  const whole = Math.max(0, Math.round(ms / 1000));
  return whole < 60 ? `${whole}s` : `${Math.floor(whole / 60)}m${String(whole % 60).padStart(2, '0')}s`;
}
