import type { Refused } from '../../ports/forge.ts';
import { loginEnvironment, refused, said, type ForgePorts } from './remotes.ts';

const TIMEOUT_MS = 60_000;

/** Absolute path of the GitHub CLI. */
export async function findGh(ports: ForgePorts): Promise<string | Refused> {
  const next = 'Install the GitHub CLI and log in: https://cli.github.com, `gh auth login`.';
  return (await ports.gh()) ?? refused('the GitHub CLI, `gh`, is not on PATH', next);
}

/** Returns stdout. Runs in `/`, because in a repository `gh` would run git with its configuration. `repository`: `host/owner/name`. */
export async function runGh(
  ports: ForgePorts,
  { gh, repository }: { readonly gh: string; readonly repository: string },
  args: readonly string[],
): Promise<string | Refused> {
  const { environment } = ports;
  const more = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'LANG'];
  const env = { ...loginEnvironment(environment, more), GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1' };
  const options = { kind: 'gh' as const, cwd: '/', env: { ...env, NO_COLOR: '1' }, timeoutMs: TIMEOUT_MS };
  const answer = await ports.processes.run(gh, [...args, `--repo=${repository}`], options);
  if (answer.code === 0) return answer.stdout;
  const [host] = repository.split('/');
  if (answer.code === 4) return refused(`gh is not logged in to ${host}`, `Run \`gh auth login --hostname ${host}\`.`);
  return refused(`gh ${args.slice(0, 2).join(' ')} failed: ${answer.problem ?? said(answer.stderr)}`);
}

export function notUnderstood(text: string): Refused {
  return refused(`squad does not understand the answer of gh: ${said(text).slice(0, 200)}`, 'Update `gh`.');
}
