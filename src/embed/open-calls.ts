import { isBaseMessage, ToolMessage } from '@langchain/core/messages';

/** What a compiled graph has. `createAgent` keeps its own in `graph`. */
interface Readable {
  getState(config: object): Promise<{ readonly values?: unknown }>;
}

/**
 * An answer for each tool call that the last turn of a thread was cut short in: models refuse a conversation with calls that have none.
 */
export async function unansweredCalls(agent: object, config: object): Promise<ToolMessage[]> {
  const { graph = agent } = agent as { graph?: object };
  if (!isReadable(graph)) return [];
  const { values } = await graph.getState(config);
  const { messages } = (values ?? {}) as { messages?: unknown };
  if (!Array.isArray(messages)) return [];
  const known = messages.filter((message) => isBaseMessage(message));
  const answered = new Set(known.map((message) => (message instanceof ToolMessage ? message.tool_call_id : '')));
  const asking = known.findLast((message) => message.getType() === 'ai');
  const { tool_calls: calls = [] } = (asking ?? {}) as { tool_calls?: { id?: string; name: string }[] };
  return calls.flatMap(({ id, name }) =>
    id === undefined || answered.has(id)
      ? []
      : [new ToolMessage({ tool_call_id: id, name, status: 'error', content: 'The turn ended before this call did.' })],
  );
}

function isReadable(graph: object): graph is Readable {
  return 'getState' in graph && typeof graph.getState === 'function';
}
