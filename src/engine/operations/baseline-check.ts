import { isBaselineDue } from '../../rules/baseline.ts';
import type { Board } from '../../model/plan/board.ts';
import { BASELINE, checkBaseline } from './check-baseline.ts';
import type { Due, Note, OperationPorts } from './operation-ports.ts';

interface BaselineCheck {
  /** The check of the base commit, if the board asks for it. */
  due(board: Board): Due[];
  /** Begins no other check, and resolves once none runs. The next engine repeats what has no result. */
  end(): Promise<void>;
}

/** The one operation that nothing waits for: tasks start without its result, and the end of the run cuts it short. */
export function createBaselineCheck(ports: OperationPorts): BaselineCheck {
  const ending = new AbortController();
  let working: Promise<void> | undefined;
  const guarded: OperationPorts = {
    ...ports,
    checks: {
      ...ports.checks,
      run: async (order) => {
        ending.signal.throwIfAborted();
        return ports.checks.run(order);
      },
    },
  };
  const work = async (board: Board, note: Note): Promise<void> => {
    const news = await checkBaseline(guarded, board);
    if (ending.signal.aborted) return;
    note(news.type, news);
    // Anything left there is removed with the run.
    await ports.workspaces.dropBaseline(ports.definition.name).catch(() => undefined);
  };
  return {
    due: (board) => {
      if (ending.signal.aborted || !isBaselineDue(board)) return [];
      return [
        {
          key: '@baseline',
          work: async (note) => {
            working = work(board, note);
            await working;
          },
        },
      ];
    },
    end: async () => {
      ending.abort(new Error('the check of the base commit was cut short'));
      await ports.checks.end(BASELINE, 'the run does not need it any more');
      // "onBroken" has reported it.
      await working?.catch(() => undefined);
    },
  };
}
