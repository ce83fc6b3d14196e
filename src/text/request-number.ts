/** The number of a pull request of GitHub or a merge request of GitLab, from its address. undefined: it is none. */
export function requestNumber(url: string): number | undefined {
  const [, number] = /\/(?:pull|merge_requests)\/(\d{1,15})$/.exec(url) ?? [];
  return number === undefined ? undefined : Number(number);
}
