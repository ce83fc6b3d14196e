import {
  oneLine,
  ownWords,
  quoteText,
  strong,
  type Block,
  type ReportDocument,
  type Text,
} from '../../view/report/document.ts';
import { wrap } from '../render/cells.ts';
import type { Style } from '../render/style.ts';
import { renderTable } from '../render/table.ts';

/** Prose is not wider than this: longer lines are hard to read. */
const MOST_COLUMNS = 120;
const QUOTE = '  │ ';

/** A report on a terminal. Cells of tables are cut at its width; `report.md` has them whole. */
export function renderReportLines({ title, about, sections }: ReportDocument, columns: number, style: Style): string[] {
  const shape = { columns, style };
  const parts = [
    wrapped(strong(title), shape),
    ...about.map((block) => blockLines(block, shape)),
    ...sections.flatMap((section) => [
      [style(['bold', 'underline'], section.title)],
      ...section.blocks.map((block) => blockLines(block, shape)),
    ]),
  ];
  return parts.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

interface Shape {
  readonly columns: number;
  readonly style: Style;
}

function blockLines(block: Block, shape: Shape): string[] {
  const { columns, style } = shape;
  switch (block.is) {
    case 'heading':
      return wrapped(strong(block.text), shape);
    case 'paragraph':
      return wrapped(block.text, shape);
    case 'list':
      return block.items.flatMap((item) => wrapped(item, shape, ['- ', '  ']));
    case 'table': {
      const head = block.head.map((name) => style('dim', name));
      return renderTable({
        head,
        rows: block.rows.map((row) => row.map((cell) => painted(spansOf(cell), style) || '–')),
        columns,
      });
    }
    case 'quote': {
      const { body, missing } = quoteText(block);
      const more = missing === 0 ? [] : [`(${missing} more characters)`];
      const lines = body.replaceAll('\t', '    ').split('\n');
      return [...lines.flatMap((line) => wrapped(ownWords(line), shape, [QUOTE, QUOTE])), ...more];
    }
    case 'commands':
      // Not wrapped: a person copies them.
      return block.lines.map((line) => `  ${style('cyan', line)}`);
  }
}

/** Wrapped before it gets its colour. */
function wrapped(text: Text, { columns, style }: Shape, [first, next] = ['', '']): string[] {
  const width = Math.max(8, Math.min(columns, MOST_COLUMNS) - next.length);
  const spans = spansOf(text);
  const plain = spans.map((span) => span.text).join('');
  let at = 0;
  return wrap(plain, width).map((line, index) => {
    // The space at which a line was ended is gone.
    const start = plain.startsWith(line, at) ? at : at + 1;
    at = start + line.length;
    return `${index === 0 ? first : next}${painted(between(spans, start, at), style)}`.trimEnd();
  });
}

interface Painted {
  readonly text: string;
  readonly format?: Format;
}

type Format = Parameters<Style>[0];

const TONES = { good: 'green', bad: 'red' } as const;

function spansOf(text: Text, format?: Format): Painted[] {
  const span = (shown: string, own: Format | undefined): Painted[] => [
    { text: shown, ...(own === undefined ? {} : { format: own }) },
  ];
  if (typeof text === 'string') return span(oneLine(text), format);
  if (!('is' in text)) return text.flatMap((part) => spansOf(part, format));
  switch (text.is) {
    case 'own':
      return span(text.text, text.tone === undefined ? format : TONES[text.tone]);
    case 'cut':
      return span(oneLine(text.text, text.most), format);
    case 'code':
      return span(text.text, 'cyan');
    case 'strong':
      return spansOf(text.text, text.tone === undefined ? 'bold' : ['bold', TONES[text.tone]]);
  }
}

function between(spans: readonly Painted[], from: number, to: number): Painted[] {
  let at = 0;
  return spans.map((span) => {
    const start = at;
    at += span.text.length;
    return { ...span, text: span.text.slice(Math.max(0, from - start), Math.max(0, to - start)) };
  });
}

function painted(spans: readonly Painted[], style: Style): string {
  return spans.map(({ text, format }) => (format === undefined || text === '' ? text : style(format, text))).join('');
}
