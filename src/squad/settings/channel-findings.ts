import type { Finding, Path } from '../../text/explain-issue.ts';
import { asObject, isJsonObject, type Json } from '../../text/json.ts';
import { quote } from '../../text/problem.ts';
import { finding } from './agent-findings.ts';

type Channel = readonly [name: string, settings: Readonly<Record<string, Json>>];

/** A person would take it for the channel of `squad ask`. */
const TERMINAL = 'terminal';

/** Problems of channels that no schema can say: names that are taken, ids that are none, and what two channels share. */
export function channelFindings(channels: Json, whose: 'repository' | 'own'): Finding[] {
  if (whose === 'own')
    return [finding(['channels'], 'this file is for all repositories; channels belong in the squad.yaml of one')];
  const all = Object.entries(asObject(channels)).filter((entry): entry is [string, Channel[1]] =>
    isJsonObject(entry[1]),
  );
  return [...all.flatMap(ownFindings), ...sharedFindings(all)];
}

function ownFindings([name, channel]: Channel): Finding[] {
  const at = ['channels', name];
  return [
    ...(name === TERMINAL
      ? [{ ...finding(at, '“terminal” would look like the channel of `squad ask`; choose another name'), atKey: true }]
      : []),
    ...(channel['poll'] !== undefined && channel['listen'] !== undefined
      ? [finding([...at, 'listen'], 'messages are fetched with `poll`, or posted to `listen`; take one of them out')]
      : []),
    ...idsOf(channel)
      .filter(({ id }) => isPlaceholder(id))
      .map(({ path, id, atKey }) => ({
        ...finding([...at, ...path], `${quote(id)} stands for an id; write the one that the channel shows`),
        atKey,
      })),
  ];
}

/** All ids that a person copies out of the channel's own program. */
function idsOf({ senders, places, report }: Channel[1]): { path: Path; id: string; atKey: boolean }[] {
  const values = [
    ...(Array.isArray(places) ? places : []).map((id, index) => ({ path: ['places', index], id })),
    { path: ['report'], id: report },
  ];
  return [
    ...Object.keys(asObject(senders)).map((id) => ({ path: ['senders', id], id, atKey: true })),
    ...values.flatMap(({ path, id }) => (typeof id === 'string' ? [{ path, id, atKey: false }] : [])),
  ];
}

const WORDS =
  /^(?:<.*>|\$.*|\{.*\}|x{3,}|\.{3}|…|(?:your|my|the)[-_ ].*|change[-_ ]?me|todo|tbd|example|placeholder)$/i;

/** Whether a text is one that people write in examples. An id of many digits is random in most of them. */
export function isPlaceholder(id: string): boolean {
  if (!/^\d{10,}$/.test(id)) return WORDS.test(id.trim());
  const steps = Array.from(id, Number).map((digit, index, all) => (digit - (all[index - 1] ?? digit) + 10) % 10);
  return new Set(id).size < 4 || new Set(steps.slice(1)).size === 1;
}

/** A message would be taken twice by them: one bot, or one inbox, under two names. */
function sharedFindings(all: readonly Channel[]): Finding[] {
  const first = new Map<string, string>();
  return all.flatMap(([name, channel]) =>
    sharesOf(channel).flatMap(({ key, path, what }) => {
      const other = first.get(key);
      if (other === undefined) first.set(key, name);
      if (other === undefined || other === name) return [];
      return [finding(['channels', name, ...path], `${what} is that of channels.${other} already; each needs its own`)];
    }),
  );
}

function sharesOf({ token, secret, poll, listen, places }: Channel[1]): { key: string; path: Path; what: string }[] {
  const text = (value: unknown, path: Path, what = quote(String(value))) =>
    typeof value === 'string' || typeof value === 'number' ? [{ key: `${what} ${value}`, path, what }] : [];
  return [
    ...text(token, ['token'], 'the variable of its token'),
    ...text(secret, ['secret'], 'the variable of its secret'),
    ...text(poll, ['poll']),
    ...text(asObject(listen)['port'], ['listen', 'port'], `the port ${String(asObject(listen)['port'])}`),
    ...(Array.isArray(places) ? places : []).flatMap((place, index) => text(place, ['places', index])),
  ];
}
