import { Command, interrupt } from '@langchain/langgraph';
import { z } from 'zod';
import type { SquadStateValue } from '../state.ts';
import { insideNode } from '../untraced.ts';
import type { NodeConfig, NodeContext } from './node-context.ts';

/** `{question: answer}`; or one text, for the one question there is. */
const resumeSchema = z.union([z.string(), z.record(z.string(), z.string())]);

/**
 * Reached when nothing else can move. Looks in the ledger first: the node runs again after an interrupt, and `squad answer`
 * may have spoken meanwhile. An answer given through LangGraph's own resume goes into the ledger like any other.
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
