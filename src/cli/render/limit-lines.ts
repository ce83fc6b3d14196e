import { useText } from '../../model/amount.ts';
import type { CapUse } from '../../read-model/cap-use.ts';
import type { RunStatus } from '../../read-model/status.ts';
import { localTime } from '../../text/local-time.ts';
import { plainLine } from '../../text/plain-text.ts';

/** Below this share of its limit a task is not worth a line. */
const NEAR = 0.5;

/** What is used of each limit: the run's and the agents', and of the tasks those that come near. */
export function limitLines({ caps }: Pick<RunStatus, 'caps'>): string[] {
  const owners = [...new Set(caps.map(ownerOf))];
  return owners.flatMap((owner) => {
    const own = caps.filter((cap) => ownerOf(cap) === owner);
    const far = own.every(({ level, used, most }) => level === 'task' && used < most * NEAR);
    return far ? [] : [`${owner}: ${own.map(capText).join(' · ')}`, ...own.flatMap(doubtLines)];
  });
}

export function accountLine({ account, until, probing }: RunStatus['accounts'][number], now: number): string {
  const name = plainLine(account, 60);
  return probing ? `${name}: one turn tries whether it is over` : `${name} until ${localTime(until, now)}`;
}

function ownerOf({ level, name }: CapUse): string {
  return name === null ? level : `${level} ${plainLine(name, 60)}`;
}

function capText({ limit, used, most, reached }: CapUse): string {
  return `${limit} ${useText({ cap: limit, used, most })}${reached ? ' (reached)' : ''}`;
}

function doubtLines({ limit, unknownTurns, blind }: CapUse): string[] {
  const what = limit === 'usd' ? 'cost' : 'tokens';
  const guessed = unknownTurns === 1 ? '1 turn unknown' : `${unknownTurns} turns unknown`;
  const as = blind.length === 0 ? ', counted as the largest known one of its runtime' : '';
  return [
    ...(unknownTurns === 0 ? [] : [`  ${limit}: ${guessed}${as}`]),
    ...(blind.length === 0 ? [] : [`  ${limit}: not enforceable for ${blind.join(', ')}: no ${what} told`]),
  ];
}
