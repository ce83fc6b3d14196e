import type { Host, Machine } from '../../engine/machine.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { channelItems } from '../preflight/channel-items.ts';
import { hasConsent } from '../preflight/consent.ts';
import type { RepositoryChannels } from '../preflight/read-channels.ts';

/** Says to a person how to use a channel that no one has agreed to. */
export const NOT_AGREED = 'no person has agreed to it as it is: `squad serve check`';

/** Names of the channels that no person has agreed to as they are now. */
export async function unagreedChannels(
  { host, repository }: Pick<OpenedWorkspace<Machine>, 'repository'> & { readonly host: Host },
  { channels, source }: RepositoryChannels,
): Promise<string[]> {
  const found = Object.entries(channels).map(async ([name, channel]) => {
    return (await hasConsent(channelItems(name, channel, source), { host }, repository)) ? [] : [name];
  });
  return (await Promise.all(found)).flat();
}
