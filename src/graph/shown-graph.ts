import type { BaseCheckpointSaver } from '@langchain/langgraph';
import { createRunGraph, type RunGraph } from './graph.ts';
import type { GraphPorts } from './ports.ts';

/** The graph for its drawing and its states. No node of it ever runs, so its ports do nothing. */
export function shownGraph(checkpointer?: BaseCheckpointSaver): RunGraph {
  const ports = { ledger: {}, lease: { runId: 'none' }, definition: { name: 'none' } } as unknown as GraphPorts;
  return createRunGraph(ports, checkpointer === undefined ? {} : { checkpointer });
}
