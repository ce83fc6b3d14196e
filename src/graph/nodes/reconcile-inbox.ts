import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { Board } from '../../model/plan/board.ts';
import { citedBy } from '../../rules/findings.ts';
import { evidenceIn } from '../../rules/judge-evidence.ts';
import type { Decision } from '../../substrate/ports/ledger.ts';
import { applyInputs, judgedBy, type PlanInput } from '../../rules/plan-step.ts';
import { interventionOf } from '../../rules/read-input.ts';
import type { SquadStateUpdate, SquadStateValue } from '../state.ts';
import {
  applyStep,
  recordDecisions,
  stepDecisions,
  summaryOf,
  type NodeConfig,
  type NodeContext,
} from './node-context.ts';

/** Applies new inputs to the board: settlements, answers, timers, commands, results of operations. */
export function createReconcileInbox(context: NodeContext) {
  const { ports, book } = context;
  return async (state: SquadStateValue, config: NodeConfig): Promise<SquadStateUpdate> => {
    const last = state.batch.at(-1);
    if (last === undefined) return {};
    const events = ports.ledger
      .events({ stream: state.runId, after: state.cursor, limit: last - state.cursor })
      .filter(({ seq }) => state.batch.includes(seq));
    const before = book.boardAt(state.cursor);
    const read = events.flatMap((event) => book.read(event));
    const inputs = await Promise.all(read.map(async (input) => withCited(context, before, input)));
    const step = applyInputs(before, ports.playbook, inputs);
    const { repeated } = applyStep(context, config, {
      cursor: state.cursor,
      seq: last,
      decisions: [
        ...earlierTimers(context, inputs),
        ...stepDecisions(step, `${last}/in`),
        ...(ports.playbook.records === undefined ? [] : recordDecisions(ports, before, step.board)),
      ],
    });
    if (repeated) book.reread();
    else book.moved(last, step.board);
    const board = book.boardAt(last);
    for (const event of events) stopIfAsked(context, event);
    ports.onApplied(board);
    const settled = Object.keys(state.inflight).filter((id) => ports.ledger.attempt(id)?.status === 'settled');
    return {
      cursor: last,
      batch: [],
      inflight: Object.fromEntries(settled.map((id) => [id, null])),
      ...summaryOf(board),
    };
  };
}

/** The facts are stored with the input, because the board is folded without a look at the work. */
async function withCited({ ports }: NodeContext, board: Board, input: PlanInput): Promise<PlanInput> {
  if (!('work' in input) || input.work.type !== 'attempt-settled') return input;
  const state = board.tasks.get(input.task);
  const files = citedBy(state, input.work);
  if (files !== undefined) return { ...input, work: { ...input.work, cited: await ports.operations.cite(files) } };
  const judged = judgedBy(ports.playbook.answers, board, state, input.work);
  if (judged === undefined) return input;
  const named = evidenceIn(judged, board.facts.objective.criteria);
  return { ...input, work: { ...input.work, looked: await ports.operations.lookUp(named, input.work.attempt) } };
}

/** The ledger keeps the timers. If the clock was set back, they become due earlier by the same amount. */
function earlierTimers({ ports }: NodeContext, inputs: readonly PlanInput[]): Decision[] {
  const ms = inputs.reduce(
    (sum, input) => sum + ('event' in input && input.event.type === 'clock-set-back' ? input.event.ms : 0),
    0,
  );
  if (ms === 0) return [];
  return ports.ledger
    .dueTimers(Number.MAX_SAFE_INTEGER)
    .filter(({ runId }) => runId === ports.lease.runId)
    .map(({ id, dueAt, data }) => ({ do: 'set-timer', id, dueAt: dueAt - ms, data }));
}

/** A `stop` also ends running turns at once. */
function stopIfAsked({ ports }: NodeContext, { type, data, seq }: LedgerEvent): void {
  const request = type === 'operator-command' ? interventionOf(data) : undefined;
  if (request?.intervention.verb === 'stop') ports.control.stop({ seq, by: request.by });
}
