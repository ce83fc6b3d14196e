import { plainJsonText } from '../text/plain-text.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import { styleFor, type Style } from './render/style.ts';

const CLEAR_LINE = '\r\u001b[K';

/** Prints for commands, without secrets. A closed stream (`squad log | head`) ends the printing, not the work. */
export interface Output {
  line(text: string): void;
  json(value: unknown): void;
  problem(text: string): void;
  /** Sets the status line; empty removes it. undefined without a terminal. */
  readonly status: ((text: string) => void) | undefined;
  /** Colour as far as standard output shows it. */
  readonly style: Style;
  /** Width of the terminal that standard output is; undefined: it is none. */
  readonly columns: () => number | undefined;
}

export function createOutput(
  stdout: NodeJS.WriteStream,
  stderr: NodeJS.WriteStream,
  redactor: Pick<Redactor, 'text' | 'json'>,
): Output {
  const errors = openStream(stderr, () => undefined);
  const lines = openStream(stdout, (error) => {
    // A reader that stops early is no problem; a full disk or a closed terminal is.
    if (error.code !== 'EPIPE') errors(`squad: the output could not be written: ${error.message}\n`);
  });
  let statusShown = false;
  const status = (text: string): void => {
    errors(`${CLEAR_LINE}${redactor.text(text).slice(0, Math.max(0, (stderr.columns ?? 80) - 1))}`);
    statusShown = text !== '';
  };
  /** Output replaces the status line, which returns with its next change. */
  const above = (print: () => void): void => {
    if (statusShown) status('');
    print();
  };
  return {
    line: (text) => above(() => lines(`${redactor.text(text)}\n`)),
    json: (value) => above(() => lines(`${plainJsonText(redactor.json(value))}\n`)),
    problem: (text) => above(() => errors(`${redactor.text(text)}\n`)),
    status: stderr.isTTY ? status : undefined,
    style: styleFor(stdout),
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
