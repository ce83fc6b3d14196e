import { readFileSync } from 'node:fs';
import stringWidth from 'string-width';
import type { Size, Terminal } from '../output.ts';
import { fold } from '../render/cells.ts';

/** A terminal that knows this shows all of a write at once; others ignore it. */
const HOLD = '\u001b[?2026h';
const SHOW = '\u001b[?2026l';
/** A row that a terminal finds wider than squad does is cut there. */
const CUT = '\u001b[?7l';
const WRAP = '\u001b[?7h';
const CLEAR_RIGHT = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Another screen than that of the shell, which has no history that a change of size could leave pieces in. */
const ENTER = '\u001b[?1049h\u001b[?25l';
/** It is left empty: tmux keeps rows of one whose size has changed. */
const LEAVE = '\u001b[H\u001b[J\u001b[?1049l\u001b[?25h';

/** The shortest time between two frames, unless a person waits for one. */
const LEAST_MS = 250;
const TICK_MS = 1_000;
/** Printed lines that are kept for the shell's screen. */
const MOST_LINES = 5_000;

export interface Drawing {
  /** The rows, at most as many as the terminal has. `printed`: lines that were printed, oldest first. */
  draw(size: Size, printed: readonly string[]): readonly string[];
  /** Called when the screen gets the terminal. Returns what to call when it gives it back. */
  onShown(): () => void;
}

/**
 * Uses the terminal's alternate screen, so that a change of size leaves no pieces of the board in its history. Restores the
 * shell's screen on close, exit and SIGTSTP, and then writes the lines that were printed while the board was shown.
 */
export class Screen {
  readonly #terminal: Terminal;
  readonly #drawing: Drawing;
  /** `asking`: a question has the terminal. `background`: another program has it. */
  #state: 'shown' | 'asking' | 'background' | 'closed' = 'background';
  #rows: readonly string[] | undefined;
  #printed: string[] = [];
  /** How many of the printed lines are not on the shell's screen yet. */
  #held = 0;
  #release: readonly (() => void)[] = [];
  readonly #ticking: NodeJS.Timeout;
  #due: NodeJS.Timeout | undefined;
  #drawnAt = -Infinity;

  constructor(terminal: Terminal, drawing: Drawing) {
    this.#terminal = terminal;
    this.#drawing = drawing;
    process.on('exit', this.#leave);
    process.on('SIGTSTP', this.#stop);
    process.on('SIGCONT', this.#goOn);
    this.#ticking = setInterval(() => (this.#state === 'background' ? this.#show() : this.refresh('now')), TICK_MS);
    this.#show();
  }

  /** Draws what has changed: soon, or at once where a person waits for it. */
  refresh(when: 'soon' | 'now' = 'soon'): void {
    if (when === 'now') return this.#draw();
    this.#due ??= setTimeout(() => this.#draw(), Math.max(0, this.#drawnAt + LEAST_MS - performance.now()));
  }

  /** Draws every row again, whatever the terminal shows. */
  repaint(): void {
    this.#rows = undefined;
    this.#draw();
  }

  /** Prints a line. While a question has the terminal, the line waits. */
  print(text: string): void {
    const lines = text.split('\n');
    this.#printed = [...this.#printed, ...lines].slice(-MOST_LINES);
    this.#held = Math.min(this.#held + lines.length, MOST_LINES);
    if (this.#state === 'shown') return this.refresh();
    if (this.#state !== 'asking') this.#terminal.write(this.#takeHeld());
  }

  /** Gives the terminal to a question, until `resume`. */
  suspend(): void {
    if (this.#state === 'closed') return;
    this.#leave();
    this.#state = 'asking';
  }

  resume(): void {
    if (this.#state === 'asking') this.#show();
  }

  close(): void {
    if (this.#state === 'closed') return;
    this.#leave();
    // Lines that waited for the end of a question.
    if (this.#state === 'asking') this.#terminal.write(this.#takeHeld());
    this.#state = 'closed';
    clearInterval(this.#ticking);
    clearTimeout(this.#due);
    process.off('exit', this.#leave);
    process.off('SIGTSTP', this.#stop);
    process.off('SIGCONT', this.#goOn);
  }

  #show(): void {
    this.#state = isForeground() ? 'shown' : 'background';
    if (this.#state !== 'shown') return;
    const terminal = this.#terminal;
    this.#release = [
      terminal.divert((text) => this.print(text)),
      terminal.onResize(() => this.repaint()),
      this.#drawing.onShown(),
    ];
    terminal.write(ENTER);
    this.repaint();
  }

  #draw(): void {
    clearTimeout(this.#due);
    this.#due = undefined;
    this.#drawnAt = performance.now();
    if (this.#state !== 'shown') return;
    const size = this.#terminal.size();
    const rows = this.#drawing.draw(size, this.#printed).slice(0, size.rows);
    const text = paint(this.#rows, rows, size);
    this.#rows = rows;
    if (text !== '') this.#terminal.write(text);
  }

  readonly #leave = (): void => {
    if (this.#state !== 'shown') return;
    this.#state = 'background';
    for (const release of this.#release) release();
    this.#terminal.write(LEAVE + this.#takeHeld());
  };

  /** Ctrl-Z, or a signal of that meaning. Nothing runs before the process is continued. */
  readonly #stop = (): void => {
    this.#leave();
    process.kill(process.pid, 'SIGSTOP');
  };

  readonly #goOn = (): void => {
    if (this.#state === 'closed' || this.#state === 'asking') return;
    // It may have been stopped without a word, and continued in the background.
    this.#leave();
    this.#show();
  };

  #takeHeld(): string {
    const lines = this.#held === 0 ? [] : this.#printed.slice(-this.#held);
    this.#held = 0;
    const { columns } = this.#terminal.size();
    return lines.map((line) => `${fold(line, columns)}\n`).join('');
  }
}

/** Whether this process may use its terminal. A job in the background is stopped by the kernel if it changes the terminal's mode. */
function isForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name before it may hold anything: state, parent, process group, session, terminal, the group in the foreground.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foreground;
  } catch {
    // A system without /proc: most programs that people start are in the foreground.
    return true;
  }
}

/**
 * Returns the text that turns the `shown` rows (undefined: unknown) into `rows`; empty: nothing has changed. Each row is written
 * over the old one, so that a half-drawn screen has no gaps.
 */
export function paint(
  shown: readonly string[] | undefined,
  rows: readonly string[],
  { columns, ...size }: Size,
): string {
  const changed = rows.flatMap((row, index) => (shown?.[index] === row ? [] : [rowText(row, index, columns)]));
  const isShorter = shown === undefined || rows.length < shown.length;
  // Below the last row of the terminal there is nothing, and it would be that row.
  if (isShorter && rows.length < size.rows) changed.push(`${moveTo(rows.length)}${CLEAR_BELOW}`);
  if (changed.length === 0) return '';
  return `${HOLD}${CUT}${changed.join('')}${WRAP}${SHOW}`;
}

/** Behind a full row the cursor stands on its last character, which must stay. */
function rowText(row: string, index: number, columns: number): string {
  return `${moveTo(index)}${row}${stringWidth(row) < columns ? CLEAR_RIGHT : ''}`;
}

function moveTo(index: number): string {
  return `\u001b[${index + 1};1H`;
}
