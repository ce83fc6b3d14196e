/** `host/owner/name` as `gh` takes it, from a remote's URL: https, ssh, or `git@host:owner/name`. undefined: it is none. */
export function githubRepository(url: string): string | undefined {
  const short = /^(?:[^@/\s:]+@)?([^@/\s:]+):(?!\/)(.+)$/.exec(url);
  const { host, path } = short === null ? partsOf(url) : { host: short[1] ?? '', path: short[2] ?? '' };
  const names = /^\/?([A-Za-z0-9_][A-Za-z0-9_.-]*)\/([A-Za-z0-9_.-]+?)(?:\.git)?\/?$/.exec(path);
  if (names === null || !/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(host)) return undefined;
  // GitHub's way in through port 443.
  return `${host === 'ssh.github.com' ? 'github.com' : host}/${names[1]}/${names[2]}`;
}

function partsOf(url: string): { host: string; path: string } {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !['https:', 'http:', 'ssh:', 'git:'].includes(parsed.protocol))
    return { host: '', path: '' };
  return { host: parsed.hostname, path: parsed.pathname };
}
