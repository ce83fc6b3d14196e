const ISSUE =
  /^https?:\/\/([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)\/((?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/){1,20}(?!-\/)[A-Za-z0-9_.-]+)\/(?:-\/(?:issues|work_items)|issues)\/(\d{1,9})\/?(?:[?#]\S*)?$/i;

/** The issue that a URL of GitHub or GitLab names; undefined: it names none. `path`: `owner/name`, on GitLab with all groups. */
export function issueIn(
  url: string,
): { readonly host: string; readonly path: string; readonly number: number } | undefined {
  const [, host, path, number] = ISSUE.exec(url) ?? [];
  return host === undefined || path === undefined ? undefined : { host, path, number: Number(number) };
}
