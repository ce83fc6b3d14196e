import type { TerminalPane } from '../ports/terminal.ts';

/** Runs the command in the pane's folder. Not by tmux's own option, which reads the folder as a format and runs `#(…)` in it. */
export function inFolder({ directory, command }: Pick<TerminalPane, 'directory' | 'command'>): readonly string[] {
  return ['/bin/sh', '-c', 'cd "$1" && shift && exec "$@"', 'squad', directory, ...command];
}

/** The same with the pane's variables, for terminals that take only a command. */
export function withEnvironment(pane: Pick<TerminalPane, 'directory' | 'command' | 'environment'>): readonly string[] {
  const variables = Object.entries(pane.environment).map(([name, value]) => `${name}=${value}`);
  return inFolder({ ...pane, command: ['/usr/bin/env', ...variables, ...pane.command] });
}
