import { z } from 'zod';
import { parseJson } from '../../../text/json.ts';
import type { IssueAnswer, PullRequestAnswer, Refused } from '../../ports/forge.ts';
import type { ForgeHost, NewPullRequest } from './forge-host.ts';
import { loginEnvironment, refused, said, type ForgePlace, type ForgePorts } from './remotes.ts';

const TIMEOUT_MS = 60_000;
const MOST = 100;

const url = z.url({ protocol: /^https?$/ });
const requestSchema = z.object({
  iid: z.int(),
  web_url: url,
  state: z.string(),
  /** null: GitLab has not seen the branch yet. */
  sha: z.string().nullable(),
  source_project_id: z.int().nullable(),
  target_project_id: z.int(),
});
const issueSchema = z.object({ iid: z.int(), title: z.string(), description: z.string().nullable(), web_url: url });

interface Place extends ForgePlace {
  readonly glab: string;
}

/** GitLab by its REST interface, through `glab api`: that needs no repository, and its answers do not change with the program. */
export async function findGitlab(ports: ForgePorts, { host, path }: ForgePlace): Promise<ForgeHost | Refused> {
  const next = `Install the GitLab CLI and log in: https://gitlab.com/gitlab-org/cli, \`glab auth login --hostname ${host}\`.`;
  const glab = (await ports.forgeCli('glab')) ?? refused('the GitLab CLI, `glab`, is not on PATH', next);
  if (typeof glab !== 'string') return glab;
  const place = { glab, host, path };
  // A public project can be read without a login, and nothing can be opened there.
  const login = await runGlab(ports, place, ['user']);
  if (typeof login !== 'string') return login;
  return {
    newest: async (branch) => newest(ports, place, branch),
    create: async (of) => runGlab(ports, place, ['--method=POST', `${projectOf(place)}/merge_requests`, ...fields(of)]),
    write: async (at, body) => write(ports, place, at, body),
    issue: async (number) => readIssue(ports, place, number),
    notUnderstood,
  };
}

function projectOf({ path }: ForgePlace): string {
  return `projects/${encodeURIComponent(path)}`;
}

async function newest(ports: ForgePorts, place: Place, branch: string): Promise<PullRequestAnswer> {
  const query = `source_branch=${encodeURIComponent(branch)}&state=all&order_by=created_at&sort=desc&per_page=${MOST}`;
  const answer = await runGlab(ports, place, [`${projectOf(place)}/merge_requests?${query}`]);
  if (typeof answer !== 'string') return answer;
  const found = z.array(requestSchema).safeParse(parseJson(answer)).data;
  if (found === undefined) return notUnderstood(answer);
  // A fork may have a branch of this name.
  const own = found.filter((item) => item.source_project_id === item.target_project_id);
  const [first] = own.toSorted((a, b) => b.iid - a.iid);
  if (first === undefined) return { type: 'none' };
  // `locked`: it is being merged.
  const open = ['opened', 'locked'].includes(first.state);
  return { type: 'found', pullRequest: { url: first.web_url, commit: first.sha ?? '', open } };
}

/** With `=`, so that no text is read as an option. Reviewers are asked for by GitLab's quick action: its interface wants numbers. */
function fields(of: NewPullRequest): readonly string[] {
  const { branch, base, title, body, draft = false, reviewers = [], labels = [] } = of;
  const asked = reviewers.map((name) => `@${name}`).join(' ');
  const all = {
    source_branch: branch,
    target_branch: base,
    title: draft ? `Draft: ${title}` : title,
    description: asked === '' ? body : `${body}\n\n/assign_reviewer ${asked}`,
    ...(labels.length === 0 ? {} : { labels: labels.join(',') }),
  };
  // glab makes a list of a text like `[wip]`; GitLab takes the space away.
  return Object.entries(all).map(([name, text]) => `--raw-field=${name}=${/^\[.*\]$/s.test(text) ? `${text} ` : text}`);
}

async function write(ports: ForgePorts, place: Place, at: string, body: string): Promise<string | Refused> {
  const [, iid] = /\/merge_requests\/(\d+)$/.exec(at) ?? [];
  if (iid === undefined) return notUnderstood(at);
  const text = `--raw-field=description=${/^\[.*\]$/s.test(body) ? `${body} ` : body}`;
  return runGlab(ports, place, ['--method=PUT', `${projectOf(place)}/merge_requests/${iid}`, text]);
}

async function readIssue(ports: ForgePorts, place: Place, number: number): Promise<IssueAnswer> {
  const answer = await runGlab(ports, place, [`${projectOf(place)}/issues/${number}`]);
  if (typeof answer !== 'string') {
    const repository = `${place.host}/${place.path}`;
    const list = `glab issue list --repo https://${repository}`;
    return /\b404\b/.test(answer.why) ? { type: 'none', repository, list } : answer;
  }
  const issue = issueSchema.safeParse(parseJson(answer)).data;
  if (issue === undefined) return notUnderstood(answer);
  const { iid, title, description, web_url: from } = issue;
  return { type: 'found', issue: { number: iid, title, body: description ?? '', url: from } };
}

/** How it says that there is no login, or that it is not valid any more. */
const LOGGED_OUT = /\b401\b|auth login|unauthori[sz]ed|\btoken\b.*\b(?:expired|revoked|missing|not found)/i;

/** Returns stdout. Runs in `/`, because in a repository `glab` would run git with its configuration. */
async function runGlab(
  ports: ForgePorts,
  { glab, host, path }: Place,
  args: readonly string[],
): Promise<string | Refused> {
  const more = ['PATH', 'HOME', 'XDG_CONFIG_HOME', 'LANG'];
  const quiet = { NO_PROMPT: '1', GLAB_NO_PROMPT: '1', GLAB_CHECK_UPDATE: 'false', GLAB_SEND_TELEMETRY: 'false' };
  const env = { ...loginEnvironment(ports.environment, more), ...quiet, NO_COLOR: '1' };
  const options = { kind: 'glab' as const, cwd: '/', env, timeoutMs: TIMEOUT_MS };
  const answer = await ports.processes.run(glab, ['api', `--hostname=${host}`, ...args], options);
  if (answer.code === 0) return answer.stdout;
  const why = answer.problem ?? said(answer.stderr);
  if (LOGGED_OUT.test(why)) {
    return refused(`glab is not logged in to ${host}`, `Run \`glab auth login --hostname ${host}\`.`);
  }
  return refused(`glab api failed: ${why}`, `Try \`glab mr list --repo https://${host}/${path}\`.`);
}

function notUnderstood(text: string): Refused {
  return refused(`squad does not understand the answer of glab: ${said(text).slice(0, 200)}`, 'Update `glab`.');
}
