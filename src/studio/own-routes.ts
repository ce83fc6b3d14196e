import { randomUUID } from 'node:crypto';
import { isJsonObject } from '../text/json.ts';
import { listThreads, type ServerStore } from './server-list.ts';
import type { StudioView } from './view.ts';

/** Calls that squad routes to the view because the server would answer them itself. */
export type RoutedView = Pick<StudioView, 'admit' | 'threads' | 'updateState'>;

/** A request inside the server, as far as it is used here. */
interface Context {
  readonly req: { readonly method: string; readonly path: string; json(): Promise<unknown> };
  json(body: object): Response;
  readonly var: { readonly LANGGRAPH_OPS: { readonly threads: { readonly conn: Connection } } };
}

interface Connection {
  with(work: (store: ServerStore) => void): Promise<void>;
}

type Handler = (context: Context, next: () => Promise<void>) => Promise<Response | undefined>;

const THREADS = /^\/threads(?:\/|$)/;
const EDITED = /^\/threads\/([^/]+)\/state$/;
const RUN_ASKED = /^(?:\/threads\/([^/]+))?\/runs(?:\/(?:stream|wait))?$/;

/**
 * Routes before those of the server, as it takes them: it asks for an application of hono, and reads no more of one. Before it
 * answers anything about threads, it has each run as one. `view`: is asked for with the first of these requests.
 */
export function ownRoutes(view: () => Promise<RoutedView>): object {
  const handler: Handler = async (context, next) => {
    const { method, path } = context.req;
    const [isRun, threadId] = method === 'POST' ? (RUN_ASKED.exec(path) ?? []) : [];
    if (isRun !== undefined || THREADS.test(path)) {
      const own = await view();
      const [, edited] = method === 'POST' ? (EDITED.exec(path) ?? []) : [];
      if (edited !== undefined) return edit(context, own, edited);
      await bringUpToDate(context, own);
      if (isRun !== undefined) await beforeRun(context, own, threadId);
    }
    await next();
    return undefined;
  };
  // An error that brings its response is answered by the server itself.
  const errorHandler = (error: unknown): never => {
    throw error;
  };
  return { routes: [{ basePath: '/', path: '/*', method: 'ALL', handler }], errorHandler };
}

/** The server edits no state of a thread on which it has a run, so that what was started in Studio could not be steered there. */
async function edit(context: Context, view: RoutedView, threadId: string): Promise<Response> {
  const body = await context.req.json().catch(() => undefined);
  const { values, checkpoint, checkpoint_id } = isJsonObject(body) ? body : {};
  const named = isJsonObject(checkpoint) ? checkpoint['checkpoint_id'] : checkpoint_id;
  const { configurable } = await view.updateState(
    { configurable: { thread_id: threadId, checkpoint_id: named } },
    values,
  );
  return context.json({ checkpoint: configurable ?? null });
}

/** Throws the refusal of the run, which a client would find only in the stream of it. */
async function beforeRun({ req, var: own }: Context, view: RoutedView, threadId: string | undefined): Promise<void> {
  const body = await req.json().catch(() => undefined);
  // The server says what is wrong with it.
  if (!isJsonObject(body)) return;
  await view.admit(threadId?.toLowerCase() ?? randomUUID(), body);
  if (threadId === undefined) return;
  // The server would begin each later run of the thread at the checkpoint of an earlier one.
  await own.LANGGRAPH_OPS.threads.conn.with(({ threads }) => {
    const { configurable } = threads[threadId]?.config ?? {};
    for (const name of ['checkpoint_id', 'checkpoint_ns', 'checkpoint_map']) delete configurable?.[name];
  });
}

async function bringUpToDate({ var: own }: Context, view: RoutedView): Promise<void> {
  const threads = await view.threads();
  await own.LANGGRAPH_OPS.threads.conn.with((store) => listThreads(store, threads));
}
