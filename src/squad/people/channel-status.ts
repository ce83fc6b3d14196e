import type { Machine } from '../../engine/machine.ts';
import { errorText } from '../../model/errors.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';
import { readChannels } from '../preflight/read-channels.ts';
import { NOT_AGREED, unagreedChannels } from './agreed-channels.ts';
import { readChannelStates, type ChannelState } from './channel-states.ts';
import { followPeople } from './follow-people.ts';

/** One channel, as its service last said. */
export interface ChannelStatus {
  readonly name: string;
  readonly type: string;
  readonly agreed: boolean;
  /** null: no service runs, or it has not looked at it yet. */
  readonly state: ChannelState['state'] | null;
  /** Epoch ms. */
  readonly since: number | null;
  readonly why?: string | undefined;
  /** Why it cannot be used as it is in squad.yaml. */
  readonly problem?: string | undefined;
  /** Replies that are not posted yet. */
  readonly due: number;
}

/** `pid`: of the service that runs; undefined: none does. */
export async function channelStatus(
  workspace: OpenedWorkspace<Machine>,
  pid: number | undefined,
): Promise<readonly ChannelStatus[]> {
  const states = pid === undefined ? {} : (readChannelStates(workspace.directory, pid) ?? {});
  const due = lookIn(workspace, (ledger) => [...followPeople()(ledger).due.values()]) ?? [];
  const read = await readChannels(workspace.repository.root).catch((error: unknown) => ({ problem: errorText(error) }));
  if ('problem' in read) {
    const { problem } = read;
    return [{ name: 'channels', type: 'unknown', agreed: false, state: null, since: null, problem, due: due.length }];
  }
  const unagreed = await unagreedChannels(workspace, read);
  return Object.entries(read.channels).map(([name, { type }]) => {
    const { state, since, why } = states[name] ?? { state: null, since: null };
    const agreed = !unagreed.includes(name);
    const count = due.filter(({ reply }) => reply.channel === name).length;
    const problem = agreed ? undefined : NOT_AGREED;
    return { name, type, agreed, state, since, why, problem, due: count };
  });
}
