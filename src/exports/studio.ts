/** For a `langgraph.json` of your own, where `squad studio` does not do. */
import { readMachine } from '../squad/machine.ts';
import { ownRoutes } from '../studio/own-routes.ts';
import { createStudioView, type StudioView } from '../studio/view.ts';

let shown: Promise<StudioView> | undefined;

/**
 * The runs of the repository at or above the working directory, for LangGraph's Agent Server: each is the thread with its id.
 * The server calls it before each of its answers. The first call finds the repository; rejects with `not-a-repository` where
 * there is none. No node runs in the server: a run that is started there gets a process of its own.
 */
export async function graph(): Promise<object> {
  return view();
}

/**
 * Makes each run a thread of such a server, with its status and its times: name it as `http.app` in `langgraph.json`.
 * Without it the server knows only threads that were made there.
 */
export const routes: object = ownRoutes(view);

async function view(): Promise<StudioView> {
  shown ??= createStudioView({ host: readMachine() });
  try {
    return await shown;
  } catch (error) {
    shown = undefined;
    throw error;
  }
}
