import type { McpServer } from '../../../model/turn-request.ts';
import { isJsonObject } from '../../../text/json.ts';
import type { Fields } from '../../../substrate/process/json-rpc.ts';

/** Why squad cannot log in by this method; undefined: it can. A login needs a person at a browser or a terminal. */
export function methodProblem(methods: unknown, wanted: string): string | undefined {
  const offered = objects(methods);
  const method = offered.find(({ id }) => id === wanted);
  if (method === undefined) return `there is no login "${wanted}"; there are: ${namesOf(offered.map(({ id }) => id))}`;
  if (method['type'] !== 'terminal' && !/oauth|log-?in|sign-?in|browser/i.test(wanted)) return undefined;
  return `the login "${wanted}" needs a person; name one that takes a key: ${namesOf(offered.map(({ id }) => id))}`;
}

type SettingCall =
  | { readonly type: 'call'; readonly method: string; readonly params: object }
  | { readonly type: 'refused'; readonly why: string };

/** How to set the mode or the model of a session by what the session offers; undefined: it is set. */
export function settingCall(session: Fields, setting: 'mode' | 'model', wanted: string): SettingCall | undefined {
  const option = objects(session['configOptions']).find(({ id, category }) => (category ?? id) === setting);
  const values = objects(option?.['options'])
    .flatMap((entry) => ('options' in entry ? objects(entry['options']) : [entry]))
    .map(({ value }) => value);
  const state = session[`${setting}s`];
  const list = isJsonObject(state) ? state : {};
  const [key, available, current] =
    setting === 'mode'
      ? ['modeId', 'availableModes', 'currentModeId']
      : ['modelId', 'availableModels', 'currentModelId'];
  const ids = objects(list[available]).map((entry) => entry[key] ?? entry['id']);
  if (option?.['currentValue'] === wanted || (option === undefined && list[current] === wanted)) return undefined;
  if (values.includes(wanted)) {
    return { type: 'call', method: 'session/set_config_option', params: { configId: option?.['id'], value: wanted } };
  }
  if (ids.includes(wanted)) return { type: 'call', method: `session/set_${setting}`, params: { [key]: wanted } };
  return { type: 'refused', why: `has no ${setting} "${wanted}"; it has: ${namesOf([...values, ...ids])}` };
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

function objects(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function namesOf(values: readonly unknown[]): string {
  return [...new Set(values.map(String))].slice(0, 40).join(', ') || 'none';
}
