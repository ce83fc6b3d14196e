import { code, ownWords, paragraph, words, type Block, type Section } from './document.ts';

const MOST_ROWS = 1_000;
/** A task that failed has several. */
const MOST_BLOCKS = 1_000;

/** A section of a run of any length, and how much is missing in it. */
export function boundedSection({ title, blocks }: Section): Section {
  const shown = blocks.slice(0, MOST_BLOCKS).flatMap(boundedBlock);
  return { title, blocks: [...shown, ...missing(blocks.length - MOST_BLOCKS, 'paragraphs')] };
}

function boundedBlock(block: Block): Block[] {
  switch (block.is) {
    case 'table':
      return [{ ...block, rows: block.rows.slice(0, MOST_ROWS) }, ...missing(block.rows.length - MOST_ROWS, 'rows')];
    case 'list':
      return [
        { ...block, items: block.items.slice(0, MOST_ROWS) },
        ...missing(block.items.length - MOST_ROWS, 'lines'),
      ];
    case 'heading':
    case 'paragraph':
    case 'quote':
    case 'commands':
      return [block];
    default:
      return block satisfies never;
  }
}

function missing(count: number, what: string): Block[] {
  if (count <= 0) return [];
  return [paragraph(words`${count} more ${ownWords(what)} are not shown: ${code('squad log --raw')} has everything.`)];
}
