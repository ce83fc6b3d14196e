// @module-tag all
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ALL, some, SPREAD, spread } from '../../support/lane.ts';
import { eventually, NO_TMUX, openTmuxRoom } from '../../support/tmux.ts';
import { createRandom } from '../../support/random.ts';

const PROGRAM = fileURLToPath(new URL('../../fixtures/cli/board-program.ts', import.meta.url));
const LOOKS = spread(100, 200);
const CHANGES = spread(40, 100);
/** In the first and in the last row of every frame; the activity names the run within a line. */
const HEAD = /^made-up /m;
const FOOT = /q leave/;
const count = (screen: string, what: RegExp): number => screen.split('\n').filter((line) => what.test(line)).length;
const isBoard = (screen: string): boolean => HEAD.test(screen) && FOOT.test(screen);

/** A shell in a real terminal, in which the board was started. */
function openTerminal(size = { columns: 80, rows: 24 }) {
  const room = openTmuxRoom();
  onTestFinished(() => room.close());
  const tmux = (...args: string[]): string => room.tmux('board', ...args);
  const shell = ['env', 'PS1=shell> ', 'sh', '-i'];
  tmux('new-session', '-d', '-s', 'b', '-x', String(size.columns), '-y', String(size.rows), ...shell);
  tmux('set', '-g', 'history-limit', '20000');
  const type = (...keys: string[]): string => tmux('send-keys', '-t', 'b', ...keys);
  const seen = (...more: string[]): string => tmux('capture-pane', '-p', '-t', 'b', ...more);
  const pane = (format: string): string => tmux('display', '-p', '-t', 'b', format).trim();
  /** Waits until the shell has the terminal, and reads what is typed. */
  const prompt = async (): Promise<void> => {
    const isReady = (): boolean => pane('#{alternate_on} #{cursor_flag}') === '0 1' && /shell>\s*$/.test(seen());
    await eventually('the shell', () => isReady() || undefined);
    await sleep(200);
  };
  return {
    tmux,
    type,
    seen,
    /** All that the shell's screen has shown. */
    history: (): string => seen('-S', '-'),
    isOwn: (): boolean => pane('#{alternate_on} #{cursor_flag}') === '1 0',
    isShells: (): boolean => pane('#{alternate_on} #{cursor_flag}') === '0 1',
    /** The process that the shell has started. */
    program: (): number => {
      const shellPid = pane('#{pane_pid}');
      return Number(readFileSync(`/proc/${shellPid}/task/${shellPid}/children`, 'utf8').trim().split(' ')[0]);
    },
    prompt,
    start: async (every = 0): Promise<void> => {
      await prompt();
      type(`${process.execPath} ${PROGRAM} ${every}`, 'Enter');
      await eventually('the board', () => isBoard(seen()) || undefined);
    },
    shows: async (what: RegExp): Promise<string> =>
      eventually(String(what), () => (what.test(seen()) ? seen() : undefined)),
  };
}

describe.skipIf(NO_TMUX !== undefined)('a board in a real terminal', { timeout: 120_000 }, () => {
  it(`is whole in each of ${LOOKS} looks while lines are printed`, SPREAD, async () => {
    const terminal = openTerminal();
    await terminal.start(20);
    const without: string[] = [];
    for (let look = 0; look < LOOKS; look += 1) {
      const screen = terminal.seen();
      if (!isBoard(screen)) without.push(screen);
      await sleep(5);
    }
    expect(without).toEqual([]);
    // The newest lines are above it, and all of them on the shell's screen afterwards, once and in order.
    expect(terminal.seen()).toMatch(/^line \d+/);
    terminal.type('C-c');
    await terminal.prompt();
    const lines = [...terminal.history().matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number));
    expect(lines.length).toBeGreaterThan(LOOKS / 4);
    expect(lines, terminal.history()).toEqual(lines.map((_, index) => index + 1));
  });

  it('ends the question for a note when the run ends, and says that it was not sent', async () => {
    const terminal = openTerminal();
    await terminal.start();
    terminal.type('m');
    await terminal.shows(/A note to which agent\?/);
    terminal.type('Enter');
    await terminal.shows(/What should planner know\?/);
    terminal.type('-l', 'use ta');
    await terminal.shows(/use ta/);
    process.kill(terminal.program(), 'SIGALRM');
    await terminal.prompt();
    expect(terminal.seen()).toMatch(/one more line\n[^]*ended\n[^]*not sent: the run ended meanwhile/);
  });

  it(`leaves no debris after ${CHANGES} changes of size`, SPREAD, async () => {
    const terminal = openTerminal();
    await terminal.start(200);
    const random = createRandom(7);
    for (let change = 0; change < CHANGES; change += 1) {
      const [columns, rows] = [20 + Math.floor(random() * 180), 5 + Math.floor(random() * 50)];
      terminal.tmux('resize-window', '-t', 'b', '-x', String(columns), '-y', String(rows));
      await sleep(10);
    }
    terminal.tmux('resize-window', '-t', 'b', '-x', '100', '-y', '30');
    await terminal.shows(/q leave/);
    await sleep(500);
    const screen = terminal.seen();
    expect(count(screen, HEAD)).toBe(1);
    expect(count(screen, FOOT)).toBe(1);
    terminal.type('C-c');
    await terminal.prompt();
    expect(terminal.history()).not.toMatch(/made-up|q leave|task-\d/);
  });

  it('gives the terminal back for Ctrl-Z, and comes back with fg', async () => {
    const terminal = openTerminal();
    await terminal.start();
    expect(terminal.isOwn()).toBe(true);
    terminal.type('C-z');
    await terminal.prompt();
    terminal.type('echo still $((20 + 3))', 'Enter');
    await terminal.shows(/^still 23$/m);
    terminal.type('fg', 'Enter');
    await eventually('the board again', () => (isBoard(terminal.seen()) && terminal.isOwn()) || undefined);
    // In the background it stays away, also after it has waited a while.
    terminal.type('C-z');
    await terminal.prompt();
    terminal.type('bg', 'Enter');
    await sleep(1_500);
    expect(terminal.isShells()).toBe(true);
    terminal.type('fg', 'Enter');
    await eventually('the board again', () => (isBoard(terminal.seen()) && terminal.isOwn()) || undefined);
  });

  it.each(
    some<[NodeJS.Signals, number]>(
      [
        ['SIGTERM', 143],
        ['SIGINT', 130],
        // A crash of its own.
        ['SIGUSR2', 1],
        ['SIGHUP', 129],
      ],
      2,
    ),
  )('leaves the terminal as it was after %s', SPREAD, async (signal, code) => {
    const terminal = openTerminal();
    await terminal.prompt();
    terminal.type('echo before', 'Enter');
    await terminal.shows(/^before$/m);
    await terminal.start();
    process.kill(terminal.program(), signal);
    await terminal.prompt();
    terminal.type('echo code $?', 'Enter');
    expect(await terminal.shows(/^code \d+$/m)).toMatch(new RegExp(`^code ${code}$`, 'm'));
    expect(terminal.seen()).toMatch(/^before$/m);
    terminal.type('stty -a | grep -c " icanon"', 'Enter');
    await terminal.shows(/^1$/m);
  });

  it('has colour unless NO_COLOR is set', ALL, async () => {
    const colour = /\u001b\[[\d;]*[1-9]m/;
    const terminal = openTerminal();
    await terminal.start();
    expect(terminal.seen('-e')).toMatch(colour);
    terminal.type('C-c');
    await terminal.prompt();
    terminal.type('export NO_COLOR=1', 'Enter');
    await terminal.start();
    expect(terminal.seen('-e')).not.toMatch(colour);
  });

  it('obeys keys, and gives the terminal to a question', async () => {
    const terminal = openTerminal();
    await terminal.start();
    terminal.type('p');
    await terminal.shows(/intervened: pause/);
    terminal.type('d', 'd');
    await terminal.shows(/intervened: drain/);
    terminal.type('a');
    await terminal.shows(/Which one\?/);
    expect(terminal.isShells()).toBe(true);
    await eventually('the board again', () => (isBoard(terminal.seen()) && terminal.isOwn()) || undefined);
    terminal.type('q', 'q');
    await terminal.shows(/quit$/m);
    expect(terminal.isShells()).toBe(true);
  });
});
