import { MemorySaver } from '@langchain/langgraph-checkpoint';
import type { Composition } from '../compose.ts';
import { createRunGraph } from '../graph/graph.ts';
import type { GraphPorts } from '../graph/ports.ts';
import { RESUMED_AS } from '../graph/resume.ts';
import type { SquadStateUpdate } from '../graph/state.ts';
import { NO_CALLBACKS, outsideOfHost } from '../graph/untraced.ts';
import type { RunDefinition } from '../model/run.ts';
import { ReplayRecord } from '../read-model/replay-record.ts';
import type { ReplayDifference } from '../read-model/replay-steps.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { requireRegistered } from './needs.ts';

/** What a replay found. */
export interface Replayed {
  /** Recorded steps that were decided again. */
  readonly steps: number;
  readonly differences: readonly ReplayDifference[];
}

/** Ends the graph where the record does. */
const END_OF_RECORD = new Error('the record ends here');

/**
 * Plays a run's recorded inputs through its graph and compares each step with what was decided then. After a difference it takes
 * the record's decision, so each step is judged for itself. No agent starts, and nothing is written. `ledger`: opened to read only.
 */
export async function replayRun(
  ports: Pick<Composition, 'runtimes' | 'playbooks'>,
  ledger: Ledger,
  row: RunRow,
  definition: RunDefinition,
): Promise<Replayed> {
  const record = new ReplayRecord(ledger, row, definition);
  const graphPorts = portsOf(ports, record, { row, definition });
  const inputRef = record.definedAt;
  const first: SquadStateUpdate = { runId: row.id, inputRef, options: { parallel: definition.limits.parallel } };
  while (!record.isOver()) {
    const before = record.at;
    const graph = createRunGraph(graphPorts, { checkpointer: new MemorySaver() });
    const thread = { configurable: { thread_id: row.id }, callbacks: NO_CALLBACKS };
    await outsideOfHost(async () => {
      try {
        const begun = record.applied > 0;
        if (begun) await graph.updateState(thread, { ...first, phase: 'running', cursor: record.applied }, RESUMED_AS);
        await graph.invoke(begun ? null : first, { ...thread, durability: 'sync' });
      } catch (error) {
        if (error !== END_OF_RECORD) throw error;
      }
    });
    // A graph that ends without a step would end so forever.
    if (record.at === before) record.skip();
  }
  return { steps: record.replayed, differences: record.differences };
}

function portsOf(
  registered: Pick<Composition, 'runtimes' | 'playbooks'>,
  record: ReplayRecord,
  { row, definition }: { readonly row: RunRow; readonly definition: RunDefinition },
): GraphPorts {
  const nothing = (): void => undefined;
  return {
    clock: { now: () => record.now(), monotonic: () => 0, sleep: () => Promise.resolve() },
    ledger: record.ledger,
    lease: { runId: row.id, epoch: 1 },
    definition,
    get limits() {
      return record.limits();
    },
    playbook: requireRegistered(registered, definition),
    get patienceMs() {
      return record.stopped()?.because === 'waiting' ? 0 : null;
    },
    // The answers of people are on record.
    attended: () => true,
    attempts: { ensure: nothing, cancel: () => Promise.resolve(), activity: () => undefined },
    operations: { ensure: () => record.waits() },
    publisher: {
      armory: () => null,
      allocate: () => Promise.resolve(),
      publish: () => Promise.resolve({ branch: '', head: '', kept: [] }),
    },
    wakeSignal: { raise: nothing, wait: () => Promise.resolve(true) },
    workClock: {
      totalMs: () => (isOutOfTime(record) ? Number.MAX_SAFE_INTEGER : 0),
      suspend: nothing,
      resume: nothing,
    },
    control: {
      draining: () => record.stopped()?.because === 'drained',
      broken: () => (record.isOver() ? END_OF_RECORD : undefined),
      stop: nothing,
    },
    onApplied: nothing,
  };
}

/** Engine time is not on record for each step. */
function isOutOfTime(record: ReplayRecord): boolean {
  const stopped = record.stopped();
  return stopped?.because === 'limit' && stopped.why.startsWith('minutes');
}
