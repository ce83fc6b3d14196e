/** What becomes a path or a git ref: lower case, at most 32 characters, never starting with a dash. */
const SLUG = /^[a-z][a-z0-9-]{0,31}$/;

export function isSlug(text: string): boolean {
  return SLUG.test(text);
}
