// A graph of your own in which one node is a run of squad. It asks you to approve the plan, and your answer resumes it:
//   node parent-graph.ts <repository> <runtime> <what to do>
import { stdin, stderr } from 'node:process';
import { createInterface } from 'node:readline/promises';
import {
  Command,
  END,
  INTERRUPT,
  isInterrupted,
  MemorySaver,
  START,
  StateGraph,
  StateSchema,
} from '@langchain/langgraph';
import { z } from 'zod';
import { createSquad, isSquadError } from 'agentsquad';
import { squadNode } from 'agentsquad/langgraph';

const [cwd = '.', runtime = 'claude', ...words] = process.argv.slice(2);

const State = new StateSchema({
  objective: z.string(),
  outcome: z.string().default(''),
  branch: z.string().default(''),
});

const build = squadNode<typeof State.State, typeof State.Update>(createSquad({ cwd }), {
  in: ({ objective }) => ({ objective: { text: objective }, runtime }),
  // Good or bad: a run that fails is data, too.
  out: ({ outcome, branch }) => ({ outcome, branch }),
  plan: 'ask',
  // You agree to the commands in squad.yaml and in the objective. Absent: only those that you agreed to before may run.
  trust: 'yes',
});

// With a checkpointer that writes to a disk, a process that was killed is continued: `graph.invoke(null, thread)`.
const graph = new StateGraph(State)
  .addNode('clarify', ({ objective }) => ({ objective: objective.trim() }))
  .addNode('build', build)
  .addEdge(START, 'clarify')
  .addEdge('clarify', 'build')
  .addEdge('build', END)
  .compile({ checkpointer: new MemorySaver() });

const thread = { configurable: { thread_id: 'my-thread' } };
try {
  let state = await graph.invoke({ objective: words.join(' ') }, thread);
  while (isInterrupted<{ questions: { text: string; options: string[] }[] }>(state)) {
    const [question] = state[INTERRUPT][0]?.value?.questions ?? [];
    const terminal = createInterface({ input: stdin, output: stderr });
    const answer = await terminal.question(`${question?.text}\n[${question?.options.join(' | ')}] `);
    terminal.close();
    state = await graph.invoke(new Command({ resume: answer }), thread);
  }
  console.log(JSON.stringify(state));
} catch (error) {
  if (!isSquadError(error)) throw error;
  console.error(`${error.message}\n${error.next ?? ''}`);
  process.exitCode = error.exitCode;
}
