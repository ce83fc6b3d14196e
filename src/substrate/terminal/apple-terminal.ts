import { badInput, wrongEnvironment } from '../../model/errors.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { Processes } from '../ports/processes.ts';
import type { Terminal, TerminalPane } from '../ports/terminal.ts';
import { withEnvironment } from './tmux.ts';

const TIMEOUT_MS = 60_000;

interface ApplePorts {
  readonly processes: Pick<Processes, 'run'>;
  readonly environment: Readonly<Record<string, string>>;
  readonly platform: NodeJS.Platform;
}

/** Opens windows of a macOS application by a generated script. Afterwards it cannot tell which windows belong to a team. */
export function createAppleTerminal(
  { processes, environment, platform }: ApplePorts,
  application: string,
  scriptOf: (panes: readonly TerminalPane[]) => string,
): Terminal {
  const next = 'Use tmux: `squad team --terminal tmux`.';
  const check = platform === 'darwin' ? { ok: true } : { ok: false, why: `${application} exists on macOS only`, next };
  return {
    check: () => Promise.resolve(check as Awaited<ReturnType<Terminal['check']>>),
    isOpen: () => Promise.resolve(false),
    open: async (_team, panes) => {
      const { code, stderr, problem } = await processes.run('/usr/bin/osascript', ['-e', scriptOf(panes)], {
        kind: 'terminal',
        env: environment,
        timeoutMs: TIMEOUT_MS,
      });
      if (code === 0) return;
      throw wrongEnvironment(
        `${application} opened no windows: ${(problem ?? stderr).trim().slice(-400)}`,
        'Allow it in System Settings, Privacy & Security, Automation; or use tmux: `squad team --terminal tmux`.',
      );
    },
    close: () => {
      throw wrongEnvironment(
        `squad cannot distinguish its windows of ${application} from yours`,
        'Close the windows yourself, or type /quit in each.',
      );
    },
    attach: () => undefined,
  };
}

/**
 * A Terminal.app window for each pane. Terminal.app can only start a program as the first command of a new shell. Not tested on
 * macOS.
 */
export function terminalAppScript(panes: readonly TerminalPane[]): string {
  return script('Terminal', panes, (pane) => [
    `set squadTab to do script ${appleText(`exec ${shellLine(withEnvironment(pane))}`)}`,
    `set custom title of squadTab to ${appleText(pane.title)}`,
  ]);
}

/** An iTerm2 window for each pane, with the program in it and no shell around it. Not tested on macOS. */
export function iterm2Script(panes: readonly TerminalPane[]): string {
  return script('iTerm2', panes, (pane) => {
    // iTerm2 splits the text into words by its own rules, so a shell gets the command as one word.
    const command = `/bin/sh -c ${shellWord(`exec ${shellLine(withEnvironment(pane))}`)}`;
    return [
      `set squadWindow to (create window with default profile command ${appleText(command)})`,
      `tell current session of squadWindow to set name to ${appleText(pane.title)}`,
    ];
  });
}

function script(
  application: string,
  panes: readonly TerminalPane[],
  statements: (pane: TerminalPane) => readonly string[],
): string {
  const lines = ['activate', ...panes.flatMap(statements)].map((line) => `\t${line}`);
  return [`tell application ${appleText(application)}`, ...lines, 'end tell', ''].join('\n');
}

/** A POSIX shell's command line for exactly these words. Throws `bad-input` for a control character. */
export function shellLine(words: readonly string[]): string {
  for (const word of words) refuseControl(word);
  return words.map(shellWord).join(' ');
}

/** An AppleScript text. Throws `bad-input` for a control character: a line break would end the statement. */
export function appleText(text: string): string {
  refuseControl(text);
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Also refuses characters that look like a line break, and lone surrogates, which would arrive changed. */
function refuseControl(text: string): void {
  if (!/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text) && text.isWellFormed()) return;
  throw badInput(
    `cannot pass ${JSON.stringify(text.slice(0, 80))} to a terminal: it contains a control character`,
    'Rename the folder or file so that its path has no control characters.',
  );
}
