import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { PlanEvent } from '../../model/plan/event.ts';
import type { Board } from '../../model/plan/board.ts';
import type { Decision } from '../../substrate/ports/ledger.ts';
import { applyInputs, type PlanInput } from '../decisions/plan-step.ts';
import { interventionOf } from '../decisions/read-input.ts';
import type { SquadStateUpdate, SquadStateValue } from '../state.ts';
import { tellMailIn, tellMailOut } from './tell-mail.ts';
import {
  applyStep,
  effectDecisions,
  entryDecisions,
  summaryOf,
  tellChanges,
  type NodeConfig,
  type NodeContext,
} from './node-context.ts';

/**
 * Applies what came in: settlements with the hand-offs and feedback written with them, answers, timers, results of
 * operations. Nothing of it has an effect anywhere else.
 */
export function createReconcileInbox(context: NodeContext) {
  const { ports, book } = context;
  return (state: SquadStateValue, config: NodeConfig): SquadStateUpdate => {
    const last = state.batch.at(-1);
    if (last === undefined) return {};
    const events = ports.ledger
      .events({ stream: state.runId, after: state.cursor, limit: last - state.cursor })
      .filter(({ seq }) => state.batch.includes(seq));
    const before = book.boardAt(state.cursor);
    const inputs = events.flatMap((event) => book.read(event));
    const step = applyInputs(before, ports.playbook, inputs);
    const { repeated } = applyStep(context, config, {
      cursor: state.cursor,
      seq: last,
      decisions: [
        ...entryDecisions(step.entries),
        ...earlierTimers(context, inputs),
        ...effectDecisions(step.effects, `${last}/in`),
      ],
    });
    if (repeated) book.reread();
    else book.moved(last, step.board);
    const board = book.boardAt(last);
    for (const event of events) applyCommand(context, event);
    tellMailIn(context, inputs);
    tellMailOut(context, step.effects);
    tellGate(context, inputs, board);
    tellReviews(context, step.news);
    tellChanges(context, before, board);
    const settled = Object.keys(state.inflight).filter((id) => ports.ledger.attempt(id)?.status === 'settled');
    return {
      cursor: last,
      batch: [],
      inflight: Object.fromEntries(settled.map((id) => [id, null])),
      ...summaryOf(board),
    };
  };
}

/** The ledger keeps the timers. Moves those that were set before the clock was set back forward by the same amount. */
function earlierTimers({ ports }: NodeContext, inputs: readonly PlanInput[]): Decision[] {
  const ms = inputs.reduce((sum, input) => sum + ('setBack' in input ? input.setBack : 0), 0);
  if (ms === 0) return [];
  return ports.ledger
    .dueTimers(Number.MAX_SAFE_INTEGER)
    .filter(({ runId }) => runId === ports.lease.runId)
    .map(({ id, dueAt, data }) => ({ do: 'set-timer', id, dueAt: dueAt - ms, data }));
}

/** What a person wants is on the board by now; what is live ends at once on a `stop`. */
function applyCommand({ ports }: NodeContext, { type, data, seq }: LedgerEvent): void {
  const wish = type === 'operator-command' ? interventionOf(data) : undefined;
  if (wish === undefined) return;
  const { intervention, by } = wish;
  const on = 'on' in intervention ? intervention.on : 'task' in intervention ? intervention.task : undefined;
  const about = on === undefined ? {} : { on };
  const { verb } = intervention;
  ports.onEvent({ type: 'intervened', at: ports.clock.now(), runId: ports.lease.runId, verb, by, ...about });
  if (verb === 'stop') ports.control.stop({ seq, by });
}

function tellGate({ ports }: NodeContext, inputs: readonly PlanInput[], { gate, finished }: Board): void {
  for (const input of inputs) {
    if (!('event' in input) || input.event.type !== 'gate-checked') continue;
    const { head, expected, commands } = input.event.facts;
    const failed = commands.flatMap(({ passed, run }) => (passed ? [] : [run]));
    const result =
      head !== expected ? 'void' : finished !== null ? 'finished' : gate.at === 'judging' ? 'judging' : 'refused';
    const passed = commands.length - failed.length;
    ports.onEvent({
      type: 'gate-checked',
      at: ports.clock.now(),
      runId: ports.lease.runId,
      head,
      passed,
      failed,
      result,
    });
  }
}

function tellReviews({ ports }: NodeContext, news: readonly PlanEvent[]): void {
  for (const one of news) {
    if (one.type !== 'review-round') continue;
    const { task, round, commit, approved, feedback } = one;
    const at = ports.clock.now();
    ports.onEvent({ type: 'review-round', at, runId: ports.lease.runId, task, round, commit, approved, feedback });
  }
}
