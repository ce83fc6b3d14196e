import { readShell, type ShellToken } from '../../text/shell-text.ts';
import { pathFrom } from './repository-path.ts';

/** One command of a shell's line. */
export interface ShellCommand {
  /** With its assignments in front. A word ends before its first variable. */
  readonly words: readonly string[];
  /** The folder in which it runs, from the root of the repository; the root is ''. */
  readonly folder: string;
  /** Its output goes into the next command, whose exit status counts. */
  readonly isPiped: boolean;
}

/** Words that only group or negate commands. */
const LANGUAGE = ['!', '{', '}', 'if', 'then', 'elif', 'else', 'fi', 'while', 'until', 'do', 'done', 'time'];
/** Where the working folder is written out. */
const HERE = /(?:\$PWD|\$\{PWD\}|\$\(pwd\)|`pwd`)\//g;

/** The commands of a line for a shell, in their order, as they would run in this folder. Runs nothing. */
export function shellCommands(line: string, folder: string): ShellCommand[] {
  const text = line.replaceAll(HERE, './');
  const read = readShell(text, 'kept');
  // Where only a shell can know the words, each part that could be a command counts as one.
  return read.type === 'tokens' ? fromTokens(read.tokens, folder) : placed(roughCommands(text), folder);
}

function fromTokens(tokens: readonly ShellToken[], start: string): ShellCommand[] {
  const found: ShellCommand[] = [];
  const outer: string[] = [];
  let folder = start;
  let words: string[] = [];
  let redirected = '';
  const close = (isPiped: boolean): void => {
    const own = withoutLanguage(words);
    words = [];
    if (own.length === 0) return;
    found.push({ words: own, folder, isPiped });
    folder = folderAfter(own, folder);
  };
  for (const token of tokens) {
    if (token.type === 'operator') {
      close(token.text === '|');
      if (token.text === '(') outer.push(folder);
      if (token.text === ')') folder = outer.pop() ?? folder;
    } else if (token.type === 'redirection') redirected = token.text;
    else {
      // A file that a command reads counts as a checker. One that it writes does not.
      if (redirected === '' || redirected.endsWith('<')) words.push(token.value);
      redirected = '';
    }
  }
  close(false);
  return found;
}

function roughCommands(text: string): string[][] {
  return text.split(/&&|\|\||[;|&\n()`]|\$\(/).map((part) =>
    part
      .replaceAll(/["'\\{}]/g, ' ')
      .split(/\s+/)
      .filter((word) => word !== ''),
  );
}

function placed(commands: readonly string[][], start: string): ShellCommand[] {
  let folder = start;
  return commands.flatMap((all): ShellCommand[] => {
    const words = withoutLanguage(all);
    if (words.length === 0) return [];
    const command = { words, folder, isPiped: false };
    folder = folderAfter(words, folder);
    return [command];
  });
}

function withoutLanguage(words: readonly string[]): string[] {
  const first = words.findIndex((word) => !LANGUAGE.includes(word));
  return first === -1 ? [] : words.slice(first);
}

function folderAfter([program, ...args]: readonly string[], folder: string): string {
  if (program !== 'cd' && program !== 'pushd') return folder;
  const to = args.find((word) => !word.startsWith('-'));
  return (to === undefined || to === '' ? undefined : pathFrom(folder, to)) ?? folder;
}
