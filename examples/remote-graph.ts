// A graph of your own that has its work done by a squad on another machine, where `squad studio` serves a repository. Its port is
// on loopback there, so reach it through a tunnel: `squad studio --tunnel` there, and ssh -L 2024:127.0.0.1:2024 that-machine.
// <url> is the address that it prints, with its secret.
//   node remote-graph.ts <url> <runtime> <what to do>
import { END, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { z } from 'zod';

const [url = '', runtime = 'claude', ...words] = process.argv.slice(2);

const State = new StateSchema({ objective: z.string(), thread: z.string(), outcome: z.string().default('') });

const squad = new RemoteGraph({ graphId: 'squad', url });

const graph = new StateGraph(State)
  .addNode('build', async ({ objective, thread }) => {
    // A thread of the squad's own: the id of the run, whatever becomes of this graph. The same id again continues the same run.
    const config = { configurable: { thread_id: thread } };
    const { values } = await squad.getState(config).catch(() => ({ values: {} }));
    const isThere = Object.keys(values).length > 0;
    const end = (await squad.invoke(isThere ? null : { objective, runtime }, config)) as Ended;
    return { outcome: end.result?.outcome ?? end.phase };
  })
  .addEdge(START, 'build')
  .addEdge('build', END)
  .compile();

interface Ended {
  readonly phase: string;
  readonly result: { readonly outcome: string } | null;
}

console.log(JSON.stringify(await graph.invoke({ objective: words.join(' '), thread: crypto.randomUUID() })));
