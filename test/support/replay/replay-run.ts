import { MemorySaver } from '@langchain/langgraph-checkpoint';
import type { Composition } from '../../../src/engine/compose.ts';
import { createRunGraph } from '../../../src/graph/graph.ts';
import type { GraphPorts } from '../../../src/graph/ports.ts';
import { RESUMED_AS } from '../../../src/graph/resume.ts';
import type { SquadStateUpdate } from '../../../src/graph/state.ts';
import { NO_CALLBACKS, outsideOfHost } from '../../../src/graph/untraced.ts';
import type { RunDefinition } from '../../../src/model/run.ts';
import { findDefinition } from '../../../src/view/read-run.ts';
import { ReplayRecord } from './record.ts';
import { stepsIn, type ReplayDifference } from './steps.ts';
import { ledgerPath, openLedger } from '../../../src/substrate/ledger/index.ts';
import type { RunRow } from '../../../src/substrate/ports/ledger.ts';
import { requireRegistered } from '../../../src/engine/needs.ts';

/** What a replay found. */
export interface Replayed {
  readonly recorded: number;
  /** Recorded steps that were decided again. */
  readonly steps: number;
  readonly differences: readonly ReplayDifference[];
}

/** Ends the graph where the record does. */
const END_OF_RECORD = new Error('the record ends here');

/**
 * Plays a run's recorded inputs through its graph and compares each step with what was decided then. After a difference it takes
 * the record's decision, so each step is judged for itself. No agent starts, and nothing is written. `directory`: of its ledger.
 * `name`: absent: the newest run. `change`: plays it under other settings.
 */
export async function replayRun(
  registered: Pick<Composition, 'runtimes' | 'playbooks'>,
  directory: string,
  name?: string,
  change: (definition: RunDefinition) => RunDefinition = (same) => same,
): Promise<Replayed> {
  const ledger = openLedger(directory, { clock: { now: () => 0 }, readOnly: true });
  try {
    const row = name === undefined ? ledger.runs().at(-1) : ledger.run(name);
    const definition = row && findDefinition(ledger, row);
    if (row === undefined || definition === undefined) throw new Error('there is no run');
    const steps = stepsIn(ledgerPath(directory), row.id);
    const record = new ReplayRecord(ledger, row, change(definition), steps);
    await play(registered, record, { row, definition: change(definition) });
    // A fork begins with one step that is its parent's.
    const recorded = steps.length - (row.parent === null ? 0 : 1);
    return { recorded, steps: record.replayed, differences: record.differences };
  } finally {
    ledger.close();
  }
}

async function play(
  registered: Pick<Composition, 'runtimes' | 'playbooks'>,
  record: ReplayRecord,
  { row, definition }: { readonly row: RunRow; readonly definition: RunDefinition },
): Promise<void> {
  const graphPorts = portsOf(registered, record, { row, definition });
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
    turnLine: new Set(),
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
    operations: {
      ensure: () => record.waits(),
      cite: async ({ attempt }) => record.cited(attempt).cited ?? {},
      lookUp: async (_, attempt) => record.cited(attempt).looked ?? {},
    },
    publisher: {
      armory: () => null,
      allocate: () => Promise.resolve(),
      publish: () => Promise.resolve({ branch: '', head: '', kept: [] }),
    },
    wakeSignal: { raise: nothing, glance: nothing, wait: () => Promise.resolve(true) },
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
