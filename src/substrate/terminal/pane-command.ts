import type { TerminalPane } from '../ports/terminal.ts';

/**
 * Changes to the folder by its own arguments and goes on as the command: tmux reads a folder of its own option as a format,
 * in which `#(…)` is run.
 */
export function inFolder({ directory, command }: Pick<TerminalPane, 'directory' | 'command'>): readonly string[] {
  return ['/bin/sh', '-c', 'cd "$1" && shift && exec "$@"', 'squad', directory, ...command];
}

/** The same with its variables set, for terminals that can only be told a command. */
export function withEnvironment(pane: Pick<TerminalPane, 'directory' | 'command' | 'environment'>): readonly string[] {
  const variables = Object.entries(pane.environment).map(([name, value]) => `${name}=${value}`);
  return inFolder({ ...pane, command: ['/usr/bin/env', ...variables, ...pane.command] });
}
