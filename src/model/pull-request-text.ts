import { quoteBlock } from '../text/fence.ts';
import { issueIn } from '../text/issue-url.ts';

interface OfRun {
  readonly objective: { readonly title: string; readonly text: string };
  /** Where that is from. */
  readonly source: string;
}

const MOST_REPORT = 20_000;

/** The text of a pull request of a whole run. Its merge closes the issue that the run was asked for. `report`: texts of agents are in it. */
export function pullRequestText(
  { objective: { title, text }, source }: OfRun,
  report: string,
): { readonly title: string; readonly body: string } {
  const issue = issueIn(source);
  // In front: a forge limits the length of a body.
  const body = issue === undefined ? text : `Closes ${issue.path}#${issue.number}\n\n${text}`;
  if (report === '') return { title, body };
  // Within a fence nothing names a person, closes an issue or loads a picture.
  const shown = `<details><summary>Report of squad</summary>\n\n${quoteBlock(report, MOST_REPORT)}\n\n</details>`;
  return { title, body: `${body.trimEnd()}\n\n${shown}\n` };
}
