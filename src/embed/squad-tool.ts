import { tool, type StructuredToolInterface } from '@langchain/core/tools';
import { getWriter } from '@langchain/langgraph';
import { z } from 'zod';
import type { Squad } from '../squad/squad.ts';
import { reportOf } from './messages.ts';
import { graphOfCall, RECURSION_LIMIT, reportTo } from './squad-graph.ts';
import { checkRequest, type EmbedOptions, type SquadRequest } from './squad-request.ts';

/** How a model may use squad. What is not the objective is decided here, not by the model. */
export interface SquadToolOptions
  extends EmbedOptions, Pick<SquadRequest, 'playbook' | 'runtime' | 'models' | 'limits' | 'strict'> {
  /** Default: `squad`. */
  readonly name?: string | undefined;
  /** Shown to the model. Say what the repository is, and for what work squad is meant. */
  readonly description?: string | undefined;
}

const DESCRIPTION =
  'Gives an objective to a team of coding agents, which plan, build, review and deliver it on a branch of the repository. ' +
  'Takes minutes to hours. Answers with the outcome, the branch and what failed.';

const inputSchema = z.object({
  objective: z.string().describe('What to do, in words: goals, and how to tell that they are met.'),
});

/**
 * A tool by which an agent delegates an objective to `squad`. Its answer is the headline and the facts of the run, its artifact the
 * `RunEnd`. The same tool call again is the same run. A question of the run interrupts the agent's graph; without a checkpointer
 * the answer says what the run waits for. With `trust: 'yes'`, the commands in an objective that a model wrote run on this machine.
 */
export function squadTool(
  squad: Squad,
  { name = 'squad', description = DESCRIPTION, ...given }: SquadToolOptions = {},
): StructuredToolInterface {
  const { trust, allowFullAccess, plan, patienceMs, nestTrace, ...request } = given;
  return tool(
    async ({ objective }, config) => {
      const options = { trust, allowFullAccess, plan, patienceMs, nestTrace, onEvent: reportTo(getWriter(config)) };
      const graph = graphOfCall(squad, options, config.toolCall?.id);
      const asked = checkRequest({
        ...request,
        objective: { text: objective, from: 'the objective of the tool call' },
      });
      const { end } = await graph.invoke({ request: asked }, { ...config, recursionLimit: RECURSION_LIMIT });
      if (end === null) throw new Error('the graph of the run ended before the run');
      return [reportOf(end), end];
    },
    { name, description, schema: inputSchema, responseFormat: 'content_and_artifact' },
  );
}
