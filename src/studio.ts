/** For a `langgraph.json` of your own, where `squad studio` does not do. */
import { readMachine } from './squad/machine.ts';
import { createStudioView } from './studio/view.ts';

let shown: ReturnType<typeof createStudioView> | undefined;

/**
 * What LangGraph's Agent Server serves of the repository at or above its working directory: each run is the thread with its id.
 * The server calls it, before each of its answers. The first call finds the repository; rejects with `not-a-repository` where
 * there is none. No node runs in the server: a run that is started there gets a process of its own.
 */
export async function graph(): Promise<object> {
  shown ??= createStudioView({ host: readMachine() });
  try {
    return await shown;
  } catch (error) {
    shown = undefined;
    throw error;
  }
}
