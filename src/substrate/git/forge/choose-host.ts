import type { Refused } from '../../ports/forge.ts';
import type { ForgeHost } from './forge-host.ts';
import { findGithub } from './github.ts';
import { findGitlab } from './gitlab.ts';
import { forgePlace, refused, said, type ForgePorts } from './remotes.ts';

const GITLAB = /(?:^|[.-])gitlab[.-]/i;

/** By the host's name; one that says nothing is GitHub Enterprise, unless only `glab` is installed. */
export async function forgeHost(
  ports: ForgePorts,
  { url, remote }: { readonly url: string; readonly remote: string },
): Promise<ForgeHost | Refused> {
  const place = forgePlace(url);
  if (place === undefined) return refused(`the remote ${remote} is not a repository on GitHub or GitLab: ${said(url)}`);
  const isGitlab =
    GITLAB.test(place.host) ||
    (place.host !== 'github.com' &&
      (await ports.forgeCli('gh')) === undefined &&
      (await ports.forgeCli('glab')) !== undefined);
  return isGitlab ? findGitlab(ports, place) : findGithub(ports, url);
}
