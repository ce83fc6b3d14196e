import type { Forge } from '../ports/forge.ts';
import { createPullRequests } from './pull-requests.ts';
import { createPush } from './push.ts';
import { remoteUrl, type ForgePorts, type ForgeRepository } from './remotes.ts';

/**
 * Pushes with git and uses GitHub through `gh`, with the user's logins. git reads the repository's config for that, so callers
 * must check the baseline first: a program that an agent planted there would run with the user's rights.
 */
export function createForge(ports: ForgePorts, repository: ForgeRepository): Forge {
  return {
    findRemote: async (remote) => {
      const url = await remoteUrl(ports, repository, remote);
      return typeof url === 'string' ? { type: 'found' } : url;
    },
    push: createPush(ports, repository),
    ...createPullRequests(ports, repository),
  };
}
