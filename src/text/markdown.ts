import MarkdownIt, { type Token } from 'markdown-it';

export type { Token };

// Only block rules run: they take linear time, and no reader needs inline markup.
const markdown = new MarkdownIt({ html: true }).disable(['table', 'reference']);
markdown.core.ruler.enableOnly(['block']);
const withTables = new MarkdownIt({ html: true });
withTables.core.ruler.enableOnly(['block']);

export function parseBlocks(text: string): Token[] {
  return markdown.parse(text, {});
}

/** Unlike `parseBlocks`, parses tables, and takes definitions of links out of the text. */
export function parseText(text: string): Token[] {
  return withTables.parse(text, {});
}

export function levelOf(heading: Token): number {
  return Number(heading.tag.slice(1));
}
