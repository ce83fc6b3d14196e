import type { Refused } from '../../ports/forge.ts';
import type { ForgeHost } from './forge-host.ts';
import { findGithub } from './github.ts';
import { findGitlab } from './gitlab.ts';
import { forgePlace, refused, said, type ForgePlace, type ForgePorts } from './remotes.ts';

const GITLAB = /(?:^|[.-])gitlab[.-]/i;

/** By the host's name; one that says nothing is GitHub Enterprise, unless only `glab` is installed. */
export async function forgeHost(
  ports: ForgePorts,
  { url, remote }: { readonly url: string; readonly remote: string },
): Promise<ForgeHost | Refused> {
  const place = forgePlace(url);
  if (place === undefined) return refused(`the remote ${remote} is not a repository on GitHub or GitLab: ${said(url)}`);
  return (await isGitlab(ports, place)) ? findGitlab(ports, place) : findGithub(ports, url);
}

export async function isGitlab(ports: ForgePorts, { host }: ForgePlace): Promise<boolean> {
  if (GITLAB.test(host)) return true;
  if (host === 'github.com' || (await ports.forgeCli('gh')) !== undefined) return false;
  return (await ports.forgeCli('glab')) !== undefined;
}
