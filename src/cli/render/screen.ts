import { folded } from './cells.ts';
import type { Output } from '../output.ts';
import { withLink } from './links.ts';
import type { Style } from './style.ts';

type Format = Parameters<Style>[0];

export type Screen = Pick<Output, 'columns' | 'style' | 'links'>;

/** Its first match in a line gets this colour. */
export type Colour = readonly [pattern: RegExp, format: Format];

/** Plain lines, in their colours, wrapped between words below the cell that is too long. Commands and paths stay whole: people copy them. */
export function onScreen(
  all: readonly string[],
  { columns, style, links }: Screen,
  colours: readonly Colour[],
): string {
  const width = columns();
  const shown = width === undefined ? all : all.flatMap((text) => folded(text, width));
  const lines = shown.map((text) => coloured(text, style, colours));
  return (links === true ? lines.map(withLink) : lines).join('\n');
}

function coloured(text: string, style: Style, colours: readonly Colour[]): string {
  for (const [pattern, format] of colours) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const end = found.index + found[0].length;
    return `${text.slice(0, found.index)}${style(format, found[0])}${text.slice(end)}`;
  }
  return text;
}
