import { asciiJsonText, plainJsonText } from '../text/plain-text.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import { asciiText, isAsciiOnly } from './render/ascii.ts';
import { fold } from './render/cells.ts';
import { styleFor, type Style } from './render/style.ts';

/** Prints for commands, without secrets. A closed stream (`squad log | head`) ends the printing, not the work. */
export interface Output {
  /** At a terminal broken between words in its width; `exact`: as it is, for what people copy and programs read. */
  line(text: string, how?: 'exact'): void;
  json(value: unknown): void;
  problem(text: string): void;
  /** Whether some of the lines did not get out, for another reason than a reader that had enough. */
  isLost(): boolean;
  /** Colour as far as standard output shows it. */
  readonly style: Style;
  /** Whether standard output shows links to files; absent: it does not. */
  readonly links?: boolean;
  /** Width of the terminal that standard output is; undefined: it is none. */
  readonly columns: () => number | undefined;
  /** undefined: the output does not all go to one terminal, or nothing can be drawn there. */
  readonly terminal: Terminal | undefined;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A terminal that shows all that squad prints, results and problems, so that a board can be drawn on it. */
export interface Terminal {
  /** Whether people want colour there. */
  readonly colour: boolean;
  size(): Size;
  /** One write, without secrets. */
  write(text: string): void;
  /** Returns what ends it. */
  onResize(listener: () => void): () => void;
  /** Gives the lines that would be printed to `take`. Returns what ends it. */
  divert(take: (text: string) => void): () => void;
}

/** Assumed for a terminal that reports no size. */
const NO_WIDTH: Size = { columns: 80, rows: 24 };

export function createOutput(
  stdout: NodeJS.WriteStream,
  stderr: NodeJS.WriteStream,
  redactor: Pick<Redactor, 'text' | 'json'>,
  term?: string,
  locale?: string,
  links = false,
): Output {
  const errors = writeTo(stderr, locale, () => undefined);
  let isLost = false;
  const lines = writeTo(stdout, locale, (error) => {
    // A reader that stops early is no problem; a full disk or a closed terminal is.
    if (error.code === 'EPIPE') return;
    isLost = true;
    errors(`squad: the output could not be written: ${error.message}\n`);
  });
  const style = styleFor(stdout);
  let diverted: ((text: string) => void) | undefined;
  const print = (text: string, write: (line: string) => void): void => {
    if (diverted === undefined) write(`${text}\n`);
    else diverted(text);
  };
  const terminal: Terminal = {
    colour: style('bold', 'x') !== 'x',
    size: () => ({ columns: stdout.columns || NO_WIDTH.columns, rows: stdout.rows || NO_WIDTH.rows }),
    write: (text) => lines(redactor.text(text)),
    onResize: (listener) => {
      stdout.on('resize', listener);
      return () => void stdout.off('resize', listener);
    },
    divert: (take) => {
      diverted = take;
      return () => void (diverted = undefined);
    },
  };
  return {
    line: (text, how) => {
      const columns = stdout.isTTY && how === undefined ? stdout.columns : undefined;
      print(redactor.text(text), (line) => lines(fold(line, columns)));
    },
    json: (value) => {
      const text = plainJsonText(redactor.json(value));
      // In signs of the terminal it would be no JSON any more.
      print(isShownInAscii(stdout, locale) ? asciiJsonText(text) : text, lines);
    },
    problem: (text) => print(redactor.text(text), (line) => errors(stderr.isTTY ? fold(line, stderr.columns) : line)),
    isLost: () => isLost,
    terminal: stdout.isTTY && stderr.isTTY && term !== 'dumb' ? terminal : undefined,
    style,
    links: links && stdout.isTTY,
    columns: () => (stdout.isTTY ? stdout.columns : undefined),
  };
}

/** Prints what a command found: one object with `--json`, else its lines for people. */
export function printResult(
  output: Output,
  { json }: { readonly json?: boolean },
  found: object,
  lines: readonly string[],
): void {
  if (json === true) output.json(found);
  else for (const line of lines) output.line(line);
}

/** For a terminal in signs that it can show; files and programs get the text as it is. */
function writeTo(stream: NodeJS.WriteStream, locale: string | undefined, onError: Parameters<typeof openStream>[1]) {
  const write = openStream(stream, onError);
  return isShownInAscii(stream, locale) ? (text: string) => write(asciiText(text)) : write;
}

function isShownInAscii(stream: NodeJS.WriteStream, locale: string | undefined): boolean {
  return stream.isTTY && isAsciiOnly(locale);
}

/** A write that does nothing after the stream's first error, which is reported once. */
function openStream(
  stream: NodeJS.WriteStream,
  onLost: (error: NodeJS.ErrnoException) => void,
): (text: string) => void {
  let open = true;
  stream.on('error', (error) => {
    if (open) {
      open = false;
      onLost(error);
    }
  });
  return (text) => {
    if (open) stream.write(text);
  };
}
