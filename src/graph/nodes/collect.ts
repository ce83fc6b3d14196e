import type { SquadStateUpdate, SquadStateValue } from '../state.ts';
import type { NodeConfig, NodeContext } from './node-context.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { receiversOf } from '../../rules/turn-mail.ts';
import { unwantedAttempts } from '../../rules/work-requests.ts';
import { watchLiveness } from './watch-liveness.ts';
import { planAttemptId } from '../ports.ts';

/** How often to look for what other processes wrote to the ledger. */
const POLL_MS = 250;
/** Most inputs for one step. */
const MOST_INPUTS = 200;

/**
 * The only place that starts attempts and operations: what the board has in flight, also after a crash. Then waits for the
 * first input after the cursor, so a slow agent never holds up a ready task.
 */
export function createCollect(context: NodeContext) {
  const { ports, book } = context;
  const noteStalls = watchLiveness(context);
  return async (state: SquadStateValue, config: NodeConfig): Promise<SquadStateUpdate> => {
    const board = book.boardAt(state.cursor);
    for (const attempt of Object.keys(state.inflight)) ports.attempts.ensure(attempt);
    for (const { attempt, why } of unwantedAttempts(board)) {
      // The settlement is the input to wait for. Errors reach the run's switch.
      void ports.attempts.cancel(planAttemptId(ports, attempt), why).catch(() => undefined);
    }
    ports.operations.ensure(board, state.cursor);
    tellReceivers(context, receiversOf(board));
    failpoint('graph.waiting');
    let version = ports.ledger.dataVersion();
    let look = true;
    /** When a clock of the mail is due, unless something is written before. */
    let mailDue = 0;
    for (;;) {
      const broken = ports.control.broken();
      if (broken !== undefined) throw broken;
      if (look) {
        const inputs = book.inputsAfter(state.cursor, MOST_INPUTS);
        if (inputs.length > 0) {
          ports.workClock.resume();
          return { batch: inputs.map(({ seq }) => seq), starts: [] };
        }
      }
      if (config.control?.drainRequested === true) return { batch: [], starts: [] };
      const fired = fireTimers(context, state.runId);
      const noted = noteStalls(board);
      const isTickDue = look || mailDue <= ports.clock.now();
      const ticked = isTickDue && ports.ledger.mail.tick(state.runId) > 0;
      if (isTickDue) mailDue = ports.ledger.mail.nextDue(state.runId) ?? Infinity;
      if (fired || noted || ticked) {
        look = true;
        continue;
      }
      const woken = await ports.wakeSignal.wait(POLL_MS);
      const now = ports.ledger.dataVersion();
      look = woken || now !== version;
      version = now;
    }
  };
}

function tellReceivers(context: NodeContext, able: readonly string[]): void {
  if (context.receivers === able.join()) return;
  context.ports.ledger.mail.receivers(context.ports.lease, able);
  context.receivers = able.join();
}

/** By the wall clock, so that a machine that slept finds what is due. */
function fireTimers({ ports }: NodeContext, runId: string): boolean {
  const due = ports.ledger.dueTimers(ports.clock.now()).filter((timer) => timer.runId === runId);
  return due.map(({ id }) => ports.ledger.fireTimer(ports.lease, id)).some((seq) => seq !== undefined);
}
