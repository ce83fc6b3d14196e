import { issueIn } from '../text/issue-url.ts';

interface OfRun {
  readonly objective: { readonly title: string; readonly text: string };
  /** Where that is from. */
  readonly source: string;
}

/** The text of a pull request of a whole run. Its merge closes the issue that the run was asked for. */
export function pullRequestText({ objective: { title, text }, source }: OfRun): {
  readonly title: string;
  readonly body: string;
} {
  const issue = issueIn(source);
  // In front: a forge limits the length of a body.
  return { title, body: issue === undefined ? text : `Closes ${issue.path}#${issue.number}\n\n${text}` };
}
