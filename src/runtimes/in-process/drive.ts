import type { TurnRequest } from '../../model/turn-request.ts';
import { errorText } from '../../model/errors.ts';
import { jsonSchema } from '../../text/json-schema.ts';
import { defined } from '../../text/defined.ts';
import { parseRetryAt } from '../../text/retry-at.ts';
import { causeOfWords, kindOfStatus } from '../shared/failed-request.ts';
import { shortOutput } from '../shared/translation.ts';
import { repairOf, structuredAnswer } from '../shared/text-answer.ts';
import {
  AgentFailure,
  type AgentReport,
  type InProcessAgent,
  type InProcessAnswer,
  type InProcessTool,
} from './agent.ts';
import type { StandIn } from './stand-in-server.ts';
import { lineSchema, type Line, type LineOf } from './schema.ts';

/** One turn of an agent of the application. */
export interface DrivenTurn {
  readonly request: TurnRequest;
  readonly agent: InProcessAgent;
  readonly threadId: string;
  /** undefined: the agent keeps no sessions, and each turn begins anew. */
  readonly hasThread: ((threadId: string) => boolean | Promise<boolean>) | undefined;
  readonly prompt: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Exit statuses of the stand-in. Without a result, squad takes the second for a turn that was lost. */
const ENDED = 0;
const CUT_SHORT = 3;

/** Lets the agent do its turn, and prints what it says. Never rejects. */
export async function drive(turn: DrivenTurn, standIn: StandIn): Promise<void> {
  const end = await work(turn, standIn).catch((error: unknown) => failed(causeOf(error)));
  if (standIn.signal.aborted) return standIn.end(CUT_SHORT);
  standIn.print(end);
  return standIn.end(ENDED);
}

async function work(turn: DrivenTurn, standIn: StandIn): Promise<Line> {
  const { request, hasThread, threadId } = turn;
  const broken = standIn.servers.find(
    ({ name, problem }) => problem !== undefined && request.mcp.some((one) => one.name === name && one.required),
  );
  if (broken !== undefined) {
    const message = `the MCP server ${broken.name} cannot be used: ${broken.problem}`;
    return failed({ kind: 'mcp-unavailable', message });
  }
  const resumed = request.session !== undefined;
  if (resumed && (await hasThread?.(threadId)) !== true) {
    return failed({ kind: 'session-not-found', message: `the agent has no thread ${threadId}` });
  }
  if (hasThread !== undefined) standIn.print({ type: 'session', id: threadId, resumed });
  return answer(turn, standIn);
}

async function answer({ request, agent, ...turn }: DrivenTurn, standIn: StandIn): Promise<Line> {
  const report = (said: AgentReport): void => {
    const line = lineSchema.safeParse(shortened(said));
    if (!line.success) throw new TypeError(`no report of an agent: ${line.error.issues[0]?.message}`);
    if (!standIn.signal.aborted) standIn.print(line.data);
  };
  const { outputSchema: schema, outputIsOptional, instructions, access, model, workspace } = request;
  const ask = async (prompt: string, resumed: boolean): Promise<InProcessAnswer> => {
    const { signal } = standIn;
    signal.throwIfAborted();
    const said = await agent({
      ...{ prompt, instructions, resumed, access, model, signal, report },
      ...{ threadId: turn.threadId, workspace: workspace.path, environment: turn.environment },
      tools: toolsOf(standIn),
      // The application is not held to a form that its agent does not owe.
      outputSchema: outputIsOptional === true ? undefined : schema,
    });
    if (said.usage !== undefined) report({ type: 'usage', usage: said.usage });
    return said;
  };
  const first = await ask(turn.prompt, request.session !== undefined);
  if (schema === undefined) return { type: 'result', text: first.text };
  const read = await structured(schema, first);
  if ('structured' in read) return { type: 'result', text: first.text, structured: read.structured };
  if (outputIsOptional === true) return { type: 'result', text: first.text };
  // Only in the same session does the agent know what it is to correct.
  if (turn.hasThread === undefined || first.text.trim() === '') {
    return failed({ kind: 'bad-output', message: read.problem });
  }
  const second = await ask(await repairOf(read.problem, request.prompts), true);
  const again = await structured(schema, second);
  if ('problem' in again) return failed({ kind: 'bad-output', message: again.problem });
  return { type: 'result', text: second.text, structured: again.structured };
}

async function structured(
  schema: NonNullable<TurnRequest['outputSchema']>,
  { text, structured: given }: InProcessAnswer,
): ReturnType<typeof structuredAnswer> {
  if (given === undefined) return structuredAnswer(schema, text);
  return structuredAnswer(schema, JSON.stringify(given));
}

function toolsOf(standIn: StandIn): InProcessTool[] {
  let calls = 0;
  return standIn.servers.flatMap(({ name: server, tools }) =>
    tools.map(({ name: tool, description, inputSchema }) => ({
      name: `mcp__${server}__${tool}`,
      ...{ description, inputSchema },
      call: async (input: unknown) => {
        calls += 1;
        const id = `${server}-${tool}-${calls}`;
        const said = jsonSchema.safeParse(input).data ?? null;
        standIn.print({ type: 'tool-started', id, tool, server, kind: 'mcp', input: said });
        const ended = (ok: boolean, output: string): void =>
          standIn.print({ type: 'tool-ended', id, ok, denied: false, output: shortOutput(output) });
        try {
          const output = await standIn.callTool(server, tool, input);
          ended(true, output);
          return output;
        } catch (error) {
          ended(false, errorText(error));
          throw error;
        }
      },
    })),
  );
}

/** A tool's output can have any length. */
function shortened(said: AgentReport): AgentReport {
  return said.type === 'tool-ended' && said.output !== undefined ? { ...said, output: shortOutput(said.output) } : said;
}

type Cause = LineOf<'error'>['failure'];

function failed(failure: Cause): Line {
  return { type: 'error', failure };
}

/** Judges an error of the agent, or of its model's API, by its class, status, code and words. */
function causeOf(error: unknown): Cause {
  const message = errorText(error);
  if (error instanceof AgentFailure) return { kind: error.kind, message, ...defined({ retryAt: error.retryAt }) };
  const {
    status,
    lc_error_code: code,
    cause,
  } = error as { status?: unknown; lc_error_code?: unknown; cause?: unknown };
  const said = cause instanceof Error ? `${message}: ${cause.message}` : message;
  const retryAt = parseRetryAt(said, Date.now());
  if (typeof status === 'number' && status >= 400 && status < 600) {
    const kind = kindOfStatus(status, said, { 503: 'overloaded' });
    return { kind, message: said, httpStatus: status, ...defined({ retryAt }) };
  }
  if (code === 'GRAPH_RECURSION_LIMIT') return { kind: 'step-limit', message };
  return { message: said, ...defined({ kind: 'crashed', ...causeOfWords(said), retryAt }) };
}
