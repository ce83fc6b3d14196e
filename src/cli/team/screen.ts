import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Output } from '../output.ts';
import { plainLine } from '../../text/plain-text.ts';

const CLEAR_BELOW = '\u001b[J';

/** A pane: output lines above the line that a person types. */
export type Screen = ReturnType<typeof openScreen>;

interface Listener {
  onLine(text: string): void;
  /** Ctrl-C, Ctrl-D, or the terminal is gone. */
  onEnd(): void;
}

/** Without a terminal it only reads and prints lines. */
export function openScreen(output: Output, prompt: string, listener: Listener) {
  const { stdin, stdout } = process;
  const isTerminal = stdin.isTTY && stdout.isTTY;
  const typing = createInterface({ input: stdin, output: stdout, terminal: isTerminal, prompt, historySize: 200 });
  let isOpen = true;
  let shown = '';
  typing.on('line', (text) => {
    listener.onLine(text);
    if (isOpen && isTerminal) typing.prompt();
  });
  typing.on('SIGINT', () => listener.onEnd());
  typing.on('close', () => listener.onEnd());
  // A closed terminal also sends a signal.
  stdin.on('error', () => listener.onEnd());
  if (isTerminal) typing.prompt();
  return {
    line: (text: string): void => {
      if (!isTerminal || !isOpen) return output.line(text);
      // Removes the typed line, which may have several rows, and prints it again below.
      const rows = typing.getCursorPos().rows;
      stdout.write(`\r${rows > 0 ? `\u001b[${rows}A` : ''}${CLEAR_BELOW}`);
      output.line(text);
      typing.prompt(true);
    },
    /** Sets the pane's title. */
    title: (text: string): void => {
      if (!stdout.isTTY || text === shown) return;
      shown = text;
      stdout.write(`\u001b]2;${plainLine(text, 200)}\u0007`);
    },
    close: (): void => {
      if (!isOpen) return;
      isOpen = false;
      typing.close();
      // A pending read must not keep the process alive. What is read from a file, as /dev/null, has no handle.
      stdin.pause();
      if (stdin instanceof Socket) stdin.unref();
    },
  };
}
