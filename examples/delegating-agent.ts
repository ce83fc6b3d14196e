// An agent that delegates work on a repository to squad, as a tool, and reports the result:
//   node delegating-agent.ts <repository> <runtime> <what to do>
import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { createSquad } from 'agentsquad';
import { squadTool } from 'agentsquad/langgraph';

const [cwd = '.', runtime = 'claude', ...words] = process.argv.slice(2);

const tool = squadTool(createSquad({ cwd }), {
  runtime,
  limits: { usd: 5 },
  // The objective is your own words here. Where a model writes it, a `yes` would let it run commands on this machine.
  trust: 'yes',
  description:
    'Changes the code of this repository: a team of coding agents plans, builds, reviews and delivers on a branch.',
});

/** In place of a model, so that this needs no key: `(messages) => model.bindTools([tool]).invoke(messages)`. */
function think(messages: readonly BaseMessage[]): AIMessage {
  const last = messages.at(-1);
  if (last?.getType() === 'tool') return new AIMessage(`The team is back: ${last.text}`);
  const call = { id: `call-${messages.length}`, name: tool.name, args: { objective: last?.text ?? '' } };
  return new AIMessage({ content: '', tool_calls: [call] });
}

const agent = new StateGraph(MessagesAnnotation)
  .addNode('model', ({ messages }) => ({ messages: [think(messages)] }))
  .addNode('tools', new ToolNode([tool]))
  .addEdge(START, 'model')
  .addConditionalEdges('model', ({ messages }) => (callsOf(messages) > 0 ? 'tools' : END))
  .addEdge('tools', 'model')
  .compile();

function callsOf(messages: readonly BaseMessage[]): number {
  const last = messages.at(-1);
  return last instanceof AIMessage ? (last.tool_calls?.length ?? 0) : 0;
}

const { messages } = await agent.invoke({ messages: [new HumanMessage(words.join(' '))] });
console.log(messages.at(-1)?.text);
