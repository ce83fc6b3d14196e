/** A name that becomes a path or a git ref: lower case, at most 32 characters, starting with a letter. */
const SLUG = /^[a-z][a-z0-9-]{0,31}$/;

export function isSlug(text: string): boolean {
  return SLUG.test(text);
}
