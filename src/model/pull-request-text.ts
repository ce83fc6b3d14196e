interface OfRun {
  readonly objective: { readonly title: string; readonly text: string };
  /** Where that is from. */
  readonly source: string;
}

const ISSUE =
  /^https?:\/\/[^/\s]+\/((?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/){1,20}(?!-\/)[A-Za-z0-9_.-]+)\/(?:-\/(?:issues|work_items)|issues)\/(\d{1,9})$/;

/** The text of a pull request of a whole run. Its merge closes the issue that the run was asked for. */
export function pullRequestText({ objective: { title, text }, source }: OfRun): {
  readonly title: string;
  readonly body: string;
} {
  const [, repository, number] = ISSUE.exec(source) ?? [];
  // In front: a forge limits the length of a body.
  return { title, body: repository === undefined ? text : `Closes ${repository}#${number}\n\n${text}` };
}
