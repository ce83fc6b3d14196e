import { fenceFor } from '../../text/fence.ts';

/** Words of others as a block that they cannot get out of. */
export function quoteBlock(text: string, longest = 20_000): string {
  const kept = text.length > longest ? `${text.slice(0, longest)}\n[cut]` : text;
  const fence = fenceFor(kept);
  return `${fence}\n${kept.trimEnd()}\n${fence}`;
}
