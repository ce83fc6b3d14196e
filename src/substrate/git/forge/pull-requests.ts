import { z } from 'zod';
import { cutBytes } from '../../../text/cut-bytes.ts';
import { parseJson } from '../../../text/json.ts';
import { findGh, notUnderstood, runGh } from './gh.ts';
import {
  githubRepository,
  nameProblem,
  refused,
  remoteUrl,
  said,
  type ForgePorts,
  type ForgeRepository,
} from './remotes.ts';
import type { Forge, PullRequest, PullRequestAnswer, Refused } from '../../ports/forge.ts';

const FIELDS = 'number,url,state,headRefOid,isCrossRepository';
/** Pull requests of one branch name, including those of forks. */
const MOST = 100;
/** GitHub's own limits are 256 characters and 65,536; the system's limit on one argument is 128 KiB. */
const TITLE_LENGTH = 250;
const BODY_BYTES = 60_000;

const pullRequestSchema = z.object({
  number: z.int(),
  url: z.url({ protocol: /^https?$/ }),
  state: z.string(),
  headRefOid: z.string(),
  isCrossRepository: z.boolean(),
});
type Found = z.infer<typeof pullRequestSchema>;

interface Place {
  readonly gh: string;
  /** `host/owner/name`. */
  readonly repository: string;
  readonly branch: string;
}

/** Pull requests within the remote's repository. Those from a fork into another repository are not supported. */
export function createPullRequests(
  ports: ForgePorts,
  repository: ForgeRepository,
): Pick<Forge, 'findPullRequest' | 'openPullRequest'> {
  const placeOf = async ({ remote, branch }: { remote: string; branch: string }): Promise<Place | Refused> => {
    const url = await remoteUrl(ports, repository, remote);
    if (typeof url !== 'string') return url;
    const name = githubRepository(url);
    if (name === undefined) return refused(`the remote ${remote} is not a repository on GitHub: ${said(url)}`);
    const gh = await findGh(ports);
    if (typeof gh !== 'string') return gh;
    return nameProblem('branch', branch) ?? { gh, repository: name, branch };
  };

  const find = async (place: Place): Promise<PullRequestAnswer> => {
    const query = ['--head', place.branch, '--state', 'all', '--limit', String(MOST), '--json', FIELDS];
    const answer = await run(ports, place, ['pr', 'list', ...query]);
    if (typeof answer !== 'string') return answer;
    const found = z.array(pullRequestSchema).safeParse(parseJson(answer)).data;
    if (found === undefined) return notUnderstood(answer);
    // A fork may have a branch of this name.
    const [newest] = found.filter((item) => !item.isCrossRepository).toSorted((a, b) => b.number - a.number);
    return newest === undefined ? { type: 'none' } : { type: 'found', pullRequest: toPullRequest(newest) };
  };

  return {
    findPullRequest: async (of) => {
      const place = await placeOf(of);
      return 'type' in place ? place : find(place);
    },
    openPullRequest: async (of) => {
      const place = await placeOf(of);
      if ('type' in place) return place;
      const problem = nameProblem('branch', of.base);
      if (problem !== undefined) return problem;
      const before = await find(place);
      if (before.type === 'refused' || (before.type === 'found' && before.pullRequest.open)) return before;
      const made = await run(ports, place, ['pr', 'create', ...optionsOf(of)]);
      // `create` prints no commit, and fails if the pull request exists by now. So this looks again.
      const after = await find(place);
      if (after.type !== 'none' && (after.type === 'refused' || after.pullRequest.open)) return after;
      return typeof made === 'string' ? notUnderstood(made) : made;
    },
  };
}

/** With `=`, so that no text is read as an option. */
function optionsOf(of: { branch: string; base: string; title: string; body: string }): readonly string[] {
  const title =
    of.title
      .replaceAll(/[\s\0]+/g, ' ')
      .trim()
      .slice(0, TITLE_LENGTH) || of.branch;
  return [`--head=${of.branch}`, `--base=${of.base}`, `--title=${title}`, `--body=${cut(of.body, BODY_BYTES)}`];
}

/** Cuts between characters and drops NUL, which arguments cannot contain. */
function cut(text: string, bytes: number): string {
  const plain = text.replaceAll('\0', '');
  const { text: kept, isCut } = cutBytes(plain, bytes);
  return isCut ? `${kept}\n\n…` : plain;
}

function toPullRequest({ url, headRefOid, state }: Found): PullRequest {
  return { url, commit: headRefOid, open: state === 'OPEN' };
}

async function run(ports: ForgePorts, { gh, repository }: Place, args: readonly string[]): Promise<string | Refused> {
  const answer = await runGh(ports, { gh, repository }, args);
  if (typeof answer === 'string' || answer.next !== undefined) return answer;
  return { ...answer, next: `Try \`gh pr list --repo ${repository}\`.` };
}
