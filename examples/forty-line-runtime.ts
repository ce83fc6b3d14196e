import { join } from 'node:path';
import { z } from 'zod';
import {
  childEnvironment,
  FAILURE_KINDS,
  gitEnvironment,
  promptFor,
  sessionRefusal,
  usageSchema,
  type CliAdapter,
  type RuntimeSettings,
} from 'agentsquad/runtime';

const id = z.string();
const error = { kind: z.enum(FAILURE_KINDS), message: z.string(), retryAt: z.number().optional() };
const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), id, resumed: z.boolean() }),
  z.object({
    type: z.literal('tool-started'),
    id,
    tool: z.string(),
    kind: z.enum(['edit', 'execute']),
    input: z.json(),
  }),
  z.object({ type: z.literal('tool-ended'), id, ok: z.boolean(), denied: z.boolean(), output: z.string() }),
  z.object({ type: z.literal('retry'), ...error }),
  z.object({ type: z.literal('error'), ...error }),
  z.object({ type: z.literal('result'), text: z.string(), structured: z.json().optional(), usage: usageSchema }),
]);
type State = { sessionId?: string; denied: { tool: string }[]; end?: z.infer<typeof lineSchema> };

/**
 * A program that reads its prompt from stdin and prints one JSON object a line, the last one a `result` or an `error`. In a run:
 * `createSquad({ runtimes: { mine: createMyRuntime } })`, and in squad.yaml `runtimes: { mine: { config: { program, script } } }`.
 */
export function createMyRuntime(settings: RuntimeSettings, { node }: { node: string }): CliAdapter<undefined, State> {
  const { environment, stateDirectory, config: { program, script } = {} } = settings;
  const home = join(stateDirectory, 'homes', 'mine');
  return {
    name: 'mine',
    lookUp: () => Promise.resolve(undefined),
    command: (request) => {
      const failure = sessionRefusal('mine', request);
      if (failure !== undefined) return { type: 'refusal', failure };
      const { session: { id: session } = { id: request.turnId } } = request;
      const args = [String(program), JSON.stringify({ script, home, session, resume: request.session !== undefined })];
      const env = { ...childEnvironment(environment, []), ...gitEnvironment(request.workspace) };
      return { type: 'command', binary: node, args, env, stdin: promptFor(request), files: [], home, folders: [home] };
    },
    begin: () => ({ denied: [] }),
    translate: (state, native) => {
      const line = lineSchema.safeParse(native.type === 'json' ? native.value : undefined).data;
      if (line?.type === 'session') {
        return { state: { ...state, sessionId: line.id }, reports: [{ ...line, type: 'session-announced', mcp: [] }] };
      }
      if (line?.type === 'retry') {
        return { state, reports: [{ type: 'retry-scheduled', failure: line.kind, message: line.message }] };
      }
      if (line?.type === 'tool-started') return { state, reports: [line] };
      if (line?.type !== 'tool-ended') return { state: line ? { ...state, end: line } : state, reports: [] };
      const denied = line.denied ? [...state.denied, { tool: line.id }] : state.denied;
      return { state: { ...state, denied }, reports: [line] };
    },
    isTerminal: ({ end }) => end !== undefined,
    conclude: ({ sessionId, denied, end }, { ending, stderr }) => {
      const known = { sessionId, denials: denied };
      const proven = end?.type === 'result' && ending.type === 'exited' && ending.code === 0;
      if (proven) return { ...known, text: end.text, structured: end.structured, counters: end.usage };
      const failure = end?.type === 'error' ? end : { kind: 'crashed' as const, message: stderr };
      return { ...known, text: '', failure: { ...failure, mayHaveActed: end?.type !== 'error' } };
    },
    ladder: [{ signal: 'SIGTERM', waitMs: 2000 }],
    probe: () => Promise.resolve({ ok: true, login: 'ok', sandbox: 'none', problems: [] }),
  };
}
