export const LONGEST_SLUG = 32;

/** A name that becomes a path or a git ref: lower case, at most 32 characters, starting with a letter. */
const SLUG = /^[a-z][a-z0-9-]{0,31}$/;

export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

/** The name with this number at its end, no longer than a slug may be. `cut`: how a longer name is cut. */
export function numbered(
  name: string,
  number: number,
  cut = (text: string, most: number): string => text.slice(0, most),
): string {
  const end = `-${number}`;
  return `${cut(name, LONGEST_SLUG - end.length)}${end}`;
}

/** Lower case, without accents, with a dash for other characters, and none at the beginning. Any length, and it may begin with a digit. */
export function plainSlug(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '');
}
