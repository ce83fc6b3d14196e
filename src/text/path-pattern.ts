/** A pattern of paths. Its time grows with the length of the path times that of the pattern, whatever both say. */
export interface PathPattern {
  test(path: string): boolean;
}

const MOST_LENGTH = 1_000;
/** Patterns that one with braces may stand for. */
const MOST_CHOICES = 100;

// In their order: any number of folders; any text; any text without a slash; one character but a slash; this character.
type Token = '**/' | '**' | '*' | '?' | { readonly is: string };

/**
 * A pattern of paths as in `.gitignore`: `*` and `?` stay within a name, `**` does not, and `{a,b}` is either. One without a slash counts
 * in every folder, and one that names a folder counts for all in it. undefined: it is no such pattern.
 */
export function pathPattern(text: string): PathPattern | undefined {
  const pattern = text.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
  if (pattern === '' || pattern.startsWith('/') || pattern.length > MOST_LENGTH) return undefined;
  const choices = choicesOf(pattern);
  if (choices === undefined) return undefined;
  const anywhere: Token[] = pattern.includes('/') ? [] : ['**/'];
  const all = choices.map((choice) => [...anywhere, ...tokensOf(choice)]);
  return { test: (path) => all.some((tokens) => matches(tokens, path)) };
}

/** Without braces. undefined: they do not fit, or stand for too many. */
function choicesOf(pattern: string): string[] | undefined {
  const open = pattern.indexOf('{');
  if (open === -1) return pattern.includes('}') ? undefined : [pattern];
  const parts = partsIn(pattern, open);
  if (parts === undefined || pattern.slice(0, open).includes('}')) return undefined;
  const all: string[] = [];
  for (const part of parts.parts) {
    const found = choicesOf(`${pattern.slice(0, open)}${part}${pattern.slice(parts.end)}`);
    if (found === undefined || all.length + found.length > MOST_CHOICES) return undefined;
    all.push(...found);
  }
  return all;
}

/** The alternatives of the brace that opens at `open`, and where the text after it begins; undefined: it is not closed. */
function partsIn(pattern: string, open: number): { readonly parts: string[]; readonly end: number } | undefined {
  const parts: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = open; at < pattern.length; at += 1) {
    const char = pattern[at];
    if (char === '{') depth += 1;
    if (char === '}') depth -= 1;
    if ((char === ',' && depth === 1) || depth === 0) {
      parts.push(pattern.slice(from, at));
      from = at + 1;
    }
    if (depth === 0) return { parts, end: at + 1 };
  }
  return undefined;
}

function tokensOf(pattern: string): Token[] {
  return [...pattern.matchAll(/\*\*\/|\*\*|\*|\?|[^]/g)].map(([found]) =>
    found === '**/' || found === '**' || found === '*' || found === '?' ? found : { is: found },
  );
}

/** Follows all places in the pattern at once. */
function matches(tokens: readonly Token[], path: string): boolean {
  // Twice the number of tokens that are matched; odd within a folder of the first kind of token.
  let places = reached(tokens, [0]);
  for (const char of path.split('')) {
    // The pattern matches a folder of this path: everything in it counts.
    if (char === '/' && places.has(2 * tokens.length)) return true;
    places = reached(
      tokens,
      [...places].flatMap((place) => after(tokens, place, char)),
    );
    if (places.size === 0) return false;
  }
  return places.has(2 * tokens.length);
}

/** With the places behind what may be empty. */
function reached(tokens: readonly Token[], from: readonly number[]): Set<number> {
  const all = new Set(from);
  for (const place of all) {
    const token = place % 2 === 0 ? tokens[place / 2] : undefined;
    if (token === '**/' || token === '**' || token === '*') all.add(place + 2);
  }
  return all;
}

function after(tokens: readonly Token[], place: number, char: string): number[] {
  const isInFolder = place % 2 === 1;
  const token = tokens[Math.floor(place / 2)];
  if (token === undefined) return [];
  if (token === '**/') {
    if (isInFolder) return [char === '/' ? place - 1 : place];
    return char === '/' ? [] : [place + 1];
  }
  if (token === '**') return [place];
  if (token === '*') return char === '/' ? [] : [place];
  if (token === '?') return char === '/' ? [] : [place + 2];
  return token.is === char ? [place + 2] : [];
}
