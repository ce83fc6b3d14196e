import { z } from 'zod';
import type { Usage } from '../../model/usage.ts';
import { asObject } from '../../text/json.ts';
import { jsonSchema } from '../../text/json-schema.ts';
import { causeOfWords } from '../shared/failed-request.ts';
import { lenient } from '../shared/native-lines.ts';
import type { Cause } from '../shared/turn-end.ts';

const text = lenient(z.string());
const record = lenient(z.record(z.string(), z.unknown()));

const updateSchema = z.object({
  sessionUpdate: z.string(),
  content: lenient(z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())])),
  ...{ toolCallId: text, name: text, title: text, kind: text, status: text },
  rawInput: record,
  rawOutput: z.unknown().optional(),
  cost: lenient(z.object({ amount: z.number().nonnegative(), currency: z.string() })),
  locations: lenient(z.array(z.object({ path: text }))),
  entries: lenient(z.array(z.object({ content: text, status: text }))),
  _meta: record,
});
export type Update = z.infer<typeof updateSchema>;

const call = { tool: z.string(), kind: text, title: text };
/** Agents report the use of a prompt in one of two forms. */
const used = { usage: record, meta: record };
type Used = z.infer<z.ZodObject<typeof used>>;
/** The lines of the host that count. */
const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('session'), id: z.string(), resumed: z.boolean() }),
  z.object({ type: z.literal('update'), replayed: lenient(z.boolean()), update: updateSchema }),
  z.object({ type: z.literal('ask'), id: text, ...call }),
  z.object({
    ...{ type: z.literal('permission'), id: z.string(), ...call },
    ...{ answer: z.enum(['allowed', 'rejected', 'cancelled']), reason: z.string() },
  }),
  z.object({ type: z.literal('retry'), message: z.string() }),
  z.object({ type: z.literal('noise'), what: z.string(), count: z.number() }),
  z.object({
    ...{ type: z.literal('result'), stopReason: z.string(), text: z.string(), ...used },
    // Before its answer was asked for once more.
    before: lenient(z.object(used)),
    ...{ structured: lenient(jsonSchema), problem: text },
  }),
  z.object({
    ...{ type: z.literal('error'), at: z.string(), message: z.string() },
    ...{ setting: text, code: lenient(z.number()), data: z.unknown().optional(), said: text },
  }),
]);
export type HostLine = z.infer<typeof lineSchema>;
export type LineOf<Type extends HostLine['type']> = Extract<HostLine, { type: Type }>;

export function parseLine(value: unknown): HostLine | undefined {
  return lineSchema.safeParse(value).data;
}

/** The host was ended by a signal: who sent it knows why the turn ended, and the host does not. */
export function isTerminated(line: LineOf<'result' | 'error'>): boolean {
  return line.type === 'error' && line.at === 'agent' && line.message === 'terminated';
}

/** A session that cannot be opened for one of these reasons is still there. */
const TO_WAIT_FOR = new Set(['auth', 'billing', 'quota-exhausted', 'rate-limited', 'overloaded', 'network']);

/** Why the host could not hold its conversation. `resumes`: it was to go on with a session. */
export function causeOfError(line: LineOf<'error'>, name: string, resumes: boolean): Cause {
  const { at, code, data, said = '', setting } = line;
  const message = said.trim() === '' ? line.message : `${line.message}; its last words: ${said.trim()}`;
  const known = causeOfWords(`${line.message} ${JSON.stringify(data ?? '')}`, code);
  const program = { setting: `runtimes.${name}.command`, message };
  if (at === 'prompt')
    return known ? { ...known, message: wordsOf(line, known.kind) } : { kind: 'server-error', message };
  if (at === 'agent') return { kind: line.message === 'cancelled' ? 'cancelled' : 'crashed', message };
  if (at === 'authenticate') return { kind: 'auth', setting: `runtimes.${name}.config.auth`, message };
  if (setting === 'mcp') return { kind: 'mcp-unavailable', setting, message };
  if (at === 'options') return { kind: 'model-unavailable', setting: 'model', message };
  if (at === 'spawn') return { kind: 'cli-missing', ...program };
  if (at !== 'session') return { kind: 'cli-unsupported', ...program };
  if (known !== undefined && TO_WAIT_FOR.has(known.kind)) return { ...known, message };
  return resumes ? { kind: 'session-not-found', message } : { kind: 'cli-unsupported', ...program };
}

/** Agents put what failed beside a message that says nothing. Only of the network: the rest of it is the API's own answer. */
function wordsOf({ message, data }: LineOf<'error'>, kind: Cause['kind']): string {
  if (kind !== 'network' || data === undefined || data === null) return message;
  const { details, message: inner } = asObject(data);
  const words = [details, inner, data].find((one) => typeof one === 'string') ?? JSON.stringify(data);
  return message.includes(words) ? message : `${message}: ${words}`;
}

const count = z.number().int().nonnegative().nullish();
const usageSchema = z.object({
  usage: lenient(z.object({ inputTokens: count, outputTokens: count, cachedReadTokens: count, totalTokens: count })),
  meta: lenient(
    z.object({ quota: z.object({ token_count: z.object({ input_tokens: count, output_tokens: count }) }) }),
  ),
});

/** undefined: the agent reports no use. Some agents count cached tokens as input and some do not: the total tells. */
export function usageOf(used: Used): Usage | undefined {
  const { usage, meta } = usageSchema.parse(used);
  const quota = meta?.quota.token_count;
  const cachedInputTokens = usage?.cachedReadTokens ?? 0;
  const outputTokens = usage?.outputTokens ?? quota?.output_tokens ?? 0;
  const rest = (usage?.totalTokens ?? 0) - outputTokens - cachedInputTokens;
  const inputTokens = rest > 0 ? rest : (usage?.inputTokens ?? quota?.input_tokens ?? 0);
  // Zeros are what an agent reports that has not counted.
  if (inputTokens + cachedInputTokens + outputTokens === 0) return undefined;
  return { inputTokens, cachedInputTokens, outputTokens };
}
