import { z } from 'zod';
import { parseJson } from '../../../text/json.ts';
import type { IssueAnswer, IssueName } from '../../ports/forge.ts';
import { findGh, notUnderstood, runGh } from './gh.ts';
import { githubRepository, refused, remoteUrl, said, type ForgePorts, type ForgeRepository } from './remotes.ts';

const issueSchema = z.object({
  number: z.int(),
  title: z.string(),
  body: z.string(),
  url: z.url({ protocol: /^https?$/ }),
});

/** How `gh` says that there is none. */
const ABSENT = /could not resolve to an? (?:issue|repository)|not found/i;

/** Reads an issue, whose text is others' words. */
export async function readIssue(
  ports: ForgePorts,
  of: ForgeRepository,
  { number, repository: given, remote }: IssueName,
): Promise<IssueAnswer> {
  const url = given === undefined ? await remoteUrl(ports, of, remote) : `https://${given}`;
  if (typeof url !== 'string') return { ...url, next: `${url.next ?? ''} Or give the issue’s whole URL.`.trim() };
  const repository = githubRepository(url);
  if (repository === undefined) {
    return refused(`the remote ${remote} is not a repository on GitHub: ${said(url)}`, 'Give the issue’s whole URL.');
  }
  const gh = await findGh(ports);
  if (typeof gh !== 'string') return gh;
  const fields = ['--json', 'number,title,body,url'];
  const answer = await runGh(ports, { gh, repository }, ['issue', 'view', String(number), ...fields]);
  if (typeof answer === 'string') {
    const issue = issueSchema.safeParse(parseJson(answer)).data;
    return issue === undefined ? notUnderstood(answer) : { type: 'found', issue };
  }
  if (answer.next !== undefined) return answer;
  return ABSENT.test(answer.why)
    ? { type: 'none', repository }
    : { ...answer, next: `Try \`gh issue view ${number} --repo ${repository}\`.` };
}
