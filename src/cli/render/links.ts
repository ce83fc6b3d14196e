import { pathToFileURL } from 'node:url';

/** Variables that only terminals set which take OSC 8. tmux and screen hide them behind a TERM of their own. */
const BY_VARIABLE = ['KITTY_WINDOW_ID', 'WT_PROFILE_ID', 'KONSOLE_VERSION', 'WEZTERM_PANE', 'ALACRITTY_WINDOW_ID'];
const BY_PROGRAM: ReadonlySet<string> = new Set(['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper', 'Tabby', 'rio']);
/** The first VTE (GNOME Terminal and others) without a fault in its links. */
const VTE = 5000;
const MULTIPLEXED = /^(?:tmux|screen|dumb|linux)/;

/** Whether a terminal is known to show links. In doubt it is not: others would print the address. */
export function takesLinks(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { TERM = '', TERM_PROGRAM = '', VTE_VERSION, CI } = environment;
  if ((CI !== undefined && CI !== '') || TERM === '' || MULTIPLEXED.test(TERM)) return false;
  if (BY_PROGRAM.has(TERM_PROGRAM) || Number(VTE_VERSION) >= VTE) return true;
  return BY_VARIABLE.some((name) => (environment[name] ?? '') !== '');
}

const PATH = /(?<=^|\s)\/[^\s\u0000-\u001f\u007f]+$/;

/** A line whose last word is an absolute path, with that path as a link (OSC 8). */
export function withLink(line: string): string {
  return line.replace(PATH, (path) => `\u001b]8;;${pathToFileURL(path).href}\u001b\\${path}\u001b]8;;\u001b\\`);
}
