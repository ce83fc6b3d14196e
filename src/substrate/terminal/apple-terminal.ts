import { SquadError } from '../../model/errors.ts';
import type { Processes } from '../ports/processes.ts';
import type { Terminal, TerminalPane } from '../ports/terminal.ts';
import { withEnvironment } from './pane-command.ts';

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

/** Without `=`: an interactive zsh reads a word that begins with it as a program's path. */
const PLAIN = /^[A-Za-z0-9_/.:@%+,-]+$/;

/** One word of a POSIX shell that is this text, whatever is in it. Throws `bad-input` for a control character. */
export function shellWord(text: string): string {
  refuseControl(text);
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A line of a POSIX shell that runs exactly this command. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

/** A text of AppleScript. Throws `bad-input` for a control character: a line break in a script would end the statement. */
export function appleText(text: string): string {
  refuseControl(text);
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Also what only looks like a line break, and half a character, which no program would get as it is. */
function refuseControl(text: string): void {
  if (!/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text) && text.isWellFormed()) return;
  throw new SquadError({
    code: 'bad-input',
    message: `a terminal cannot be told ${JSON.stringify(text.slice(0, 80))}: it holds a control character`,
    next: 'Rename the folder or file; a path without control characters works.',
  });
}
