import { engineTime } from '../../model/spending.ts';
import { usageCountOf, type RunProgress, type UsageCount } from '../../read-model/usage-count.ts';
import { squadOn } from '../../squad.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import type { CommandContext } from '../command-context.ts';
import type { Terminal } from '../output.ts';
import { EMPTY_BOARD, type BoardState } from './board-state.ts';
import { Board, type BoardActions } from './board.ts';

/** How far the time on a board may be ahead of what the engine has recorded, which it does every two seconds. */
const MOST_AHEAD_MS = 2_500;
const READ_MS = 1_000;

interface WatchActions extends Pick<BoardActions, 'answer'> {
  readonly ledger: Ledger;
  readonly runId: string;
  readonly leave: () => void;
}

/** The board of a run that another process drives. */
export function openWatchBoard(
  { host }: CommandContext,
  terminal: Terminal,
  { ledger, runId, leave, answer }: WatchActions,
): Board {
  const squad = squadOn(host);
  return new Board(
    terminal,
    {
      progress: createProgress(ledger, runId),
      intervene: async (request) => squad.intervene(runId, request),
      answer,
      interrupting: 'leave, the run continues',
      quit: leave,
    },
    EMPTY_BOARD,
  );
}

const ENDED: ReadonlySet<string> = new Set(['done', 'failed', 'cancelled', 'skipped']);

/** The use of a run by its ledger, which is read once a second. */
export function createProgress(ledger: Ledger, runId: string): (state: BoardState) => RunProgress {
  let read: { at: number; usage: UsageCount; ms: number; since: number; isLive: boolean } | undefined;
  return ({ tasks }) => {
    const now = performance.now();
    if (read === undefined || now - read.at >= READ_MS) {
      const segments = ledger.segments(runId);
      const ms = engineTime(segments);
      const since = read?.ms === ms ? read.since : now;
      const isLive = segments.at(-1)?.releasedAt === null;
      read = { at: now, usage: usageCountOf(ledger.totals(runId)), ms, since, isLive };
    }
    const ahead = read.isLive ? Math.min(MOST_AHEAD_MS, now - read.since) : 0;
    const ended = tasks.entries().filter(([, { status }]) => ENDED.has(status)).length;
    return { tasks: { all: tasks.size, ended }, elapsedMs: read.ms + ahead, ...read.usage };
  };
}
