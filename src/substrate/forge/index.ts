import type { Forge } from '../ports/forge.ts';
import { createPullRequests } from './pull-requests.ts';
import { createPush } from './push.ts';
import { remoteUrl, type ForgePorts, type ForgeRepository } from './remotes.ts';

/**
 * Pushes with git, and speaks to GitHub through `gh`, each logged in as the user is. git reads the repository's own config
 * for that, so whoever calls it checks the baseline first: what an agent could plant there runs with the user's rights.
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
