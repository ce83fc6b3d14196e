import { NETWORK_VARIABLES } from '../../../model/network-variables.ts';
import type { Refused } from '../../ports/forge.ts';
import { defined, pickVariables } from '../../../text/defined.ts';
import { createGit, type GitPorts } from '../git-call.ts';
import type { Repository } from '../repository.ts';

type ForgeCli = 'gh' | 'glab';

export interface ForgePorts extends GitPorts {
  /** Absolute path of the CLI of GitHub or GitLab. undefined: it is not installed. */
  readonly forgeCli: (name: ForgeCli) => Promise<string | undefined>;
  readonly pushTimeoutMs?: number;
}

export type ForgeRepository = Pick<Repository, 'root' | 'commonDirectory'>;

export function refused(why: string, next?: string): Refused {
  return defined({ type: 'refused', why, next });
}

/** Refuses names that git or `gh` could read as an option, a range, a path or a URL. */
export function nameProblem(what: string, name: string): Refused | undefined {
  if (/^(?!.*(?:\.\.|\/\/|\/$|\.lock$|\.$))[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$/.test(name)) return undefined;
  return refused(`${JSON.stringify(name.slice(0, 80))} cannot name a ${what}`);
}

/** The URL of a configured remote. Checked first, because git reads the name of a missing remote as a path. */
export async function remoteUrl(
  ports: GitPorts,
  { root, commonDirectory }: ForgeRepository,
  remote: string,
): Promise<string | Refused> {
  const problem = nameProblem('remote', remote);
  if (problem !== undefined) return problem;
  const call = { cwd: root, gitDirectory: commonDirectory };
  const answer = await createGit(ports).run(['remote', 'get-url', remote], call);
  if (answer.code === 0) return answer.stdout.trim();
  return refused(
    `the repository has no remote named ${remote}`,
    `Add it with \`git remote add ${remote} <url>\`, or name another: \`publish.remote\` in squad.yaml, or \`squad pr --remote\`.`,
  );
}

/** A message of git or `gh` for people, without passwords in URLs. */
export function said(text: string): string {
  return text
    .replaceAll(/\/\/[^/@\s]+@/g, '//')
    .trim()
    .replaceAll(/\s*\n\s*/g, '; ')
    .slice(0, 1000);
}

/** Variables with a login of `gh` or `glab`. */
export const FORGE_TOKENS = [
  ...['GH_TOKEN', 'GITHUB_TOKEN', 'GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'],
  ...['GITLAB_TOKEN', 'GITLAB_ACCESS_TOKEN'],
];

/** Variables that programs need to log in: proxies, certificates, keyrings, tokens. */
const LOGIN = [
  ...['USER', 'LOGNAME', 'XDG_RUNTIME_DIR', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'DBUS_SESSION_BUS_ADDRESS', 'GNUPGHOME'],
  ...NETWORK_VARIABLES,
  ...FORGE_TOKENS,
  ...['GH_CONFIG_DIR', 'GLAB_CONFIG_DIR'],
];

/** The host's variables by which programs log in, and `more`. */
export function loginEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  more: readonly string[],
): Record<string, string> {
  return pickVariables(host, [...LOGIN, ...more]);
}

/** A repository on a forge, from a remote's URL: https, ssh, or `git@host:owner/name`. undefined: another form. */
export interface ForgePlace {
  readonly host: string;
  /** `owner/name`; on GitLab groups may be nested. */
  readonly path: string;
}

const PATH = /^\/?([A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*){0,20}\/[A-Za-z0-9_.-]+?)(?:\.git)?\/?$/;

export function forgePlace(url: string): ForgePlace | undefined {
  const short = /^(?:[^@/\s:]+@)?([^@/\s:]+):(?!\/)(.+)$/.exec(url);
  const { host, path } = short === null ? partsOf(url) : { host: short[1] ?? '', path: short[2] ?? '' };
  const named = PATH.exec(path)?.[1];
  if (named === undefined || !/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(host)) return undefined;
  // Hosts for ssh through port 443.
  return { host: host.replace(/^(?:ssh\.(?=github\.com$)|altssh\.(?=gitlab\.com$))/, ''), path: named };
}

/** `host/owner/name` for `gh`. undefined: GitHub has no such place. */
export function githubRepository(url: string): string | undefined {
  const place = forgePlace(url);
  if (place === undefined || place.path.split('/').length !== 2) return undefined;
  return `${place.host}/${place.path}`;
}

function partsOf(url: string): { host: string; path: string } {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !['https:', 'http:', 'ssh:', 'git:'].includes(parsed.protocol))
    return { host: '', path: '' };
  return { host: parsed.hostname, path: parsed.pathname };
}

/** `gh`, and the repository at `url` as `host/owner/name`. */
export async function ghPlace(
  ports: ForgePorts,
  url: string,
): Promise<{ readonly type: 'found'; readonly gh: string; readonly repository: string } | Refused> {
  const repository = githubRepository(url);
  if (repository === undefined) return refused(`the remote is not a repository on GitHub: ${said(url)}`);
  const next = 'Install the GitHub CLI and log in: https://cli.github.com, `gh auth login`.';
  const gh = (await ports.forgeCli('gh')) ?? refused('the GitHub CLI, `gh`, is not on PATH', next);
  return typeof gh === 'string' ? { type: 'found', gh, repository } : gh;
}
