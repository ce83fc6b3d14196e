import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** Adds colour to text, or returns the text as it is. */
export type Style = (format: Format, text: string) => string;

export const PLAIN: Style = (_, text) => text;

export const COLOURED: Style = (format, text) => styleText(format, text, { validateStream: false });

/** Colour as far as this stream shows it: a terminal does, unless NO_COLOR says otherwise; FORCE_COLOR overrides both. */
export function styleFor(stream: NodeJS.WriteStream): Style {
  return (format, text) => styleText(format, text, { stream });
}
