/** A Markdown fence that nothing in the text can close: longer than any run of backticks in it. */
export function fenceFor(text: string): string {
  const longest = [...text.matchAll(/`+/g)].reduce((length, [run]) => Math.max(length, run.length), 2);
  return '`'.repeat(longest + 1);
}
