import { RUN_EVENTS } from '../../model/run.ts';
import { changePlan } from '../../rules/plan-step.ts';
import {
  applyStep,
  recordDecisions,
  stepDecisions,
  summaryOf,
  type NodeConfig,
  type NodeContext,
} from './node-context.ts';
import type { SquadStateUpdate, SquadStateValue } from '../state.ts';
import { factsOf } from '../../rules/run-facts.ts';

/** Plans the frozen objective. A second pass finds the plan in the ledger. */
export function createIntake(context: NodeContext) {
  const { ports, book } = context;
  return (state: SquadStateValue, config: NodeConfig): SquadStateUpdate => {
    const applied = ports.ledger.run(state.runId)?.applied ?? 0;
    if (applied > 0) return { phase: 'running', cursor: applied, ...summaryOf(book.boardAt(applied)) };
    const parsed = ports.playbook.parse(factsOf(ports.definition));
    if (!parsed.ok) throw new Error(`a definition that its playbook refuses: ${parsed.errors.join('; ')}`);
    const before = book.boardAt(0);
    const moment = { seq: state.inputRef, at: ports.clock.now() };
    const step = changePlan(before, ports.playbook, ports.playbook.plan(parsed.input), moment);
    applyStep(context, config, {
      cursor: 0,
      seq: state.inputRef,
      decisions: [
        ...stepDecisions(step, `${state.inputRef}/plan`),
        ...(ports.playbook.records === undefined ? [] : recordDecisions(ports, before, step.board)),
      ],
    });
    book.moved(state.inputRef, step.board);
    ports.onApplied(step.board);
    return { phase: 'running', cursor: state.inputRef, ...summaryOf(step.board) };
  };
}

/** Records what each agent is bound to. It was frozen before the run existed. */
export function createBindArmory({ ports }: NodeContext) {
  return (state: SquadStateValue): SquadStateUpdate => {
    const bound = ports.ledger.events({ stream: state.runId }).some(({ type }) => type === RUN_EVENTS.armoryBound);
    if (!bound) ports.ledger.note(ports.lease, RUN_EVENTS.armoryBound, ports.publisher.armory());
    return {};
  };
}

export function createAllocateWorkspace({ ports }: NodeContext) {
  return async (): Promise<SquadStateUpdate> => {
    await ports.publisher.allocate();
    return {};
  };
}
