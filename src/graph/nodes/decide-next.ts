import { defined } from '../../text/defined.ts';
import { Command, END } from '@langchain/langgraph';
import { assertNever } from '../../model/assert-never.ts';
import { plainJson } from '../../text/json.ts';
import type { Playbook } from '../../model/plan.ts';
import type { Board } from '../../model/plan/board.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import type { ClaimAnswer, Decision } from '../../substrate/ports/ledger.ts';
import type { Moment } from '../../rules/board.ts';
import { decideLimits, roomOf, type Caps } from '../../model/spending.ts';
import { decideNext, type Next, type NextFacts } from '../../rules/next.ts';
import { changePlan, applyInputs, type PlanInput, type PlanStep } from '../../rules/plan-step.ts';
import { type TurnStart, renderOrder } from '../../rules/prompts/render-order.ts';
import type { SquadStateUpdate, SquadStateValue } from '../state.ts';
import {
  applyStep,
  recordDecisions,
  sharedRoom,
  stepDecisions,
  summaryOf,
  type NodeConfig,
  type NodeContext,
} from './node-context.ts';
import { planAttemptId } from '../ports.ts';
import { receiversOf } from '../../rules/turn-mail.ts';
import { otherRuntime } from '../../rules/members.ts';
import { ledgerSessionKey } from '../plan-book.ts';
import { promptMail } from '../read-mail.ts';

interface Decided extends PlanStep {
  readonly next: Next;
  readonly turns: readonly TurnStart[];
}

/** Starts, pauses or ends work. Each decision is in the ledger, with its reason, before it has an effect. */
export function createDecideNext(context: NodeContext) {
  const { ports, book } = context;
  return (state: SquadStateValue, config: NodeConfig): Command => {
    const before = book.boardAt(state.cursor);
    const decided = decide(context, state, before);
    const { next, turns } = decided;
    if (context.withheld !== undefined || 'withheld' in next) standInLine(context, next);
    // Waiting for running turns is not recorded. A suspension is, because its time counts against no limit: nothing runs, and nothing
    // can start before a moment or a person's command.
    if (next.next === 'ask' || (next.next === 'wait' && next.suspended)) ports.workClock.suspend();
    if (next.next === 'wait' && !next.suspended && decided.entries.length === 0) return go('collect', { starts: [] });
    const answer = applyStep(context, config, {
      cursor: state.cursor,
      seq: state.cursor,
      decisions: decisionsOf(context, before, decided),
    });
    if (answer.repeated) book.reread();
    else book.moved(state.cursor, decided.board);
    const board = book.boardAt(state.cursor);
    const starts = answer.claims.flatMap((claim) => (claim.claimed ? [claim.attemptId] : []));
    ports.onApplied(board);
    refuseVoid(context, answer.claims, turns);
    return follow(next, { ...summaryOf(board), starts }, ports.attended());
  };
}

function decide({ ports, book }: NodeContext, state: SquadStateValue, board: Board): Decided {
  const spending = ports.ledger.spending(state.runId);
  const now = ports.clock.now();
  const facts = {
    parallel: ports.limits.parallel,
    room: roomOf(spending, capsOf(ports)),
    limits: decideLimits(spending.run, ports.limits, ports.workClock.totalMs()),
    shared: spending.shared && sharedRoom(ports, spending.shared),
    now,
    draining: ports.control.draining(),
    patienceMs: ports.patienceMs,
    pendingMail: book.inputsAfter(state.cursor, 1).length,
  };
  return decideOn(ports.playbook, board, facts, { seq: state.cursor, at: now });
}

/** The place of a run that could start more once a turn of any run has ended. With a turn of its own it goes to the end of the line. */
function standInLine(context: NodeContext, next: Next): void {
  const { turnLine, lease } = context.ports;
  const withheld = next.next === 'start' || next.next === 'wait' ? next.withheld : undefined;
  context.withheld = withheld;
  const hasTurn = next.next === 'start' && next.starts.some(({ start }) => start === 'turn');
  if (hasTurn || withheld?.until !== null) turnLine.delete(lease.runId);
  if (withheld?.until === null) turnLine.add(lease.runId);
}

function decideOn(playbook: Playbook<unknown>, board: Board, facts: NextFacts, moment: Moment): Decided {
  const next = decideNext(board, facts);
  if (next.next === 'start') {
    const first = [...failuresIn(next, moment), ...begunIn(next, moment)];
    return first.length > 0
      ? afterFirst(playbook, board, facts, { next, moment, first })
      : started(playbook, board, next, moment);
  }
  if (next.next !== 'finish' || board.finished !== null) return { next, board, entries: [], effects: [], turns: [] };
  // Nothing can move, and the playbook has not ended the run.
  const { outcome, why } = next;
  const step = changePlan(board, playbook, [{ do: 'finish', outcome, why }], moment);
  return { next: decideNext(step.board, facts), ...step, turns: [] };
}

/** Applies first what the next decision has to see, in the same step. */
function afterFirst(
  playbook: Playbook<unknown>,
  board: Board,
  facts: NextFacts,
  { next, moment, first }: { next: StartDecision; moment: Moment; first: readonly PlanInput[] },
): Decided {
  const step = applyInputs(board, playbook, first);
  const rest = decideOn(playbook, step.board, facts, moment);
  return {
    ...rest,
    next: { ...rest.next, why: `${next.why}; ${rest.next.why}` },
    entries: [...step.entries, ...rest.entries],
    effects: [...step.effects, ...rest.effects],
  };
}

function failuresIn(next: StartDecision, moment: Moment): PlanInput[] {
  return next.over.map(({ task, why }) => ({
    ...moment,
    task,
    work: { type: 'settle-asked', as: 'failed', cause: 'limit', why },
  }));
}

/** Integrations need no agent: each is queued, reviewed or failed at once. */
function begunIn({ starts }: StartDecision, moment: Moment): PlanInput[] {
  return starts.flatMap((start): PlanInput[] => {
    if (start.start !== 'integrate') return [];
    const { task, commit, base } = start;
    return [{ ...moment, task, work: { type: 'begun', ...defined({ commit: commit ?? undefined, base }) } }];
  });
}

type StartDecision = Extract<Next, { next: 'start' }>;

function started(playbook: Playbook<unknown>, board: Board, next: StartDecision, moment: Moment): Decided {
  const inputs = next.starts.map((start): PlanInput => {
    const { task } = start;
    if (start.start === 'turn') {
      const { attempt, agent, account, insteadOf, session, review } = start;
      return {
        ...moment,
        task,
        work: {
          ...{ type: 'attempt-started', attempt, agent, account, session: session.key, review },
          ...defined({ insteadOf }),
        },
      };
    }
    return { ...moment, task, work: { type: 'begun' } };
  });
  const integrate: PlanInput[] =
    next.integrate === null ? [] : [{ ...moment, task: next.integrate, work: { type: 'integration-started' } }];
  const step: PlanStep = applyInputs(board, playbook, [...inputs, ...integrate]);
  return { next, ...step, turns: next.starts.filter((start) => start.start === 'turn') };
}

function decisionsOf(context: NodeContext, before: Board, decided: Decided): Decision[] {
  const { next, board, turns } = decided;
  const because = next.next === 'stop' ? { because: next.because } : {};
  const data = { next: next.next, why: next.why, ...because, ...untilOf(next, board) };
  const reason: Decision = { do: 'record', type: RUN_EVENTS.decided, data };
  const claims = claimTurns(context, board, turns);
  const records = context.ports.playbook.records === undefined ? [] : recordDecisions(context.ports, before, board);
  return [
    reason,
    ...stepDecisions(decided, `${board.seq}/next`),
    ...records,
    ...claims,
    ...receiversIn(context, board),
  ];
}

/** `collect` would tell the mailbox in a transaction of its own. */
function receiversIn({ receivers }: NodeContext, board: Board): Decision[] {
  const able = receiversOf(board);
  return receivers === undefined || receivers === able.join() ? [] : [{ do: 'set-receivers', able }];
}

/** When the suspended run continues, if known. */
function untilOf(next: Next, { now }: Pick<Board, 'now'>): { until?: number } {
  if (next.next !== 'wait' || !next.suspended || next.until === null) return {};
  return next.until > now ? { until: next.until } : {};
}

/** If the ledger refused a claim, the planned attempt ends at no cost. */
function refuseVoid({ ports }: NodeContext, claims: readonly ClaimAnswer[], turns: readonly TurnStart[]): void {
  for (const claim of claims) {
    if (claim.claimed) continue;
    const start = turns.find(({ attempt }) => planAttemptId(ports, attempt) === claim.attemptId);
    if (start !== undefined) noteVoid(ports, start.task, start.attempt, `its claim was refused: ${claim.reason}`);
  }
}

export function noteVoid(ports: NodeContext['ports'], task: string, attempt: string, why: string): void {
  const failure = { kind: 'cancelled' as const, message: why, mayHaveActed: false };
  const event = { type: 'attempt-settled' as const, attempt, outcome: 'cancelled' as const, failure, text: '' };
  ports.ledger.note(ports.lease, RUN_EVENTS.work, plainJson({ task, event }));
}

function follow(next: Next, update: SquadStateUpdate, attended: boolean): Command {
  switch (next.next) {
    case 'start':
    case 'wait':
      // An integration or a wait has no turn to send.
      return go(update.starts?.length === 0 ? 'collect' : 'route_frontier', update);
    case 'ask':
      if (attended) return go('collect', update);
      return go('ask_human', { ...update, phase: 'waiting' });
    case 'finish':
      return go('publish', update);
    case 'stop':
      return go(END, { ...update, phase: 'stopped', result: { outcome: 'stopped', why: next.why } });
    default:
      return assertNever(next);
  }
}

function go(goto: string, update: SquadStateUpdate): Command {
  return new Command({ goto, update });
}

/** The claims of the turns that start, each with its whole order and its mail. */
function claimTurns({ ports, book }: NodeContext, board: Board, turns: readonly TurnStart[]): Decision[] {
  const { definition, playbook, limits, ledger, lease } = ports;
  const { turns: most, usd, tokens } = limits;
  const { agents, task: ofTask } = capsOf(ports);
  const taken = new Set<string>();
  return turns.flatMap((start): Decision[] => {
    const id = planAttemptId(ports, start.attempt);
    const agent = definition.agents.find(({ name }) => name === start.agent);
    const runtime = otherRuntime(board, start)?.runtime ?? agent?.runtime ?? '';
    const session = book.session(start.session.key);
    // Mail of its task may have been read in another session or by another turn.
    const knows = start.prompt.why !== 'start' && start.session.resume && session?.runtime === runtime;
    const { messages, handed } = promptMail(ledger.mail, { runId: lease.runId, board, start, knows, taken });
    const order = renderOrder(start, id, { board, definition, playbook, session, messages });
    const sessionKey = ledgerSessionKey(definition.name, start.session.key);
    const { task: taskId } = start;
    const attempt = {
      id,
      taskId,
      kind: 'turn' as const,
      agent: start.agent,
      runtime,
      sessionKey,
      request: JSON.stringify(order),
    };
    const ofAgent = agents.get(start.agent);
    const caps = {
      turns: most,
      usd,
      tokens,
      ...(ofAgent === undefined ? {} : { agent: ofAgent }),
      ...(ofTask === undefined || board.tasks.get(taskId)?.work.uncapped === true ? {} : { task: ofTask }),
    };
    const claim: Decision = { do: 'claim-attempt', attempt, limits: caps };
    return handed.length === 0 ? [claim] : [claim, { do: 'hand-mail', attemptId: id, mail: handed }];
  });
}

/** The limits of agents and of tasks. */
function capsOf({ definition, limits }: NodeContext['ports']) {
  const agents = definition.agents.flatMap(({ name, limits: own }): [string, Caps][] =>
    own === undefined ? [] : [[name, own]],
  );
  return { agents: new Map(agents), task: limits.task };
}
