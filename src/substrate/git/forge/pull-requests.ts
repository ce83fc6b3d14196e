import { cutBytes } from '../../../text/cut-bytes.ts';
import { forgeHost } from './choose-host.ts';
import type { ForgeHost } from './forge-host.ts';
import { nameProblem, remoteUrl, type ForgePorts, type ForgeRepository } from './remotes.ts';
import type { Forge, PullRequestAnswer, Refused } from '../../ports/forge.ts';

/** GitHub's own limits are 256 characters and 65,536, and GitLab's 255; the system's limit on one argument is 128 KiB. */
const TITLE_LENGTH = 250;
const BODY_BYTES = 60_000;

/** Pull requests within the remote's repository. Those from a fork into another repository are not supported. */
export async function findPullRequest(
  ports: ForgePorts,
  repository: ForgeRepository,
  of: Parameters<Forge['findPullRequest']>[0],
): Promise<PullRequestAnswer> {
  const host = await hostOf(ports, repository, of);
  return 'type' in host ? host : host.newest(of.branch);
}

export async function openPullRequest(
  ports: ForgePorts,
  repository: ForgeRepository,
  of: Parameters<Forge['openPullRequest']>[0],
): Promise<PullRequestAnswer> {
  const problem = nameProblem('branch', of.base);
  if (problem !== undefined) return problem;
  const host = await hostOf(ports, repository, of);
  if ('type' in host) return host;
  const before = await host.newest(of.branch);
  if (before.type === 'refused' || (before.type === 'found' && before.pullRequest.open)) return before;
  const made = await host.create({ ...of, title: titleOf(of), body: cut(of.body, BODY_BYTES) });
  // Its answer says no commit, and it fails if the pull request exists by now. So this looks again.
  const after = await host.newest(of.branch);
  if (after.type !== 'none' && (after.type === 'refused' || after.pullRequest.open)) return after;
  return typeof made === 'string' ? host.notUnderstood(made) : made;
}

export async function writePullRequest(
  ports: ForgePorts,
  repository: ForgeRepository,
  of: Parameters<Forge['writePullRequest']>[0],
): Promise<PullRequestAnswer> {
  const host = await hostOf(ports, repository, of);
  if ('type' in host) return host;
  const found = await host.newest(of.branch);
  if (found.type !== 'found') return found;
  const written = await host.write(found.pullRequest.url, cut(of.body, BODY_BYTES));
  return typeof written === 'string' ? found : written;
}

async function hostOf(
  ports: ForgePorts,
  repository: ForgeRepository,
  { remote, branch }: { readonly remote: string; readonly branch: string },
): Promise<ForgeHost | Refused> {
  const problem = nameProblem('branch', branch);
  if (problem !== undefined) return problem;
  const url = await remoteUrl(ports, repository, remote);
  return typeof url === 'string' ? forgeHost(ports, { url, remote }) : url;
}

function titleOf({ title, branch }: { readonly title: string; readonly branch: string }): string {
  const line = title.replaceAll(/[\s\0]+/g, ' ').trim();
  return line.slice(0, TITLE_LENGTH) || branch;
}

/** Cuts between characters and drops NUL, which arguments cannot contain. */
function cut(text: string, bytes: number): string {
  const plain = text.replaceAll('\0', '');
  const { text: kept, isCut } = cutBytes(plain, bytes);
  return isCut ? `${kept}\n\n…` : plain;
}
