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
  /** Ends what this process no longer follows. Resolves once the client has everything, or its time is over. */
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

/** How long the end of a run waits for the client. */
const END_MS = 800;

/** undefined: the application does not trace this call. Sends ids, names, times, outcomes and use, and no content. */
export async function nestedTrace({ callbacks, metadata }: LangGraphRunnableConfig): Promise<NestedTrace | undefined> {
  const handlers = callbacks !== undefined && 'handlers' in callbacks ? callbacks.handlers : [];
  if (!handlers.some(({ name }) => name === TRACER)) return undefined;
  const { RunTree: Tree } = await import('langsmith/run_trees');
  const above: RunnableConfigLike = { callbacks: callbacks as object, ...defined({ metadata }) };
  const trees = openTrees();
  return {
    take: (event) => {
      switch (event.type) {
        case 'attempt-taken':
          return trees.begin(event.attemptId, Tree.fromRunnableConfig(above, attemptRun(event)));
        case 'attempt-ended': {
          const { attemptId, at, outcome, failure, usage } = event;
          const use = usage === undefined ? {} : { usage_metadata: usageForLangSmith(usage) };
          const error = outcome === 'completed' ? undefined : (failure?.kind ?? outcome);
          trees.endBelow(attemptId, at);
          return trees.end(attemptId, { at, error, outputs: { outcome }, metadata: use });
        }
        case 'tool-started':
        case 'tool-ended': {
          const { attemptId, id, tool, at, ok, denied } = toolSchema.parse(event);
          const key = `${attemptId} ${id}`;
          if (event.type === 'tool-ended')
            return trees.end(key, { at, error: ok ? undefined : denied ? 'denied' : 'failed' });
          const about = { name: plainLine(tool, 200), run_type: 'tool', start_time: at, inputs: {}, tags: ['squad'] };
          const call = trees.get(attemptId)?.createChild(about);
          return call === undefined ? undefined : trees.begin(key, call);
        }
        default:
      }
    },
    end: async () => {
      trees.endBelow('', Date.now());
      await inTime(trees.sent());
    },
  };
}

function attemptRun({
  attemptId,
  agent,
  task,
  runId,
  runtime,
  kind,
  at,
}: Extract<RunEvent, { type: 'attempt-taken' }>) {
  const about = { thread_id: runId, agent, task, runtime, attempt: attemptId };
  return {
    ...{ name: attemptId, run_type: kind === 'turn' ? 'llm' : 'chain', start_time: at, inputs: {} },
    ...{ metadata: kind === 'turn' ? { ...about, ls_model_type: 'chat', ls_provider: runtime } : about },
    tags: ['squad'],
  };
}

interface End {
  readonly at: number;
  readonly error: string | undefined;
  readonly outputs?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Runs of LangSmith, each posted as it begins and patched once it has ended. */
function openTrees() {
  const open = new Map<string, { readonly tree: RunTree; readonly begun: Promise<void> }>();
  const sending = new Set<Promise<void>>();
  const end = (key: string, { at, error, outputs = {}, metadata = {} }: End): void => {
    const one = open.get(key);
    open.delete(key);
    if (one === undefined) return;
    const { tree, begun } = one;
    tree.metadata = { ...tree.metadata, ...metadata };
    const patched = Promise.all([begun, tree.end({ ...outputs }, error, at)]).then(async () => tree.patchRun());
    // A span that cannot be sent must not end the run, nor may those of a night pile up.
    const sent: Promise<void> = patched.catch(() => undefined).finally(() => sending.delete(sent));
    sending.add(sent);
  };
  return {
    get: (key: string): RunTree | undefined => open.get(key)?.tree,
    begin: (key: string, tree: RunTree): void => {
      open.set(key, { tree, begun: tree.postRun().catch(() => undefined) });
    },
    end,
    /** Ends what began below this and has no end of its own. */
    endBelow: (above: string, at: number): void => {
      for (const key of [...open.keys()].toReversed())
        if (above === '' || key.startsWith(`${above} `)) end(key, { at, error: 'not-ended' });
    },
    sent: async () => Promise.all(sending),
  };
}

async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => void (timer = setTimeout(resolve, END_MS)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}
