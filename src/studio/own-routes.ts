import { randomUUID } from 'node:crypto';
import { isJsonObject } from '../text/json.ts';
import type { StudioView } from './view.ts';

/** What squad does where the server itself would keep a client from the view. */
export type RoutedView = Pick<StudioView, 'admit'>;

/** A request inside the server, as far as it is used here. */
interface Context {
  readonly req: { readonly method: string; readonly path: string; json(): Promise<unknown> };
  readonly var: {
    readonly LANGGRAPH_OPS: { readonly threads: { get(threadId: string, auth: undefined): Promise<StoredThread> } };
  };
}

interface StoredThread {
  readonly config?: { readonly configurable?: Record<string, unknown> };
}

type Handler = (context: Context, next: () => Promise<void>) => Promise<Response | undefined>;

const RUN_ASKED = /^(?:\/threads\/([^/]+))?\/runs(?:\/(?:stream|wait))?$/;

/** Routes before those of the server, as it takes them: it asks for an application of hono, and reads no more of one. */
export function ownRoutes(view: RoutedView): object {
  const handler: Handler = async (context, next) => {
    const { method, path } = context.req;
    const [isRun, threadId] = RUN_ASKED.exec(path) ?? [];
    if (method === 'POST' && isRun !== undefined) await beforeRun(context, view, threadId);
    await next();
    return undefined;
  };
  // An error that brings its response is answered by the server itself.
  const errorHandler = (error: unknown): never => {
    throw error;
  };
  return { routes: [{ basePath: '/', path: '/*', method: 'ALL', handler }], errorHandler };
}

/** Throws the refusal of the run, which a client would find only in the stream of it. */
async function beforeRun({ req, var: own }: Context, view: RoutedView, threadId: string | undefined): Promise<void> {
  const body = await req.json().catch(() => undefined);
  // The server says what is wrong with it.
  if (!isJsonObject(body)) return;
  await view.admit(threadId?.toLowerCase() ?? randomUUID(), body);
  const thread =
    threadId === undefined
      ? undefined
      : await own.LANGGRAPH_OPS.threads.get(threadId, undefined).catch(() => undefined);
  // The server would begin each later run of the thread at the checkpoint of an earlier one.
  for (const name of ['checkpoint_id', 'checkpoint_ns', 'checkpoint_map']) delete thread?.config?.configurable?.[name];
}
