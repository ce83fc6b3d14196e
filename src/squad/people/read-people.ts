import { TERMINAL } from '../../model/people/message.ts';
import { readPeople, type People } from '../../model/people/people.ts';
import { RIGHTS, type Right } from '../../model/people/verbs.ts';
import type { RunState } from '../../rules/sprint/decide-team.ts';
import { newRunsCappedUntil } from '../../model/shared-spending.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';
import { readChannels } from '../preflight/read-channels.ts';
import { runStateIn } from '../team/read-team.ts';
import { unagreedChannels } from './agreed-channels.ts';

/** Rights of a sender of a channel; `held`: no person has agreed to the channel as it is now. undefined: it is no sender any more. */
export type RightsOf = (channel: string, sender: string) => readonly Right[] | 'held' | undefined;

export interface SeenPeople {
  readonly people: People;
  readonly runState: (run: string) => RunState;
  readonly cappedUntil?: number | undefined;
}

/** The messages that something has to be done about. Those of a held channel wait. Read only. */
export function lookAtPeople(workspace: OpenedWorkspace, rightsOf: RightsOf): SeenPeople {
  const seen = lookIn(workspace, (ledger, lockedBy) => seenIn(ledger, rightsOf, lockedBy?.since));
  return seen ?? { people: readPeople(() => []), runState: () => 'absent' };
}

function seenIn(ledger: Ledger, rightsOf: RightsOf, engineSince = Infinity): SeenPeople {
  const all = readPeople((kind) => ledger.records(kind));
  const message = new Map([...all.message].filter(([, one]) => rightsOf(one.channel, one.sender) !== 'held'));
  const runs = [...all.ask.values()].filter(({ messages }) => messages.some((id) => message.has(id)));
  // The ledger is closed by the time that someone asks.
  const states = new Map(runs.map(({ run }) => [run, runStateIn(ledger, run)]));
  return {
    people: { ...all, message },
    cappedUntil: newRunsCappedUntil(ledger.sharedUse(engineSince)),
    runState: (run) => states.get(run) ?? 'over',
  };
}

/** The operator may do all; the others what the settings say now, if a person has agreed to them. */
export async function readRights(workspace: OpenedWorkspace): Promise<RightsOf> {
  const read = await readChannels(workspace.repository.root);
  const held = new Set(await unagreedChannels(workspace, read));
  return (channel, sender) => {
    if (channel === TERMINAL) return RIGHTS;
    if (held.has(channel)) return 'held';
    const senders = Object.hasOwn(read.channels, channel) ? read.channels[channel]?.senders : undefined;
    return senders !== undefined && Object.hasOwn(senders, sender) ? senders[sender] : undefined;
  };
}
