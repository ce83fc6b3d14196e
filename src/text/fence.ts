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

/** A text between tags that nothing in the text can close: where it has such a tag, these get a number that it does not have. */
export function fenceTag(name: string, text: string, longest = Number.MAX_SAFE_INTEGER): string {
  const kept = text.length > longest ? `${text.slice(0, longest)}\n[cut]` : text;
  const lower = kept.toLowerCase();
  let tag = name;
  for (let number = 2; lower.includes(`</${tag}`) || lower.includes(`<${tag}`); number += 1) tag = `${name}-${number}`;
  return `<${tag}>\n${kept.trimEnd()}\n</${tag}>`;
}
