import { useText } from '../../model/amount.ts';
import { capNotes, type CapUse } from '../../read-model/cap-use.ts';
import type { RunStatus } from '../../read-model/status.ts';
import { localTime } from '../../text/time.ts';
import { plainLine } from '../../text/plain-text.ts';

/** A task that has used less than this share of its limits gets no line. */
const NEAR = 0.5;

/** The use of each limit of the run, its agents and the tasks that come near theirs. */
export function limitLines({ caps }: Pick<RunStatus, 'caps'>): string[] {
  const owners = [...new Set(caps.map(ownerOf))];
  return owners.flatMap((owner) => {
    const own = caps.filter((cap) => ownerOf(cap) === owner);
    const far = own.every(({ level, used, most }) => level === 'task' && used < most * NEAR);
    return far
      ? []
      : [
          `${owner}: ${own.map(capText).join(' · ')}`,
          ...own.flatMap((cap) => capNotes(cap).map((note) => `  ${cap.limit}: ${plainLine(note, 200)}`)),
        ];
  });
}

export function accountLine({ account, until, probing }: RunStatus['accounts'][number], now: number): string {
  const name = plainLine(account, 60);
  return probing ? `${name}: one turn tests whether the limit is over` : `${name} until ${localTime(until, now)}`;
}

function ownerOf({ level, name }: CapUse): string {
  return name === null ? level : `${level} ${plainLine(name, 60)}`;
}

function capText({ limit, used, most, reached }: CapUse): string {
  return `${limit} ${useText({ cap: limit, used, most })}${reached ? ' (reached)' : ''}`;
}
