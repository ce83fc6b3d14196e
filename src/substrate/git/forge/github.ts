import { z } from 'zod';
import { parseJson } from '../../../text/json.ts';
import type { IssueAnswer, PullRequest, PullRequestAnswer, Refused } from '../../ports/forge.ts';
import type { ForgeHost, NewPullRequest } from './forge-host.ts';
import { ghEnvironment } from './gh-api.ts';
import { ghPlace, refused, said, type ForgePorts } from './remotes.ts';

const TIMEOUT_MS = 60_000;
const FIELDS = 'number,url,state,headRefOid,isCrossRepository';
/** Pull requests of one branch name, including those of forks. */
const MOST = 100;

const pullRequestSchema = z.object({
  number: z.int(),
  url: z.url({ protocol: /^https?$/ }),
  state: z.string(),
  headRefOid: z.string(),
  isCrossRepository: z.boolean(),
});
const issueSchema = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string(),
  url: z.url({ protocol: /^https?$/ }),
});

interface Place {
  readonly gh: string;
  /** `host/owner/name`. */
  readonly repository: string;
}

export async function findGithub(ports: ForgePorts, url: string): Promise<ForgeHost | Refused> {
  const found = await ghPlace(ports, url);
  if (found.type !== 'found') return found;
  const place: Place = found;
  return {
    newest: async (branch) => newest(ports, place, branch),
    create: async (of) => listed(place, await runGh(ports, place, ['pr', 'create', ...optionsOf(of)])),
    write: async (at, body) => listed(place, await runGh(ports, place, ['pr', 'edit', at, `--body=${body}`])),
    issue: async (number) => readIssue(ports, place, number),
    notUnderstood,
  };
}

async function newest(ports: ForgePorts, place: Place, branch: string): Promise<PullRequestAnswer> {
  const query = ['--head', branch, '--state', 'all', '--limit', String(MOST), '--json', FIELDS];
  const answer = listed(place, await runGh(ports, place, ['pr', 'list', ...query]));
  if (typeof answer !== 'string') return answer;
  const found = z.array(pullRequestSchema).safeParse(parseJson(answer)).data;
  if (found === undefined) return notUnderstood(answer);
  // A fork may have a branch of this name.
  const [first] = found.filter((item) => !item.isCrossRepository).toSorted((a, b) => b.number - a.number);
  return first === undefined ? { type: 'none' } : { type: 'found', pullRequest: toPullRequest(first) };
}

function toPullRequest({ url, headRefOid, state }: z.infer<typeof pullRequestSchema>): PullRequest {
  return { url, commit: headRefOid, open: state === 'OPEN' };
}

/** With `=`, so that no text is read as an option. */
function optionsOf(of: NewPullRequest): readonly string[] {
  const { branch, base, title, body, draft = false, reviewers = [], labels = [] } = of;
  return [
    ...[`--head=${branch}`, `--base=${base}`, `--title=${title}`, `--body=${body}`],
    ...(draft ? ['--draft'] : []),
    ...reviewers.map((name) => `--reviewer=${name}`),
    ...labels.map((name) => `--label=${name}`),
  ];
}

function listed({ repository }: Place, answer: string | Refused): string | Refused {
  if (typeof answer === 'string' || answer.next !== undefined) return answer;
  return { ...answer, next: `Try \`gh pr list --repo ${repository}\`.` };
}

/** How `gh` says that there is none. */
const ABSENT = /could not resolve to an? (?:issue|repository)|not found/i;

async function readIssue(ports: ForgePorts, place: Place, number: number): Promise<IssueAnswer> {
  const { repository } = place;
  const fields = ['--json', 'number,title,body,url'];
  const answer = await runGh(ports, place, ['issue', 'view', String(number), ...fields]);
  if (typeof answer === 'string') {
    const issue = issueSchema.safeParse(parseJson(answer)).data;
    return issue === undefined ? notUnderstood(answer) : { type: 'found', issue };
  }
  if (answer.next !== undefined) return answer;
  return ABSENT.test(answer.why)
    ? { type: 'none', repository, list: `gh issue list --repo ${repository}` }
    : { ...answer, next: `Try \`gh issue view ${number} --repo ${repository}\`.` };
}

/** Returns stdout. Runs in `/`, because in a repository `gh` would run git with its configuration. */
async function runGh(ports: ForgePorts, { gh, repository }: Place, args: readonly string[]): Promise<string | Refused> {
  const options = { kind: 'gh' as const, cwd: '/', env: ghEnvironment(ports), timeoutMs: TIMEOUT_MS };
  const answer = await ports.processes.run(gh, [...args, `--repo=${repository}`], options);
  if (answer.code === 0) return answer.stdout;
  const [host] = repository.split('/');
  if (answer.code === 4) return refused(`gh is not logged in to ${host}`, `Run \`gh auth login --hostname ${host}\`.`);
  return refused(`gh ${args.slice(0, 2).join(' ')} failed: ${answer.problem ?? said(answer.stderr)}`);
}

function notUnderstood(text: string): Refused {
  return refused(`squad does not understand the answer of gh: ${said(text).slice(0, 200)}`, 'Update `gh`.');
}
