import { type BaseCheckpointSaver, END, isGraphBubbleUp, START, StateGraph } from '@langchain/langgraph';
import { LinearSaver } from './linear-saver.ts';
import { createAskHuman } from './nodes/ask-human.ts';
import { createCollect } from './nodes/collect.ts';
import { createDecideNext } from './nodes/decide-next.ts';
import type { NodeConfig, NodeContext } from './nodes/node-context.ts';
import { createAllocateWorkspace, createBindArmory, createIntake } from './nodes/prepare.ts';
import { createPublish } from './nodes/publish.ts';
import { createReconcileInbox } from './nodes/reconcile-inbox.ts';
import { createRunAgentAttempt, routeFrontier } from './nodes/route-frontier.ts';
import { createPlanBook } from './plan-book.ts';
import type { GraphPorts } from './ports.ts';
import { SquadState } from './state.ts';

/** A night of work is about ten thousand supersteps. LangGraph's own limit is 25. */
const RECURSION_LIMIT = 1_000_000_000;

export type RunGraph = ReturnType<typeof createRunGraph>;

/**
 * The graph of one run. Attempts are started and collected one by one, and no node waits for more than the first input. The
 * checkpointer knows where the run is; the ledger behind the ports knows what happened.
 */
export function createRunGraph(ports: GraphPorts, options: { checkpointer?: BaseCheckpointSaver } = {}) {
  const { checkpointer } = options;
  const book = createPlanBook(ports.ledger, ports.lease.runId, ports.definition);
  const context: NodeContext = { ports, book, receivers: undefined, withheld: undefined };
  const atHead = <Input extends object, Output>(name: string, node: (input: Input, config: NodeConfig) => Output) =>
    traced(ports, name, async (input: Input, config: NodeConfig): Promise<Awaited<Output>> => {
      await requireHead(checkpointer, config);
      return await node(input, config);
    });
  return new StateGraph(SquadState)
    .addNode('intake', atHead('intake', createIntake(context)))
    .addNode('bind_armory', atHead('bind_armory', createBindArmory(context)))
    .addNode('allocate_workspace', atHead('allocate_workspace', createAllocateWorkspace(context)))
    .addNode('route_frontier', traced(ports, 'route_frontier', routeFrontier), {
      ends: ['run_agent_attempt', 'collect'],
    })
    .addNode('run_agent_attempt', atHead('run_agent_attempt', createRunAgentAttempt(context)))
    .addNode('collect', atHead('collect', createCollect(context)))
    .addNode('reconcile_inbox', atHead('reconcile_inbox', createReconcileInbox(context)))
    .addNode('decide_next', atHead('decide_next', createDecideNext(context)), {
      ends: ['route_frontier', 'collect', 'ask_human', 'publish', END],
    })
    .addNode('ask_human', atHead('ask_human', createAskHuman(context)), { ends: ['collect'] })
    .addNode('publish', atHead('publish', createPublish(context)), { ends: ['collect', END] })
    .addEdge(START, 'intake')
    .addEdge('intake', 'bind_armory')
    .addEdge('bind_armory', 'allocate_workspace')
    .addEdge('allocate_workspace', 'route_frontier')
    .addEdge('run_agent_attempt', 'collect')
    .addEdge('collect', 'reconcile_inbox')
    .addEdge('reconcile_inbox', 'decide_next')
    .compile({ name: 'squad', ...(options.checkpointer === undefined ? {} : { checkpointer: options.checkpointer }) })
    .withConfig({ recursionLimit: RECURSION_LIMIT });
}

/**
 * LangGraph runs the nodes of an old checkpoint before it hears that the checkpoint on top of it was refused. So every node
 * first checks that its checkpoint is the thread's newest.
 */
async function requireHead(
  checkpointer: BaseCheckpointSaver | undefined,
  { executionInfo }: NodeConfig,
): Promise<void> {
  if (!(checkpointer instanceof LinearSaver) || executionInfo?.threadId === undefined) return;
  await checkpointer.requireHead(executionInfo.threadId, executionInfo.checkpointId);
}

/** The node, which tells the tracer of each of its runs. Without a tracer it stays as it is. */
function traced<Input extends object, Output>(
  { tracer, clock }: Pick<GraphPorts, 'tracer' | 'clock'>,
  name: string,
  node: (input: Input, config: NodeConfig) => Output | Promise<Output>,
): (input: Input, config: NodeConfig) => Output | Promise<Output> {
  if (tracer === undefined) return node;
  return async (input, config) => {
    const startedAt = clock.now();
    const cursor = 'cursor' in input ? Number(input.cursor) : 0;
    const tell = (failed?: string): void => {
      const step = Number(config.metadata?.['langgraph_step'] ?? 0);
      tracer.node({ node: name, step, cursor, startedAt, endedAt: clock.now(), failed });
    };
    try {
      const output = await node(input, config);
      tell();
      return output;
    } catch (error) {
      // An interrupt is how a node waits for a person.
      tell(isGraphBubbleUp(error) ? undefined : error instanceof Error ? error.name : 'Error');
      throw error;
    }
  };
}
