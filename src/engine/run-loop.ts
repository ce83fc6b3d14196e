import { isGraphDrained } from '@langchain/langgraph';
import type { RunEndedAs } from '../model/run-state.ts';
import { createRunGraph } from '../graph/graph.ts';
import type { GraphPorts } from '../graph/ports.ts';
import { RESUMED_AS, resumedState } from '../graph/resume.ts';
import type { SquadStateUpdate, SquadStateValue } from '../graph/state.ts';
import { NO_CALLBACKS, outsideOfHost } from '../graph/untraced.ts';
import { questionsText } from '../view/questions-text.ts';
import type { SegmentControl } from './run-control.ts';
import { watchLedger } from '../substrate/ledger/watch-ledger.ts';
import type { RunResources } from './run-resources.ts';
import { watchRun } from './watch-run.ts';
import { wireRun, type SegmentOf, type SegmentPorts, type WiredRun } from './wire-run.ts';

export type SegmentEnd =
  | { readonly end: 'finished'; readonly outcome: RunEndedAs; readonly why: string }
  | { readonly end: 'waiting'; readonly why: string }
  | { readonly end: 'stopped'; readonly why: string }
  | { readonly end: 'interrupted'; readonly why: string };

/** One engine's work on a run, from its start or resume to its end. */
export interface Segment extends WiredRun {
  readonly done: Promise<SegmentEnd>;
}

/** Drives a run through the graph, from its state in the ledger until it ends, waits, stops or is interrupted. */
export function startSegment(ports: SegmentPorts, resources: RunResources, of: SegmentOf): Segment {
  const wired = wireRun(ports, resources, of);
  const { graphPorts, showNews, control, operations, workClock } = wired;
  const { lease, limits, definition } = of;
  const { deadline } = definition.objective;
  const { ledger } = resources;
  const { clock, processes } = ports;
  const onWarning = (text: string): void =>
    ports.onEvent({ type: 'warning', at: clock.now(), runId: lease.runId, text });
  const watching = { ledger, lease, clock, processes, workClock, limits, deadline, places: of.watch, onWarning };
  const stopWatching = watchRun(watching, control);
  const stopSeeing = watchLedger(resources.directory, graphPorts.wakeSignal.glance);
  const leave = (): void => control.wake('no person answers questions here any more');
  of.attended?.addEventListener('abort', leave, { once: true });
  const done = outsideOfHost(async () => {
    try {
      showNews();
      const end = await drive(graphPorts, resources, of, control);
      await operations.endBaseline();
      showNews();
      return end;
    } finally {
      of.attended?.removeEventListener('abort', leave);
      stopSeeing();
      stopWatching();
      await operations.stop();
    }
  });
  return { ...wired, done };
}

async function drive(
  ports: GraphPorts,
  resources: RunResources,
  { lease, limits, inputRef, resumed }: SegmentOf,
  control: SegmentControl,
): Promise<SegmentEnd> {
  const graph = createRunGraph(ports, { checkpointer: resources.checkpointer });
  const thread = { configurable: { thread_id: lease.runId }, callbacks: NO_CALLBACKS };
  const first: SquadStateUpdate = { runId: lease.runId, inputRef, options: { parallel: limits.parallel } };
  let input: SquadStateUpdate | null = first;
  if (resumed) {
    const before = (await graph.getState(thread)).values as { inflight?: Record<string, string> };
    const state = resumedState(ports, inputRef, Object.keys(before.inflight ?? {}));
    if (state !== undefined) {
      await graph.updateState(thread, state, RESUMED_AS);
      input = null;
    }
  }
  try {
    const state = await graph.invoke(input, { ...thread, durability: 'sync', control: control.graph });
    return segmentEnd(state, control);
  } catch (error) {
    if (isGraphDrained(error)) return { end: 'interrupted', why: control.stopped() ?? 'it was interrupted' };
    throw error;
  }
}

function segmentEnd(
  { phase, result, questions }: Pick<SquadStateValue, 'phase' | 'result' | 'questions'>,
  control: SegmentControl,
): SegmentEnd {
  if (phase === 'finished' && result !== null && result.outcome !== 'stopped') {
    return { end: 'finished', outcome: result.outcome, why: result.why };
  }
  if (phase === 'waiting') return { end: 'waiting', why: questionsText(questions) };
  if (control.draining()) return { end: 'interrupted', why: result?.why ?? 'it was interrupted' };
  return { end: 'stopped', why: result?.why ?? 'it stopped' };
}
