import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EMPTY_BOARD } from '../../../src/cli/board/board-state.ts';
import { takeEvent, type BoardView } from '../../../src/cli/board/view.ts';
import { runEventSchema, type RunEvent } from '../../../src/model/run-event.ts';
import type { RunProgress } from '../../../src/view/usage-count.ts';

export const BOARD_FIXTURES = join(import.meta.dirname, '../../fixtures/board');

/** Six agents, a turn that stalls, an account at its usage limit, a question to a person and a review that rejects. */
export function recordedRun(name = 'sign-in'): RunEvent[] {
  const lines = readFileSync(join(BOARD_FIXTURES, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => runEventSchema.parse(JSON.parse(line)));
}

/** What a person sees after these events, `later` ms after the last of them. */
export function viewAfter(events: readonly RunEvent[], later: number): BoardView {
  const now = (events.at(-1)?.at ?? 0) + later;
  return {
    state: events.reduce(takeEvent, EMPTY_BOARD),
    now,
    progress: progressOf(events, now),
    ...{ open: undefined, scrolled: 0, notice: undefined },
    keys: [
      { key: '↑↓', does: 'scroll' },
      { key: '1-6', does: 'transcript' },
      { key: 'a', does: 'answer' },
      { key: 'p', does: 'pause' },
      { key: 'd', does: 'drain' },
      { key: 'q', does: 'quit' },
    ],
  };
}

/** The use that an engine would report with the last of these events. */
function progressOf(events: readonly RunEvent[], now: number): RunProgress {
  const isTurn = (event: RunEvent): boolean => 'kind' in event && event.kind === 'turn';
  const started = events.filter((event) => event.type === 'attempt-taken' && isTurn(event)).length;
  const settled = events.flatMap((event) => (event.type === 'attempt-ended' && event.kind === 'turn' ? [event] : []));
  const tasks = new Map(events.flatMap((event) => (event.type === 'task-changed' ? [[event.task, event.status]] : [])));
  const sum = (of: 'inputTokens' | 'outputTokens' | 'costUsd'): number =>
    settled.reduce((total, { usage }) => total + (usage?.[of] ?? 0), 0);
  return {
    tasks: { all: tasks.size, ended: [...tasks.values()].filter((status) => status === 'done').length },
    elapsedMs: now - (events[0]?.at ?? now),
    turns: { started, settled: settled.length, lost: 0, live: started - settled.length },
    usage: {
      ...{ inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens'), costUsd: sum('costUsd') },
      unknownTurns: settled.filter(({ usage }) => usage === undefined).length,
      unknownCostTurns: settled.filter(({ usage }) => usage?.costUsd === undefined).length,
    },
  };
}
