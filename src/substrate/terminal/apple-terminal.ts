import { SquadError } from '../../model/errors.ts';
import type { Processes } from '../ports/processes.ts';
import type { Terminal, TerminalPane } from '../ports/terminal.ts';

const TIMEOUT_MS = 60_000;

interface ApplePorts {
  readonly processes: Pick<Processes, 'run'>;
  readonly environment: Readonly<Record<string, string>>;
  readonly platform: NodeJS.Platform;
}

/** Windows of an application of macOS, by a generated script. Which of its windows are a team's is not known afterwards. */
export function createAppleTerminal(
  { processes, environment, platform }: ApplePorts,
  application: string,
  scriptOf: (panes: readonly TerminalPane[]) => string,
): Terminal {
  return {
    check: () =>
      Promise.resolve(
        platform === 'darwin'
          ? { ok: true }
          : {
              ok: false,
              why: `${application} is there on macOS only`,
              next: 'Use tmux: `squad team --terminal tmux`.',
            },
      ),
    isOpen: () => Promise.resolve(false),
    open: async (_team, panes) => {
      const { code, stderr, problem } = await processes.run('/usr/bin/osascript', ['-e', scriptOf(panes)], {
        env: environment,
        timeoutMs: TIMEOUT_MS,
      });
      if (code === 0) return;
      throw new SquadError({
        code: 'wrong-environment',
        message: `${application} opened no windows: ${(problem ?? stderr).trim().slice(-400)}`,
        next: 'Allow it in System Settings, Privacy & Security, Automation; or use tmux: `squad team --terminal tmux`.',
      });
    },
    close: () => {
      throw new SquadError({
        code: 'wrong-environment',
        message: `squad cannot tell its windows of ${application} from yours`,
        next: 'Close them by hand, or write /quit in each.',
      });
    },
    attach: () => undefined,
  };
}
