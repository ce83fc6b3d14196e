// A LangChain agent of your own application reviews what claude builds. It needs `langchain` and the package of its model:
//   node agent-reviewer.mjs <repository> <objective> [<model>]
// with this in the squad.yaml of the repository:
//   agents:
//     - { name: planner, role: planner, runtime: claude }
//     - { name: builder, role: builder, runtime: claude }
//     - { name: critic, role: reviewer, runtime: critic }
import { execFile } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MemorySaver } from '@langchain/langgraph';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { createSquad } from 'agentsquad';
import { inProcess, turnIn } from 'agentsquad/langgraph';

/** Nothing confines the agent: its tools have to stay in the folder of the turn themselves. */
const readIt = tool(
  async ({ path }, config) => {
    const { workspace } = turnIn(config);
    const file = await realpath(join(workspace, path));
    if (!file.startsWith(`${await realpath(workspace)}${sep}`)) throw new Error('only files of the repository');
    return readFile(file, 'utf8');
  },
  { name: 'read_file', description: 'Reads a file of the repository.', schema: z.object({ path: z.string() }) },
);

/** What a tool starts gets the variables of the turn and ends with its signal. */
const showChanges = tool(
  async ({ from, to }, config) => {
    const { workspace: cwd, environment: env, signal } = turnIn(config);
    const { stdout } = await promisify(execFile)('git', ['diff', `${from}..${to}`, '--'], { cwd, env, signal });
    return stdout === '' ? 'nothing changed' : stdout.slice(0, 100_000);
  },
  {
    name: 'show_changes',
    description: 'Shows what changed from one commit to another.',
    schema: z.object({ from: z.string().regex(/^[\da-f]{7,64}$/), to: z.string().regex(/^[\da-f]{7,64}$/) }),
  },
);

/** The reviewer as a runtime. `model`: a name such as `anthropic:claude-sonnet-4-5`, or a model. */
export function createReviewer(model) {
  // A saver that writes to a file or a database lets a review go on where it was after a restart of the application.
  const checkpointer = new MemorySaver();
  const agent = async (turn) =>
    createAgent({
      model,
      checkpointer,
      tools: [readIt, showChanges, ...turn.tools],
      systemPrompt: 'You review changes of code. Look at the files before you judge.',
    }).invoke(turn.input, turn.config);
  return inProcess(agent, { checkpointer, toolKinds: { read_file: 'read', show_changes: 'read' } });
}

/** Runs an objective with it. After a crash of the application, this continues the run: the id is the same. */
export async function runReviewed(options, objective, model, trust) {
  const squad = createSquad({ ...options, runtimes: { critic: createReviewer(model) } });
  const run = await squad.run(objective, { id: objective, trust });
  return run.done;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [cwd = '.', objective = 'objective.md', model = 'anthropic:claude-sonnet-4-5'] = process.argv.slice(2);
  const { headline, next } = await runReviewed({ cwd }, objective, model, 'yes');
  console.log([headline, ...next].join('\n'));
}
