const MOST_STARS = 12;
const SPECIAL = /\*\*\/|\*\*|\*|\?|[{},]|[\\^$.|+()[\]]/g;
const MEANS: Readonly<Record<string, string>> = { '**/': '(?:[^/]+/)*', '**': '.*', '*': '[^/]*', '?': '[^/]' };

/**
 * A pattern of paths as in `.gitignore`: `*` and `?` stay within a name, `**` does not, and `{a,b}` is either. One without a slash counts
 * in every folder, and one that names a folder counts for all in it. undefined: it is no such pattern.
 */
export function pathPattern(text: string): RegExp | undefined {
  const pattern = text.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
  const stars = [...pattern.matchAll(/\*/g)].length;
  if (pattern === '' || pattern.startsWith('/') || stars > MOST_STARS) return undefined;
  let open = 0;
  const body = pattern.replaceAll(SPECIAL, (found) => {
    const means = MEANS[found];
    if (means !== undefined) return means;
    if (found === '{') open += 1;
    if (found === '{') return '(?:';
    if (found === ',') return open > 0 ? '|' : ',';
    if (found !== '}') return `\\${found}`;
    open -= 1;
    return ')';
  });
  if (open !== 0) return undefined;
  try {
    return new RegExp(`^${pattern.includes('/') ? '' : '(?:.*/)?'}${body}(?:/.*)?$`, 's');
  } catch {
    // Its braces do not fit.
    return undefined;
  }
}
