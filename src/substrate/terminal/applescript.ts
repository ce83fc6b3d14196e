import type { TerminalPane } from '../ports/terminal.ts';
import { withEnvironment } from './pane-command.ts';
import { appleText, shellLine, shellWord } from './quoting.ts';

/**
 * A window of Terminal.app for each pane. The line is the first command of a new shell of its own: Terminal.app knows no
 * other way to start a program. Never tried on macOS.
 */
export function terminalAppScript(panes: readonly TerminalPane[]): string {
  return script('Terminal', panes, (pane) => [
    `set squadTab to do script ${appleText(`exec ${shellLine(withEnvironment(pane))}`)}`,
    `set custom title of squadTab to ${appleText(pane.title)}`,
  ]);
}

/** A window of iTerm2 for each pane, with the program in it and no shell around it. Never tried on macOS. */
export function iterm2Script(panes: readonly TerminalPane[]): string {
  return script('iTerm2', panes, (pane) => [
    // iTerm2 splits the text into words itself; a shell that gets one word reads the rest as POSIX says.
    `set squadWindow to (create window with default profile command ${appleText(`/bin/sh -c ${shellWord(`exec ${shellLine(withEnvironment(pane))}`)}`)})`,
    `tell current session of squadWindow to set name to ${appleText(pane.title)}`,
  ]);
}

function script(
  application: string,
  panes: readonly TerminalPane[],
  statements: (pane: TerminalPane) => readonly string[],
): string {
  const lines = ['activate', ...panes.flatMap(statements)].map((line) => `\t${line}`);
  return [`tell application ${appleText(application)}`, ...lines, 'end tell', ''].join('\n');
}
