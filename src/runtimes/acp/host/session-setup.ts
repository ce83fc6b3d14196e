import type { McpServer } from '../../../model/turn-request.ts';
import { asObject, objectsIn } from '../../../text/json.ts';
import type { Fields } from '../../../substrate/system/process/json-rpc.ts';

/** Where a conversation ends before its time. */
export type Place = 'initialize' | 'authenticate' | 'session' | 'options' | 'prompt' | 'agent';

/** The conversation cannot continue: the fields of the line `error`. */
export class Halt extends Error {
  readonly fields: Fields;
  constructor(at: Place, message: string, more: Fields = {}) {
    super(message);
    this.fields = { ...more, at, message };
  }
}

/** Throws `Halt` unless squad can log in by this method: without a person at a browser or a terminal. */
export function checkMethod(methods: unknown, wanted: string): void {
  const offered = objectsIn(methods);
  const method = offered.find(({ id }) => id === wanted);
  const ids = namesOf(offered.map(({ id }) => id));
  const problem =
    method === undefined
      ? `there is no login "${wanted}"; there are: ${ids}`
      : method['type'] === 'terminal' || /oauth|log-?in|sign-?in|browser/i.test(wanted)
        ? `the login "${wanted}" needs a person; name one that takes a key: ${ids}`
        : undefined;
  if (problem !== undefined) throw new Halt('authenticate', problem, { setting: 'auth' });
}

/** How to set the model of a session by what the session offers; undefined: it is set. Throws `Halt` if there is no such model. */
export function modelCall(
  agent: string,
  session: Fields,
  wanted: string,
): { readonly method: string; readonly params: object } | undefined {
  const option = objectsIn(session['configOptions']).find(({ id, category }) => (category ?? id) === 'model');
  const values = objectsIn(option?.['options'])
    .flatMap((entry) => ('options' in entry ? objectsIn(entry['options']) : [entry]))
    .map(({ value }) => value);
  const { availableModels, currentModelId } = asObject(session['models']);
  const ids = objectsIn(availableModels).map(({ modelId, id }) => modelId ?? id);
  if ((option === undefined ? currentModelId : option['currentValue']) === wanted) return undefined;
  if (values.includes(wanted)) {
    return { method: 'session/set_config_option', params: { configId: option?.['id'], value: wanted } };
  }
  if (ids.includes(wanted)) return { method: 'session/set_model', params: { modelId: wanted } };
  const why = `${agent} has no model "${wanted}"; it has: ${namesOf([...values, ...ids])}`;
  throw new Halt('options', why, { setting: 'model' });
}

/** A server as `session/*` takes it. */
export function wireServer({ name, transport }: McpServer): object {
  const pairs = (record: Readonly<Record<string, string>>) =>
    Object.entries(record).map(([key, value]) => ({ name: key, value }));
  const { type, ...rest } = transport;
  return 'env' in rest
    ? { name, ...rest, env: pairs(rest.env) }
    : { type, name, ...rest, headers: pairs(rest.headers) };
}

function namesOf(values: readonly unknown[]): string {
  return [...new Set(values.map(String))].slice(0, 40).join(', ') || 'none';
}
