/** A Markdown fence that nothing in the text can close: longer than any run of backticks in it. */
export function fenceFor(text: string): string {
  const longest = [...text.matchAll(/`+/g)].reduce((length, [run]) => Math.max(length, run.length), 2);
  return '`'.repeat(longest + 1);
}

/** A text as a Markdown block that nothing in it can close. */
export function quoteBlock(text: string, longest = 20_000): string {
  const kept = text.length > longest ? `${text.slice(0, longest)}\n[cut]` : text;
  const fence = fenceFor(kept);
  return `${fence}\n${kept.trimEnd()}\n${fence}`;
}
