import type { RunEvent } from '../../model/run-event.ts';
import { eventsBefore } from '../../view/run-events.ts';
import type { RunningRun } from '../../view/running-run.ts';
import type { RunProgress } from '../../view/usage-count.ts';
import type { InterventionRequest } from '../../model/plan/verbs.ts';
import { squadOn } from '../../squad/squad.ts';
import { openWorkspace, withLedger } from '../../squad/open-workspace.ts';
import type { CommandContext } from '../command-context.ts';
import type { Terminal } from '../output.ts';
import { EMPTY_BOARD } from './board-state.ts';
import { Board, type AskNote } from './board.ts';
import { createTeamLook } from './team-look.ts';
import { takeEvent } from './view.ts';

/** Shorter than the time between two frames that only count the seconds. */
const READ_MS = 500;

const WORDS = { interrupting: 'stop, state saved', quitting: 'q again: plain lines; Ctrl-C: ends the run.' };

/** The board of a run that this process drives. It takes the terminal once the run has started. */
export function createDriveBoard(context: CommandContext, terminal: Terminal, askNote: AskNote) {
  let board: Board | undefined;
  let answer: (() => Promise<void>) | undefined;
  let opening = Promise.resolve();
  let waiting: RunEvent[] | undefined = [];
  let running: RunningRun | undefined;
  const team = createTeamLook(context);
  let known: { readonly at: number; readonly progress: RunProgress } | undefined;
  const close = (): void => {
    waiting = undefined;
    board?.close();
    board = undefined;
    team.close();
  };
  /** From the ledger, so not for each frame. After the end, what was known last. */
  const progress = (): RunProgress | undefined => {
    const now = performance.now();
    if (running !== undefined && (known === undefined || now - known.at >= READ_MS)) {
      known = { at: now, progress: running.progress() };
    }
    return known?.progress;
  };
  const open = (runId: string, earlier: readonly RunEvent[]): void => {
    if (waiting === undefined) return;
    const squad = squadOn(context.host);
    const intervene = async (request: InterventionRequest) => squad.intervene(runId, request);
    const actions = { ...WORDS, progress, team: team.shown, intervene, askNote, answer: () => answer, quit: close };
    board = new Board(terminal, actions, [...earlier, ...waiting].reduce(takeEvent, EMPTY_BOARD));
    waiting = undefined;
  };
  return {
    isOpen: (): boolean => board !== undefined,
    take: (event: RunEvent): void => {
      waiting?.push(event);
      board?.take(event);
      if (event.type !== 'run-started') return;
      const { runId, resumed, playbook } = event;
      const earlier = resumed ? readEarlier(context, runId) : Promise.resolve([]);
      // A board without the past, or without the team, is better than none.
      opening = Promise.all([earlier.catch(() => []), team.open({ run: runId, playbook })]).then(([events]) =>
        open(runId, events),
      );
    },
    line: (line: string): void => (board === undefined ? context.output.line(line) : board.print(line)),
    /** Gives the terminal to `work`. */
    away: async <T>(work: () => Promise<T>): Promise<T> => {
      await opening;
      return board === undefined ? work() : board.away(work);
    },
    answerBy: (ask: () => Promise<void>): void => void (answer = ask),
    notice: (text: string): void => board?.notice(text),
    follow: (followed: RunningRun): void => {
      running = followed;
      const over = (): void => void (running = undefined);
      void followed.done.then(over, over);
    },
    close,
  };
}

/** Events before the present engine, which is the last one in the ledger. */
async function readEarlier(context: CommandContext, runId: string): Promise<RunEvent[]> {
  return withLedger(await openWorkspace(context), 'read', (ledger) =>
    eventsBefore(ledger, runId, ledger.segments(runId).at(-1)?.epoch ?? 0),
  );
}
