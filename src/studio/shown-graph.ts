import { createSquadGraph, type SquadGraph } from '../graph/graph.ts';
import type { GraphPorts } from '../graph/ports.ts';
import type { CheckpointReader } from '../engine/read-checkpoints.ts';

/** The graph for its drawing and its states. No node of it ever runs, so its ports do nothing. */
export function shownGraph(checkpointer: CheckpointReader): SquadGraph {
  const ports = { ledger: {}, lease: { runId: 'none' }, definition: { name: 'none' } } as unknown as GraphPorts;
  return createSquadGraph(ports, { checkpointer });
}
