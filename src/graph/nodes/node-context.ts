import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { changedRecords } from '../../rules/changed-records.ts';
import { liveAttempts } from '../../rules/work-requests.ts';
import { isEnded, statusOf } from '../../rules/work-status.ts';
import type { Withheld } from '../../rules/next.ts';
import type { PlanStep } from '../../rules/plan-step.ts';
import type { Board } from '../../model/plan/board.ts';
import { plainJson } from '../../text/json.ts';
import { MAIN } from '../../model/mail/vocabulary.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import { roomFor, type SharedRoom, type SharedUse } from '../../model/shared-spending.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import type { ApplyAnswer, Decision } from '../../substrate/ports/ledger.ts';
import type { PlanBook } from '../plan-book.ts';
import { UNNAMED } from '../read-mail.ts';
import type { GraphPorts } from '../ports.ts';
import { runsBefore } from '../turn-line.ts';
import type { SquadStateUpdate } from '../state.ts';

/** The context of every node. */
export interface NodeContext {
  readonly ports: GraphPorts;
  readonly book: PlanBook;
  /** The addresses that the mailbox has as able to receive, joined; undefined: this engine has set none. */
  receivers: string | undefined;
  /** The last decision started less than it could, because of other runs. */
  withheld: Withheld | undefined;
}

export type NodeConfig = LangGraphRunnableConfig;

/**
 * Writes one step of the run to the ledger. `driver` is the checkpoint that drove it, which distinguishes a crash retry from a
 * replay.
 */
export function applyStep(
  { ports }: NodeContext,
  config: NodeConfig,
  step: { cursor: number; seq: number; decisions: readonly Decision[] },
): ApplyAnswer {
  failpoint('graph.before-apply');
  const driver = config.executionInfo?.checkpointId ?? 'none';
  const answer = ports.ledger.apply({ lease: ports.lease, driver, ...step });
  failpoint('graph.applied');
  return answer;
}

/** Left to this run now by all runs of the repository together. */
export function sharedRoom({ lease: { runId }, turnLine, limits }: NodeContext['ports'], use: SharedUse): SharedRoom {
  return roomFor(use, runId, runsBefore(turnLine, runId, use.live), limits.parallel);
}

/** The entries, timers and outgoing mail of a step. Its `name` is unique, because it names mail that has no key. */
export function stepDecisions(step: Pick<PlanStep, 'entries' | 'effects'>, name: string): Decision[] {
  const entries = step.entries.map((entry) => ({
    do: 'record' as const,
    type: RUN_EVENTS.plan,
    data: plainJson(entry),
  }));
  const effects = step.effects.map((effect, index): Decision => {
    if (effect.effect === 'set-timer') return { do: 'set-timer', id: effect.id, dueAt: effect.at, data: null };
    const { do: _, from = MAIN, key = `${UNNAMED}${name}/${index}`, ...message } = effect.message;
    return { do: 'send-mail', key, mail: { from, ...message } };
  });
  return [...entries, ...effects];
}

/** The step's changes to what outlives the run. */
export function recordDecisions({ playbook }: GraphPorts, before: Board, after: Board): Decision[] {
  return changedRecords(playbook, before, after).map((record) => ({ do: 'write-record', ...record }));
}

const MOST_LINES = 200;
/** A plan up to this size is shown whole; of a larger one, only tasks that have not ended. */
const SMALL_PLAN = 50;

/** A summary of the board for people and Studio. Every checkpoint holds it, so it must not grow with the run. */
export function summaryOf(board: Board): Pick<SquadStateUpdate, 'board' | 'counts' | 'questions'> {
  const { size, attempts, open: states } = board.tasks;
  const left = states.filter((state) => !isEnded(state));
  const shown = size <= SMALL_PLAN ? [...board.tasks.values()] : left;
  const open = [...board.questions.values()].filter((question) => question.answer === null);
  return {
    board: shown.slice(0, MOST_LINES).map((state) => `${state.task.id}: ${statusOf(state, board)}`),
    counts: {
      tasks: size,
      ended: size - left.length,
      live: states.reduce((sum, { work }) => sum + liveAttempts(work).length, 0),
      turns: attempts,
    },
    questions: open.slice(0, MOST_LINES).map(({ id, text }) => ({ id, text: text.slice(0, 500) })),
  };
}
