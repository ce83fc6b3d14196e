import type { Finding, Path } from '../../text/explain-issue.ts';
import { asObject, isJsonObject, type Json } from '../../text/json.ts';
import { finding } from './agent-findings.ts';

/** Keys below which variables are named that agents, their servers and commands get. */
const GIVEN: readonly string[] = ['env', 'headers'];

/** Places in which the variable of a channel's token or secret is let through: with it, an agent would speak to people as squad. */
export function channelSecretFindings(raw: Readonly<Record<string, Json>>): Finding[] {
  const channels = Object.entries(asObject(raw['channels'] ?? null));
  const secrets = new Map(
    channels.flatMap(([name, channel]) => {
      const { token, secret } = asObject(channel);
      return [token, secret].flatMap((one) => (typeof one === 'string' ? [[one, name] as const] : []));
    }),
  );
  if (secrets.size === 0) return [];
  const others = Object.entries(raw).filter(([key]) => key !== 'channels');
  return others
    .flatMap(([key, value]) => given(value, [key]))
    .flatMap(({ path, name }) => {
      const channel = secrets.get(name);
      return channel === undefined
        ? []
        : [finding(path, `${name} is what channels.${channel} proves itself with; no agent and no command gets it`)];
    });
}

function given(value: Json, path: Path): { path: Path; name: string }[] {
  const key = path.at(-1);
  const isHere = typeof key === 'string' && GIVEN.includes(key);
  const entries = Array.isArray(value) ? [...value.entries()] : isJsonObject(value) ? Object.entries(value) : [];
  return entries.flatMap(([part, inner]) =>
    isHere && typeof inner === 'string' ? [{ path: [...path, part], name: inner }] : given(inner, [...path, part]),
  );
}
