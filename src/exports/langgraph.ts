/** Runs of squad as parts of your own graphs and agents (docs/embedding.md). Loads LangGraph. */
export {
  inProcess,
  turnIn,
  type AgentAnswer,
  type AgentTurn,
  type InProcessAgentOptions,
  type InvokableAgent,
} from '../embed/in-process.ts';
export { messageOf, objectiveOf } from '../embed/messages.ts';
export {
  createSquadGraph,
  type SquadGraph,
  type SquadGraphOptions,
  type SquadGraphState,
} from '../embed/squad-graph.ts';
export { squadNode, type SquadNodeOptions } from '../embed/squad-node.ts';
export type { EmbedOptions, SquadRequest } from '../embed/squad-request.ts';
export { squadTool, type SquadToolOptions } from '../embed/squad-tool.ts';
export {
  AgentFailure,
  type AgentReport,
  type InProcessTool,
  type InProcessTurn,
} from '../runtimes/in-process/agent.ts';
