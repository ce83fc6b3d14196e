import type { ForgeIssues } from '../../ports/forge-issues.ts';
import type { ForgePulls } from '../../ports/forge-pulls.ts';
import type { Refused } from '../../ports/forge.ts';
import { isGitlab } from './choose-host.ts';
import { githubIssues } from './github-issues.ts';
import { githubPulls } from './github-pulls.ts';
import { gitlabIssues } from './gitlab-issues.ts';
import { gitlabPulls } from './gitlab-pulls.ts';
import {
  forgePlace,
  refused,
  remoteUrl,
  said,
  type ForgePlace,
  type ForgePorts,
  type ForgeRepository,
} from './remotes.ts';

/** The issues of the repository that a remote names. */
export async function forgeIssues(
  ports: ForgePorts,
  of: ForgeRepository,
  remote: string,
): Promise<ForgeIssues | Refused> {
  const found = await placeOf(ports, of, remote);
  if ('type' in found) return found;
  return (await isGitlab(ports, found.place)) ? gitlabIssues(ports, found.place) : githubIssues(ports, found.url);
}

/** The pull requests of the repository that a remote names. */
export async function forgePulls(
  ports: ForgePorts,
  of: ForgeRepository,
  remote: string,
): Promise<ForgePulls | Refused> {
  const found = await placeOf(ports, of, remote);
  if ('type' in found) return found;
  return (await isGitlab(ports, found.place)) ? gitlabPulls(ports, found.place) : githubPulls(ports, found.url);
}

async function placeOf(
  ports: ForgePorts,
  of: ForgeRepository,
  remote: string,
): Promise<{ readonly url: string; readonly place: ForgePlace } | Refused> {
  const url = await remoteUrl(ports, of, remote);
  if (typeof url !== 'string') return url;
  const place = forgePlace(url);
  return place === undefined
    ? refused(`the remote ${remote} is not a repository on GitHub or GitLab: ${said(url)}`)
    : { url, place };
}
