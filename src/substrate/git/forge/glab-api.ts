import type { Refused } from '../../ports/forge.ts';
import { apiAnswer, readResponse, unreachable } from './api-answer.ts';
import type { ApiCall, CallApi } from './gh-api.ts';
import { loginEnvironment, refused, type ForgePlace, type ForgePorts } from './remotes.ts';

const TIMEOUT_MS = 60_000;

/** GitLab's API of one project, through `glab api` with the user's login. It has no filter: `jq` of a call is not used. */
export async function gitlabApi(ports: ForgePorts, { host, path: project }: ForgePlace): Promise<CallApi | Refused> {
  const login = `glab auth login --hostname ${host}`;
  const next = `Install the GitLab CLI and log in: https://gitlab.com/gitlab-org/cli, \`${login}\`.`;
  const glab = (await ports.forgeCli('glab')) ?? refused('the GitLab CLI, `glab`, is not on PATH', next);
  if (typeof glab !== 'string') return glab;
  const own = loginEnvironment(ports.environment, ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'LANG']);
  const quiet = { NO_PROMPT: '1', GLAB_NO_PROMPT: '1', GLAB_CHECK_UPDATE: 'false', GLAB_SEND_TELEMETRY: 'false' };
  const options = { kind: 'glab' as const, cwd: '/', env: { ...own, ...quiet, NO_COLOR: '1' }, timeoutMs: TIMEOUT_MS };
  return async (call) => {
    const args = ['api', '--include', `--hostname=${host}`, ...argumentsOf(call, project)];
    const answer = await ports.processes.run(glab, args, options);
    const response = readResponse(answer.stdout);
    if (response !== undefined && answer.problem === undefined) return apiAnswer(response, login);
    if (/auth login|\b401\b/.test(answer.stderr))
      return refused(`glab is not logged in to ${host}`, `Run \`${login}\`.`);
    return unreachable(answer.problem ?? answer.stderr);
  };
}

/** With `=`, so that no text is read as an option. */
function argumentsOf({ method = 'GET', path, fields = {}, etag }: ApiCall, project: string): readonly string[] {
  const address = path.startsWith('/') ? path.slice(1) : `projects/${encodeURIComponent(project)}/${path}`;
  const entries = Object.entries(fields).map(([name, value]) => [name, String(value)] as const);
  const header = etag === undefined ? [] : [`--header=If-None-Match: ${etag}`];
  if (method === 'GET') {
    const query = new URLSearchParams(Object.fromEntries(entries)).toString();
    return [`--method=${method}`, ...header, query === '' ? address : `${address}?${query}`];
  }
  // glab makes a list of a text like `[wip]`; GitLab takes the space away.
  const given = entries.map(([name, value]) => `--raw-field=${name}=${/^\[.*\]$/s.test(value) ? `${value} ` : value}`);
  return [`--method=${method}`, ...given, ...header, address];
}
