import type { Forge, IssueAnswer, IssueName } from '../../ports/forge.ts';
import { forgeHost } from './choose-host.ts';
import { fetchRemote, remotesOf } from './fetch.ts';
import { findPullRequest, openPullRequest, writePullRequest } from './pull-requests.ts';
import { push } from './push.ts';
import { remoteUrl, type ForgePorts, type ForgeRepository } from './remotes.ts';

/**
 * Pushes with git, and uses GitHub through `gh` and GitLab through `glab`, with the user's logins. git reads the repository's config for
 * that, so callers must check the baseline first: a program that an agent planted there would run with the user's rights.
 */
export function createForge(ports: ForgePorts, repository: ForgeRepository): Forge {
  return {
    findRemote: async (remote) => {
      const url = await remoteUrl(ports, repository, remote);
      return typeof url === 'string' ? { type: 'found' } : url;
    },
    remotes: async () => remotesOf(ports, repository),
    fetch: async (remote) => fetchRemote(ports, repository, remote),
    push: async (of) => push(ports, repository, of),
    findPullRequest: async (of) => findPullRequest(ports, repository, of),
    openPullRequest: async (of) => openPullRequest(ports, repository, of),
    writePullRequest: async (of) => writePullRequest(ports, repository, of),
    readIssue: (of) => readIssue(ports, repository, of),
  };
}

/** Reads an issue, whose text is others' words. */
async function readIssue(
  ports: ForgePorts,
  of: ForgeRepository,
  { number, repository: given, remote }: IssueName,
): Promise<IssueAnswer> {
  const url = given === undefined ? await remoteUrl(ports, of, remote) : `https://${given}`;
  if (typeof url !== 'string') return { ...url, next: `${url.next ?? ''} Or give the issue’s whole URL.`.trim() };
  const host = await forgeHost(ports, { url, remote });
  if ('type' in host) return host.next === undefined ? { ...host, next: 'Give the issue’s whole URL.' } : host;
  return host.issue(number);
}
