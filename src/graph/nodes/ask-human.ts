import { Command, interrupt } from '@langchain/langgraph';
import { z } from 'zod';
import type { SquadStateValue } from '../state.ts';
import { insideNode } from '../untraced.ts';
import type { NodeConfig, NodeContext } from './node-context.ts';

/** `{question: answer}`, or a text that answers the only question. */
const resumeSchema = z.union([z.string(), z.record(z.string(), z.string())]);

/**
 * Waits for a person once nothing else can move. It first looks in the ledger, because the node runs again after an interrupt
 * and `squad answer` may have come. An answer through LangGraph's own resume goes into the ledger too.
 */
export function createAskHuman({ ports, book }: NodeContext) {
  return (state: SquadStateValue, config: NodeConfig): Command => {
    if (book.inputsAfter(state.cursor, 1).length > 0) return onward();
    const asked = state.questions;
    const given = resumeSchema.safeParse(insideNode(config, () => interrupt({ questions: asked })));
    if (!given.success) return onward();
    const [first] = asked;
    const answers = typeof given.data !== 'string' ? given.data : first === undefined ? {} : { [first.id]: given.data };
    for (const [question, answer] of Object.entries(answers)) {
      ports.ledger.command(state.runId, 'answer', { question, answer }, 'graph');
    }
    return onward();
  };
}

function onward(): Command {
  return new Command({ goto: 'collect', update: { phase: 'running' } });
}
