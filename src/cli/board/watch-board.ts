import type { Board as PlanBoard } from '../../model/plan/board.ts';
import { engineTime } from '../../model/spending.ts';
import { progressOf, type RunProgress } from '../../view/usage-count.ts';
import { squadOn } from '../../squad/squad.ts';
import { defined } from '../../text/defined.ts';
import type { Ledger, Totals } from '../../substrate/ports/ledger.ts';
import type { CommandContext } from '../command-context.ts';
import type { Terminal } from '../output.ts';
import { EMPTY_BOARD } from './board-state.ts';
import { Board, type BoardActions } from './board.ts';

/** How far the time on a board may be ahead of what the engine has recorded, which it does every two seconds. */
const MOST_AHEAD_MS = 2_500;
const READ_MS = 1_000;

interface WatchActions extends Pick<BoardActions, 'answer' | 'askNote'> {
  readonly ledger: Ledger;
  readonly runId: string;
  readonly leave: () => void;
  /** After `Ctrl-C`; absent: that leaves the run as it is. */
  readonly interrupting?: string | undefined;
  readonly team: BoardActions['team'];
  /** The plan of the run; undefined: it is not known yet. */
  readonly plan: () => PlanBoard | undefined;
}

/** The board of a run that another process drives. */
export function openWatchBoard(
  { host }: CommandContext,
  terminal: Terminal,
  { ledger, runId, leave, interrupting = 'leave, it continues', answer, askNote, team, plan }: WatchActions,
): Board {
  const squad = squadOn(host);
  return new Board(
    terminal,
    {
      progress: createProgress(ledger, runId, plan),
      intervene: async (request) => squad.intervene(runId, request),
      answer,
      askNote,
      ...defined({ team }),
      interrupting,
      quit: leave,
    },
    EMPTY_BOARD,
  );
}

/** The use of a run by its ledger, which is read once a second. */
export function createProgress(
  ledger: Ledger,
  runId: string,
  board: () => PlanBoard | undefined,
): () => RunProgress | undefined {
  let read: { at: number; totals: Totals; ms: number; since: number; isLive: boolean } | undefined;
  return () => {
    const now = performance.now();
    if (read === undefined || now - read.at >= READ_MS) {
      const segments = ledger.segments(runId);
      const ms = engineTime(segments);
      const since = read?.ms === ms ? read.since : now;
      const isLive = segments.at(-1)?.releasedAt === null;
      read = { at: now, totals: ledger.totals(runId), ms, since, isLive };
    }
    const ahead = read.isLive ? Math.min(MOST_AHEAD_MS, now - read.since) : 0;
    const plan = board();
    return plan === undefined ? undefined : progressOf(plan, read.totals, read.ms + ahead);
  };
}
