import { fenceFor } from '../../text/fence.ts';
import { markdownLine } from '../../text/markdown-line.ts';
import {
  oneLine,
  MOST_QUOTE,
  quoteText,
  type Block,
  type ReportDocument,
  type Section,
  type Text,
} from './document.ts';

/**
 * The report as Markdown. Text of agents, repositories and programs cannot make a heading, a fence, a cell, a tag or a link with a
 * false name, and reaches a terminal as plain characters only.
 */
export function renderMarkdown({ title, about, sections }: ReportDocument): string {
  return `${[`# ${textOf(title)}`, ...about.map(blockText), ...sections.map(sectionText)].join('\n\n')}\n`;
}

export function sectionText({ title, blocks }: Section): string {
  return [`## ${title}`, ...blocks.map(blockText)].join('\n\n');
}

function blockText(shown: Block): string {
  switch (shown.is) {
    case 'heading':
      return `### ${textOf(shown.text)}`;
    case 'paragraph':
      return textOf(shown.text);
    case 'list':
      return shown.items.map((item) => `- ${textOf(item)}`).join('\n');
    case 'table':
      return tableText(shown.head, shown.rows);
    case 'quote':
      return block(shown.text, shown.most);
    case 'commands':
      return `\`\`\`sh\n${shown.lines.join('\n')}\n\`\`\``;
  }
}

function textOf(text: Text): string {
  if (typeof text === 'string') return inline(text);
  if (!('is' in text)) return text.map(textOf).join('');
  switch (text.is) {
    case 'own':
      return text.text;
    case 'cut':
      return inline(text.text, text.most);
    case 'code':
      return `\`${text.text}\``;
    case 'strong':
      return `**${textOf(text.text)}**`;
  }
}

/** Text of others within a paragraph, a list item or a table's cell. */
export function inline(text: string, most?: number): string {
  return markdownLine(oneLine(text, most));
}

/** The text unchanged, in a fence longer than any within it. Only for the top level of a document. */
export function block(text: string, most = MOST_QUOTE): string {
  const { body, missing } = quoteText({ text, most });
  const fence = fenceFor(body);
  const more = missing > 0 ? `\n\n(${missing} more characters)` : '';
  return `${fence}text\n${body}\n${fence}${more}`;
}

function tableText(head: readonly string[], rows: readonly (readonly Text[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell || '–').join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map((row) => line(row.map(textOf)))].join('\n');
}
