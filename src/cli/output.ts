import { plainJsonText } from '../text/plain-text.ts';
import type { Redactor } from '../model/redaction/redactor.ts';

const CLEAR_LINE = '\r\u001b[K';

/**
 * Where commands print; no secret leaves through it. A stream that takes nothing more (`squad log | head`) ends its
 * printing, not the work.
 */
export interface Output {
  line(text: string): void;
  json(value: unknown): void;
  problem(text: string): void;
  /** For a status line that is overwritten, empty to take it away; undefined where nobody watches. */
  readonly status: ((text: string) => void) | undefined;
}

export function createOutput(
  stdout: NodeJS.WriteStream,
  stderr: NodeJS.WriteStream,
  redactor: Pick<Redactor, 'text' | 'json'>,
): Output {
  const errors = openStream(stderr, () => undefined);
  const lines = openStream(stdout, (error) => {
    // A reader that had enough is no problem; a full disk or a terminal that is gone is one.
    if (error.code !== 'EPIPE') errors(`squad: the output could not be written: ${error.message}\n`);
  });
  let statusShown = false;
  const status = (text: string): void => {
    errors(`${CLEAR_LINE}${redactor.text(text).slice(0, Math.max(0, (stderr.columns ?? 80) - 1))}`);
    statusShown = text !== '';
  };
  /** Whatever is printed takes the place of the status, which comes back with its next change. */
  const above = (print: () => void): void => {
    if (statusShown) status('');
    print();
  };
  return {
    line: (text) => above(() => lines(`${redactor.text(text)}\n`)),
    json: (value) => above(() => lines(`${plainJsonText(redactor.json(value))}\n`)),
    problem: (text) => above(() => errors(`${redactor.text(text)}\n`)),
    status: stderr.isTTY ? status : undefined,
  };
}

/** A write that does nothing after the stream's first error, which is told once. */
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
