import { onTestFinished } from 'vitest';
import type { RunBench } from '../runs/run-bench.ts';
import { CLI_ENTRY } from './cli-entry.ts';
import { eventually, openTmuxRoom } from './tmux.ts';

/** The command line, as a shell types it. */
export const SQUAD = `${process.execPath} ${CLI_ENTRY}`;

/** Two shells in the repository, each in a terminal of its own. */
export function openShells(runs: Pick<RunBench, 'root' | 'repository'>) {
  const terminal = openTmuxRoom();
  onTestFinished(() => terminal.close());
  const open = (name: string) => {
    const tmux = (...args: string[]): string => terminal.tmux(name, ...args);
    const environment = ['env', `HOME=${runs.root}`, `XDG_STATE_HOME=${runs.root}/state`, 'PS1=shell> '];
    tmux('new-session', '-d', '-s', name, '-x', '100', '-y', '30', '-c', runs.repository, ...environment, 'sh', '-i');
    const seen = (): string => tmux('capture-pane', '-p', '-t', name);
    return {
      type: (...keys: string[]): void => void tmux('send-keys', '-t', name, ...keys),
      shows: async (what: RegExp): Promise<string> =>
        eventually(String(what), () => (what.test(seen()) ? seen() : undefined), 60),
      history: (): string => terminal.screen(name, name),
    };
  };
  return [open('one'), open('two')] as const;
}
