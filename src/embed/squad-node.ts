import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { usageError, type SquadError } from '../model/errors.ts';
import type { RunEnd } from '../view/running-run.ts';
import type { Squad } from '../squad/squad.ts';
import { plainLine } from '../text/plain-text.ts';
import { createSquadGraph, RECURSION_LIMIT, reportTo } from './squad-graph.ts';
import { checkRequest, type EmbedOptions, type SquadRequest } from './squad-request.ts';

/** How a node of a graph runs squad. */
export interface SquadNodeOptions<State, Update> extends EmbedOptions {
  /** Makes the request of the run. Equal states have to give equal requests. */
  readonly in: (state: State) => SquadRequest | Promise<SquadRequest>;
  /** Makes the update of the state from the end of the run, good or bad. */
  readonly out: (end: RunEnd, state: State) => Update | Promise<Update>;
}

/**
 * A node that takes a run of `squad` to its end. Its id follows from the thread, the node and the request: a graph that was killed,
 * aborted or failed continues the run when it is invoked again, and a later visit is a new one. A question of the run
 * interrupts the graph. Events go to the `custom` stream. Throws a `SquadError` only where the run could not start or continue.
 */
export function squadNode<State, Update>(
  squad: Squad,
  { in: requestOf, out, ...options }: SquadNodeOptions<State, Update>,
): (state: State, config: LangGraphRunnableConfig) => Promise<Update> {
  return async (state, config) => {
    const graph = createSquadGraph(squad, { ...options, onEvent: reportTo(config.writer) });
    const request = checkRequest(await requestOf(state));
    const { end } = await graph.invoke({ request }, { ...config, recursionLimit: RECURSION_LIMIT });
    if (end === null) throw new Error('the graph of the run ended before the run');
    if (end.outcome === 'waiting' && end.questions.length > 0) throw cannotAsk(end);
    return out(end, state);
  };
}

function cannotAsk({ name, questions: [question] }: RunEnd): SquadError {
  return usageError(
    `run ${name} asks a person, and a graph without a checkpointer cannot wait: ${plainLine(question?.text ?? '')}`,
    `Compile the outermost graph with a checkpointer, or run \`squad answer\` and \`squad resume ${name}\`.`,
  );
}
