import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import type { RunTree, RunnableConfigLike } from 'langsmith/run_trees';
import { z } from 'zod';
import type { RunEvent } from '../model/run-event.ts';
import { usageForLangSmith } from '../engine/tracing/langsmith.ts';
import { defined } from '../text/defined.ts';
import { plainLine } from '../text/plain-text.ts';

/** The attempts and tool calls of a run, as runs of LangSmith below the application's own. */
export interface NestedTrace {
  take(event: RunEvent): void;
  /** Resolves once the client has all that ended. What still runs is not sent. */
  end(): Promise<void>;
}

const toolSchema = z.object({
  attemptId: z.string(),
  id: z.string(),
  at: z.number(),
  tool: z.string().default('tool'),
  ok: z.boolean().default(false),
  denied: z.boolean().default(false),
});

/** The name of LangChain's tracer for LangSmith. */
const TRACER = 'langchain_tracer';

/** undefined: the application does not trace this call. Sends ids, names, times, outcomes and use, and no content. */
export async function nestedTrace({ callbacks, metadata }: LangGraphRunnableConfig): Promise<NestedTrace | undefined> {
  const handlers = callbacks !== undefined && 'handlers' in callbacks ? callbacks.handlers : [];
  if (!handlers.some(({ name }) => name === TRACER)) return undefined;
  const { RunTree: Tree } = await import('langsmith/run_trees');
  const above: RunnableConfigLike = { callbacks: callbacks as object, ...defined({ metadata }) };
  const open = new Map<string, RunTree>();
  const sent: Promise<void>[] = [];
  const close = (key: string, at: number, error: string | undefined, outputs: Readonly<Record<string, unknown>>) => {
    const tree = open.get(key);
    open.delete(key);
    if (tree === undefined) return;
    sent.push(tree.end({ ...outputs }, error, at).then(async () => tree.postRun()));
  };
  return {
    take: (event) => {
      switch (event.type) {
        case 'attempt-taken': {
          const { attemptId, agent, task, runId, runtime, kind, at } = event;
          const about = { thread_id: runId, agent, task, runtime, attempt: attemptId };
          open.set(
            attemptId,
            Tree.fromRunnableConfig(above, {
              ...{ name: attemptId, run_type: kind === 'turn' ? 'llm' : 'chain', start_time: at, inputs: {} },
              ...{ metadata: kind === 'turn' ? { ...about, ls_model_type: 'chat', ls_provider: runtime } : about },
              tags: ['squad'],
            }),
          );
          return;
        }
        case 'attempt-ended': {
          const { attemptId, at, outcome, failure, usage } = event;
          const tree = open.get(attemptId);
          if (tree !== undefined && usage !== undefined) {
            tree.metadata = { ...tree.metadata, usage_metadata: usageForLangSmith(usage) };
          }
          return close(attemptId, at, outcome === 'completed' ? undefined : (failure?.kind ?? outcome), { outcome });
        }
        case 'tool-started':
        case 'tool-ended': {
          const { attemptId, id, tool, at, ok, denied } = toolSchema.parse(event);
          const key = `${attemptId} ${id}`;
          if (event.type === 'tool-ended') return close(key, at, ok ? undefined : denied ? 'denied' : 'failed', {});
          const about = { name: plainLine(tool, 200), run_type: 'tool', start_time: at, inputs: {}, tags: ['squad'] };
          const call = open.get(attemptId)?.createChild(about);
          if (call !== undefined) open.set(key, call);
          return;
        }
        default:
      }
    },
    end: async () => {
      // A span that cannot be sent must not end the run.
      await Promise.allSettled(sent);
    },
  };
}
