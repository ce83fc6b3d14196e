import type { Refused } from '../../ports/forge.ts';
import { apiAnswer, readResponse, unreachable, type ApiAnswer } from './api-answer.ts';
import { ghPlace, loginEnvironment, refused, type ForgePorts } from './remotes.ts';

const TIMEOUT_MS = 60_000;

export interface ApiCall {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below `repos/<owner>/<name>/`, or from the root of the API if it begins with `/`. */
  readonly path: string;
  /** In the address of a GET, in the body of others. A list is sent as one. */
  readonly fields?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  /** That of the answer that is known. An answer that is still so costs nothing of GitHub's limit. */
  readonly etag?: string | undefined;
  /** A filter that `gh` applies to the answer: what the API says more never reaches squad, which reads 1 MiB at most. */
  readonly jq?: string;
  /** Bytes of the answer, as the header `Range` has them. */
  readonly range?: string;
}

/** One call of GitHub's API. Never throws for what GitHub or the network answer. */
export type CallApi = (call: ApiCall) => Promise<ApiAnswer>;

/** GitHub's API of the repository at `url`, through `gh api` with the user's login. */
export async function githubApi(ports: ForgePorts, url: string): Promise<CallApi | Refused> {
  const found = await ghPlace(ports, url);
  if (found.type !== 'found') return found;
  const [host = '', ...place] = found.repository.split('/');
  return async (call) => callGh(ports, { gh: found.gh, host, place: place.join('/') }, call);
}

interface Place {
  readonly gh: string;
  readonly host: string;
  readonly place: string;
}

async function callGh(ports: ForgePorts, { gh, host, place }: Place, call: ApiCall): Promise<ApiAnswer> {
  // In a repository `gh` would run git with its configuration.
  const options = { kind: 'gh' as const, cwd: '/', env: ghEnvironment(ports), timeoutMs: TIMEOUT_MS };
  const args = ['api', '--include', `--hostname=${host}`, ...argumentsOf(call, place)];
  const answer = await ports.processes.run(gh, args, options);
  const login = `gh auth login --hostname ${host}`;
  const response = readResponse(answer.stdout);
  // Output that was cut has a problem, and no end.
  if (response !== undefined && answer.problem === undefined) return apiAnswer(response, login);
  if (answer.code === 4 || /gh auth login/.test(answer.stderr)) {
    return refused(`gh is not logged in to ${host}`, `Run \`${login}\`.`);
  }
  return unreachable(answer.problem ?? answer.stderr);
}

/** With `=`, so that no text is read as an option; `--raw-field` reads no file for a text that begins with `@`. */
function argumentsOf(
  { method = 'GET', path, fields = {}, etag, jq, range }: ApiCall,
  place: string,
): readonly string[] {
  const address = path.startsWith('/') ? path.slice(1) : `repos/${place}/${path}`.replace(/\/$/, '');
  const given = Object.entries(fields).flatMap(([name, value]) => {
    if (typeof value === 'string') return [`--raw-field=${name}=${value.replaceAll('\0', '')}`];
    if (typeof value === 'object') return value.map((one) => `--raw-field=${name}[]=${one.replaceAll('\0', '')}`);
    return [`--field=${name}=${value}`];
  });
  const more = [
    ...(etag === undefined ? [] : [`--header=If-None-Match: ${etag}`]),
    ...(range === undefined ? [] : [`--header=Range: bytes=${range}`]),
    ...(jq === undefined ? [] : [`--jq=${jq}`]),
  ];
  return [`--method=${method}`, ...given, ...more, address];
}

export function ghEnvironment({ environment }: ForgePorts): Record<string, string> {
  const own = loginEnvironment(environment, ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'LANG']);
  return { ...own, GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' };
}
