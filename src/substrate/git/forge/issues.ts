import type { ForgeIssues } from '../../ports/forge-issues.ts';
import type { Refused } from '../../ports/forge.ts';
import { isGitlab } from './choose-host.ts';
import { githubIssues } from './github-issues.ts';
import { gitlabIssues } from './gitlab-issues.ts';
import { forgePlace, refused, remoteUrl, said, type ForgePorts, type ForgeRepository } from './remotes.ts';

/** The issues of the repository that a remote names. */
export async function forgeIssues(
  ports: ForgePorts,
  of: ForgeRepository,
  remote: string,
): Promise<ForgeIssues | Refused> {
  const url = await remoteUrl(ports, of, remote);
  if (typeof url !== 'string') return url;
  const place = forgePlace(url);
  if (place === undefined) return refused(`the remote ${remote} is not a repository on GitHub or GitLab: ${said(url)}`);
  return (await isGitlab(ports, place)) ? gitlabIssues(ports, place) : githubIssues(ports, url);
}
