/** Words of others as a block that they cannot get out of: its fence is longer than any in them. */
export function quoteBlock(text: string, longest = 20_000): string {
  const kept = text.length > longest ? `${text.slice(0, longest)}\n[cut]` : text;
  const runs = [...kept.matchAll(/`+/g)].map(([run]) => run.length);
  const fence = '`'.repeat(Math.max(3, ...runs.map((length) => length + 1)));
  return `${fence}\n${kept.trimEnd()}\n${fence}`;
}
