import type { TerminalPane } from '../ports/terminal.ts';
import { inFolder } from './pane-command.ts';

/** So many fit on a screen of 80 by 24 and can still be read. */
export const PANES_OF_A_WINDOW = 9;

/** Marks a window as one of this team's: of these alone, squad ever closes one. */
export const TEAM_OPTION = '@squad_team';

/** Prints which pane was made, in which window. */
const PRINT = ['-P', '-F', '#{window_id} #{pane_id}'];

/** For a screen that nobody has attached to yet; it becomes as large as the terminal that does. */
const DETACHED = ['-x', '200', '-y', '50'];

/** Arguments for tmux itself; each an array of its own. What a pane runs is never read by a shell. */
export function newSession(team: string, pane: TerminalPane): string[] {
  return literal(['new-session', '-d', ...DETACHED, '-s', team, '-n', 'team', ...PRINT, ...program(pane)]);
}

/** In the session that the person is in. */
export function newWindow(team: string, pane: TerminalPane): string[] {
  return literal(['new-window', '-n', team, ...PRINT, ...program(pane)]);
}

/** One more window in the team's own session. */
export function nextWindow(session: string, pane: TerminalPane): string[] {
  return literal(['new-window', '-d', '-t', `=${session}:`, '-n', 'team', ...PRINT, ...program(pane)]);
}

/** Behind that pane, in the order of their numbers. */
export function splitWindow(paneId: string, pane: TerminalPane): string[] {
  return literal(['split-window', '-d', '-t', paneId, ...PRINT, ...program(pane)]);
}

/** What is typed goes to this pane. */
export function lookAt(paneId: string): readonly string[][] {
  return [
    ['select-window', '-t', paneId],
    ['select-pane', '-t', paneId],
  ];
}

/** All panes of one size: there is room for the next again. */
export function tile(window: string): string[] {
  return ['select-layout', '-t', window, 'tiled'];
}

/** How a window of a team looks, and what it remembers. */
export function dressWindow(team: string, window: string): readonly string[][] {
  const set = (...option: string[]): string[] => ['set-option', '-w', '-t', window, ...option];
  return [
    set('remain-on-exit', 'on'),
    set(TEAM_OPTION, team),
    set('pane-border-status', 'top'),
    set('pane-border-format', ' #{?pane_active,#[bold],}#{pane_index} #{pane_title} '),
    set('automatic-rename', 'off'),
    set('allow-rename', 'off'),
  ];
}

/** The title that people see, and what becomes of the pane once its program has ended. */
export function dressPane(paneId: string, { title, stays }: TerminalPane): readonly string[][] {
  return [
    literal(['select-pane', '-t', paneId, '-T', title.replaceAll('#', '_')]),
    // Never `failed`: tmux 3.3a on a busy machine misses how the program ended, and keeps the pane for ever.
    ['set-option', '-p', '-t', paneId, 'remain-on-exit', stays ? 'on' : 'off'],
  ];
}

function program(pane: TerminalPane): string[] {
  const variables = Object.entries(pane.environment).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  return [...variables, '--', ...inFolder(pane)];
}

/** tmux ends a command where an argument ends in a semicolon, unless a backslash stands before it. */
function literal(args: readonly string[]): string[] {
  return args.map((arg) => (arg.endsWith(';') ? `${arg.slice(0, -1)}\\;` : arg));
}
