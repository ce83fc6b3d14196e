/** Titles stand in quotes; a long one may be cut at a comma. */
export function isTitle(text: string, title: string): boolean {
  return [`'${title}'`, `"${title}"`, `'${title}, `].some((quoted) => text.includes(quoted));
}
