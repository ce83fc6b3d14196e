import { pickVariables } from '../../text/defined.ts';
import type { Processes } from '../ports/processes.ts';
import type { Terminal } from '../ports/terminal.ts';
import { createAppleTerminal, iterm2Script, terminalAppScript } from './apple-terminal.ts';
import { createTmux } from './tmux.ts';

interface TerminalPorts {
  readonly processes: Pick<Processes, 'run'>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** By its name in `team.terminal`. Has no side effects. */
export function createTerminal(name: 'tmux' | 'terminal' | 'iterm2', ports: TerminalPorts): Terminal {
  const environment = pickVariables(ports.environment, Object.keys(ports.environment));
  switch (name) {
    case 'tmux':
      return createTmux({ ...ports, environment });
    case 'terminal':
      return createAppleTerminal({ ...ports, environment }, 'Terminal.app', terminalAppScript);
    case 'iterm2':
      return createAppleTerminal({ ...ports, environment }, 'iTerm2', iterm2Script);
  }
}
