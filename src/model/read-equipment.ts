import { readShell, type ShellToken, type ShellWord } from '../text/shell-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { FOLDER, IN_A_FILE, readCommand, type EquipPaths, type NamedPath, type Word } from './command-words.ts';

/** The command of a server or hook, read. `Text`: a list of words, or one text for a shell. */
export interface Reading<Text> {
  readonly paths: readonly NamedPath[];
  readonly downloads: readonly string[];
  /** Why it must not start, and what to write instead. */
  readonly problem?: string | undefined;
  /** With copies in place of files of the repository, and with the agent's folder. */
  render(paths: EquipPaths): Text;
}

type Cwd = { readonly cwd?: 'task' | undefined };

/** The words of a server, the program first. No shell reads them. */
export function readServer({
  command,
  args = [],
  cwd,
}: Cwd & { readonly command: string; readonly args?: readonly string[] | undefined }): Reading<string[]> {
  const words = [command, ...args];
  const inTask = cwd === 'task';
  const read = readCommand(
    words.map((text) => ({ text, value: text, beginning: text, variables: [] })),
    { inShell: false, inTask },
  );
  const code = read.shell === undefined ? undefined : words[read.shell];
  const inner = code === undefined ? undefined : readShellText(code, inTask, 1);
  return {
    ...together([read, ...(inner === undefined ? [] : [inner])]),
    render: (paths) =>
      words.map((word, index) =>
        inner !== undefined && index === read.shell ? inner.render(paths) : read.rewrite(index, word, paths),
      ),
  };
}

/** The text of a hook, which a shell reads. */
export function readHook({ run, cwd }: Cwd & { readonly run: string }): Reading<string> {
  return readShellText(run, cwd === 'task', 0);
}

const MOST_NESTED = 4;

function readShellText(text: string, inTask: boolean, depth: number): Reading<string> {
  const read = depth > MOST_NESTED ? ({ type: 'unreadable', what: 'shells in shells' } as const) : readShell(text);
  if (read.type === 'unreadable') return unread(text, inTask, `squad cannot read ${read.what} in it. ${IN_A_FILE}`);
  const parts = partsOf(read.tokens);
  if (typeof parts === 'string') return unread(text, inTask, parts);
  const edits: Edit[] = [];
  const readings = parts.commands.map((words) => {
    const command = readCommand(
      words.map((word) => wordOf(word, text)),
      { inShell: true, inTask },
    );
    const at = command.shell;
    const code = at === undefined ? undefined : words[at];
    const inner = code?.variables.length === 0 ? readShellText(code.value, inTask, depth + 1) : undefined;
    for (const [index, word] of words.entries()) {
      const isInner = inner !== undefined && index === at;
      if (word.variables.length > 0) continue;
      edits.push({ word, to: (paths) => (isInner ? inner.render(paths) : command.rewrite(index, word.value, paths)) });
    }
    return together([command, ...(inner === undefined ? [] : [inner])]);
  });
  for (const word of parts.inputs) {
    const path = word.value;
    readings.push({ paths: [{ path, must: !inTask }], downloads: [] });
    edits.push({ word, to: ({ copyOf }) => copyOf(path) ?? path });
  }
  const mixed = parts.commands
    .flat()
    .find((word) => word.variables.length > 0 && sourceOf(word, text).includes(FOLDER));
  const problem =
    mixed === undefined
      ? undefined
      : `${FOLDER} is in a word with a variable. Write "$SQUAD_TASK_FOLDER" there, which is the same folder`;
  const own = { paths: [], downloads: [], problem: problem ?? (inTask ? undefined : parts.problem) };
  return { ...together([own, ...readings]), render: (paths) => spliced(text, edits, paths) };
}

/** In a cage it may be what it likes, as long as squad has nothing to put into it. */
function unread(text: string, inTask: boolean, problem: string): Reading<string> {
  const refused = inTask
    ? `squad cannot put ${FOLDER} into a text that only a shell can read. Write "$SQUAD_TASK_FOLDER" there, which is the same folder`
    : problem;
  const isRefused = !inTask || text.includes(FOLDER);
  return { paths: [], downloads: [], problem: isRefused ? refused : undefined, render: () => text };
}

type Facts = Omit<Reading<unknown>, 'render'>;

function together(readings: readonly Facts[]): Facts {
  return {
    paths: readings.flatMap(({ paths }) => paths),
    downloads: readings.flatMap(({ downloads }) => downloads),
    problem: readings.find(({ problem }) => problem !== undefined)?.problem,
  };
}

interface Edit {
  readonly word: ShellWord;
  readonly to: (paths: EquipPaths) => string;
}

/** Words without an edit keep their quotes. */
function spliced(text: string, edits: readonly Edit[], paths: EquipPaths): string {
  let [made, at] = ['', 0];
  for (const { word, to } of edits.toSorted((one, other) => one.word.start - other.word.start)) {
    const value = to(paths);
    if (value === word.value) continue;
    made += text.slice(at, word.start) + shellWord(value);
    at = word.end;
  }
  return made + text.slice(at);
}

function sourceOf({ start, end }: ShellWord, text: string): string {
  return text.slice(start, end);
}

function wordOf(word: ShellWord, text: string): Word {
  const { value, variables } = word;
  const isLiteral = variables.length === 0;
  return { text: sourceOf(word, text), value: isLiteral ? value : undefined, beginning: value, variables };
}

interface Parts {
  readonly commands: ShellWord[][];
  /** Files of the repository that commands read by `<`. */
  readonly inputs: ShellWord[];
  readonly problem?: string | undefined;
}

const GROUPS = ['!', '{', '}', 'if', 'then', 'elif', 'else', 'fi', 'while', 'until', 'do', 'done'];
const UNREAD = ['for', 'case', 'select', 'function', 'in', 'esac', '[['];
const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** The simple commands of a text; a string: why squad cannot tell them apart. */
function partsOf(tokens: readonly ShellToken[]): Parts | string {
  const parts = { commands: [] as ShellWord[][], inputs: [] as ShellWord[], problem: undefined as string | undefined };
  let words: ShellWord[] = [];
  const say = (problem: string | undefined): void => {
    parts.problem ??= problem;
  };
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1];
    if (token.type === 'operator') {
      if (token.text === '(' && before?.type === 'word' && words.length > 0)
        return `squad cannot read a function in it. ${IN_A_FILE}`;
      if (words.length > 0) parts.commands.push(words);
      words = [];
    } else if (token.type === 'redirection') {
      if (tokens[index + 1]?.type !== 'word') return `squad cannot read \`${token.text}\` in it. ${IN_A_FILE}`;
    } else if (before?.type === 'redirection') {
      if (isInput(before.text, token)) parts.inputs.push(token);
      else say(targetProblem(before.text, token));
    } else if (words.length > 0) {
      words.push(token);
    } else if (token.isPlain && UNREAD.includes(token.value)) {
      return `squad cannot read \`${token.value}\` in it. ${IN_A_FILE}`;
    } else if (ASSIGNMENT.test(token.value)) {
      say(assignmentProblem(token));
    } else if (!token.isPlain || !GROUPS.includes(token.value)) {
      words.push(token);
    }
  }
  if (words.length > 0) parts.commands.push(words);
  return parts;
}

function isInput(redirection: string, { value, variables }: ShellWord): boolean {
  return redirection.endsWith('<') && variables.length === 0 && !/^[/~]|\{folder\}/.test(value);
}

function targetProblem(redirection: string, { value, variables }: ShellWord): string | undefined {
  if (redirection.endsWith('&') && /^(?:\d+|-)$/.test(value)) return undefined;
  if (variables.length === 0 && value.startsWith('/')) return undefined;
  return `it starts in an empty folder, so \`${redirection}\` needs an absolute path behind it. In the agent’s folder a link could lead it anywhere`;
}

/** Refuses the agent's folder in `PATH`, `NODE_OPTIONS` and the like, which name code to run. */
function assignmentProblem({ value, variables }: ShellWord): string | undefined {
  if (!value.includes(FOLDER) && !variables.includes('SQUAD_TASK_FOLDER')) return undefined;
  return `a variable must not hold the agent’s folder. SQUAD_TASK_FOLDER already does`;
}
