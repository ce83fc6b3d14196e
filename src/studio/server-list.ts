import type { RunThread } from './threads.ts';

/** The name of the graph, and of the assistant that the server makes of it. */
export const GRAPH = 'squad';

/** The memory of LangGraph's server, as far as squad touches it. */
export interface ServerStore {
  readonly threads: Record<string, StoredThread | undefined>;
  readonly runs: Readonly<Record<string, { readonly thread_id: string; readonly status: string }>>;
  readonly assistants: Readonly<Record<string, { readonly assistant_id: string; readonly graph_id: string }>>;
}

interface StoredThread {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly config?: { readonly configurable?: Record<string, unknown> };
  values?: unknown;
}

/** A run of the server on the thread, which an engine has not begun yet. */
const AT_WORK: ReadonlySet<string> = new Set(['pending', 'running']);

/** Makes each run a thread of the server, as the run stands. Threads that are no run yet stay as they are. */
export function listThreads(store: ServerStore, threads: readonly RunThread[]): void {
  const assistants = Object.values(store.assistants);
  const own = assistants.find(({ graph_id }) => graph_id === GRAPH) ?? assistants[0];
  const graph = own === undefined ? {} : { graph_id: own.graph_id, assistant_id: own.assistant_id };
  const busy = new Set(
    Object.values(store.runs).flatMap(({ thread_id, status }) => (AT_WORK.has(status) ? [thread_id] : [])),
  );
  for (const { asked, metadata, ...thread } of threads) {
    const stored = (store.threads[thread.thread_id] ??= { config: {} });
    const status = thread.status === 'idle' && busy.has(thread.thread_id) ? 'busy' : thread.status;
    Object.assign(stored, thread, {
      status,
      metadata: { ...stored.metadata, ...graph, ...metadata },
      values: asked?.values ?? stored.values,
      interrupts: asked?.interrupts ?? {},
    });
  }
}
