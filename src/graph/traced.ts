import { isGraphBubbleUp } from '@langchain/langgraph';
import type { NodeConfig } from './nodes/node-context.ts';
import type { GraphPorts } from './ports.ts';

/** The node, which tells the tracer of each of its runs. Without a tracer it stays as it is. */
export function traced<Input extends object, Output>(
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
