import { asObject, fieldsOf } from '../../text/json.ts';
import { nextWord } from '../wrapper-programs.ts';
import type { CheckerPart } from './checker-part.ts';
import { pathFrom } from './repository-path.ts';

/** A target of a Makefile, or a recipe of a justfile. */
interface Recipe {
  /** All lines of it and of what it needs, as they are written, with the variables of the file if it uses any. */
  readonly text: string;
  /** Lines for a shell. */
  readonly commands: readonly string[];
}

interface Rule {
  readonly needs: readonly string[];
  readonly lines: readonly string[];
  readonly text: string;
}

const HEADER = /^(@?[^\s#:=][^:=#]*?)\s*(::?)(?!=)(.*)$/;
const ASSIGNMENT = /^(?:export\s+|override\s+)*([\w.-]+)\s*(?:[:?+!]*)=\s*(.*)$/;
/** Only its program knows what these make of the file. */
const COMPLEX = /^(?:-?s?include|define|ifn?eq|ifn?def|import|mod)\b/m;

/** The scripts and programs that a call of a package manager runs. */
export interface PackageCall {
  readonly folder: string;
  readonly parts: readonly CheckerPart[];
  /** For a shell, in that folder. */
  readonly lines: readonly string[];
  /** A program, with its words; absent: none but that. */
  readonly command?: readonly string[];
  /** It runs scripts of packages that only it knows. */
  readonly isEverywhere: boolean;
}

const FOLDER_OPTIONS = ['--prefix', '-C', '--dir', '--cwd', '--directory'];
const VALUES = [...FOLDER_OPTIONS, '-w', '--workspace', '--filter', '-F', '--loglevel', '--registry', '--cache'];
const RUN = ['run', 'run-script', 'rum', 'urn'];
const SHORT: Readonly<Record<string, string>> = {
  t: 'test',
  tst: 'test',
  test: 'test',
  start: 'start',
  stop: 'stop',
  restart: 'restart',
};
const BUILT_IN = new Set(
  (
    'install i ci add remove rm update up upgrade link unlink publish pack audit outdated init create config set get why list ls info ' +
    'view cache prune dedupe rebuild import fetch store patch env setup login logout whoami version help workspaces plugin node root'
  ).split(' '),
);

/** undefined: the program is no package manager, or its words say nothing of a script. */
export function packageCall(
  name: string,
  args: readonly string[],
  folder: string,
  read: (path: string) => string | null,
): PackageCall | undefined {
  if (['npm-run-all', 'run-s', 'run-p', 'concurrently'].includes(name)) return several(name, args, folder, read);
  if (['turbo', 'nx', 'lerna', 'wireit', 'moon', 'rush'].includes(name)) return everywhere(folder);
  if (name === 'node') {
    const at = args.findIndex((word) => /^--run(?:=|$)/.test(word));
    if (at === -1) return undefined;
    const script = args[at]?.split('=')[1] ?? args[at + 1] ?? '';
    return scriptCall(folder, script, '', read);
  }
  if (name === 'deno') return args[0] === 'task' ? taskCall(folder, args[1] ?? '', read) : undefined;
  if (!['npm', 'cnpm', 'pnpm', 'yarn', 'bun'].includes(name)) return undefined;
  const at = nextWord(args, 0, VALUES);
  const own = pathFrom(folder, optionOf(args, FOLDER_OPTIONS) ?? '.') ?? folder;
  const verb = args[at] ?? '';
  const isOfAll =
    args.some((word) => /^(?:-r|--recursive|-ws|--workspaces|--filter(?:=.*)?|-F)$/.test(word)) ||
    verb === 'workspaces';
  const of = packageFolder(args, own, read);
  if (RUN.includes(verb)) {
    const script = nextWord(args, at + 1, VALUES);
    const found = scriptCall(of, args[script] ?? '', rest(args, script), read);
    return isOfAll ? { ...found, isEverywhere: true } : found;
  }
  if (name === 'npm' || name === 'cnpm') {
    const script = SHORT[verb];
    if (script === undefined) return nothing(of);
    const found = scriptCall(of, script, rest(args, at), read);
    return isOfAll ? { ...found, isEverywhere: true } : found;
  }
  if (name === 'bun' && verb === 'test') return undefined;
  if (name === 'yarn' && verb === 'workspace')
    return packageCall('yarn', args.slice(at + 2), workspaceOf(own, args[at + 1] ?? '', read), read);
  if (verb === '' || BUILT_IN.has(verb)) return nothing(of);
  const script = SHORT[verb] ?? verb;
  const found = scriptCall(of, script, rest(args, at), read);
  if (found.parts.length > 0 || SHORT[verb] !== undefined) return isOfAll ? { ...found, isEverywhere: true } : found;
  // A file, for bun; a program of a package, for the others.
  if (name === 'bun') return undefined;
  return { ...nothing(of), command: args.slice(at) };
}

function several(
  name: string,
  args: readonly string[],
  folder: string,
  read: (path: string) => string | null,
): PackageCall {
  const isScript = name !== 'concurrently';
  const words = args.filter((word) => !word.startsWith('-'));
  const calls = words.map((word): PackageCall => {
    const script = isScript ? word : /^(?:npm|pnpm|yarn|bun|node):(.+)$/.exec(word)?.[1];
    if (script === undefined) return { ...nothing(folder), lines: [word] };
    return matching(folder, script, read);
  });
  return {
    folder,
    parts: calls.flatMap(({ parts }) => parts),
    lines: calls.flatMap(({ lines }) => lines),
    isEverywhere: false,
  };
}

/** All scripts that a name with stars means. */
function matching(folder: string, name: string, read: (path: string) => string | null): PackageCall {
  if (!name.includes('*')) return scriptCall(folder, name.split(' ')[0] ?? '', '', read);
  const start = name.slice(0, name.indexOf('*'));
  const scripts = Object.keys(scriptsIn(read(manifestOf(folder)) ?? '')).filter((one) => one.startsWith(start));
  const calls = scripts.map((one) => scriptCall(folder, one, '', read));
  return {
    folder,
    parts: calls.flatMap(({ parts }) => parts),
    lines: calls.flatMap(({ lines }) => lines),
    isEverywhere: false,
  };
}

/** A script with those that run before and after it. A package without a manifest of its own is part of the one at the root. */
function scriptCall(folder: string, script: string, more: string, read: (path: string) => string | null): PackageCall {
  const own = read(manifestOf(folder));
  const at = own === null && folder !== '' ? '' : folder;
  const path = manifestOf(at);
  const scripts = scriptsIn((at === folder ? own : read(path)) ?? '');
  const main = scripts[script];
  if (typeof main !== 'string') return nothing(at);
  const before = textOf(scripts[`pre${script}`]);
  const after = textOf(scripts[`post${script}`]);
  const text = [before, main, after].join('\n');
  const lines = [before, more === '' ? main : `${main} ${more}`, after].filter((line) => line !== '');
  return { folder: at, parts: [{ path, name: `script ${script}`, text }], lines, isEverywhere: false };
}

function taskCall(folder: string, task: string, read: (path: string) => string | null): PackageCall {
  for (const file of ['deno.json', 'deno.jsonc']) {
    const path = pathFrom(folder, file) ?? '';
    const found = asObject(fieldsOf(read(path) ?? '')['tasks'])[task];
    const line = typeof found === 'string' ? found : textOf(asObject(found)['command']);
    if (line !== '')
      return { folder, parts: [{ path, name: `task ${task}`, text: line }], lines: [line], isEverywhere: false };
  }
  return nothing(folder);
}

function packageFolder(args: readonly string[], folder: string, read: (path: string) => string | null): string {
  const workspace = optionOf(args, ['-w', '--workspace']);
  return workspace === undefined ? folder : workspaceOf(folder, workspace, read);
}

function workspaceOf(folder: string, workspace: string, read: (path: string) => string | null): string {
  const short = workspace.replace(/^@[^/]+\//, '');
  const places = [workspace, short, `packages/${short}`, `apps/${short}`].flatMap((one) => pathFrom(folder, one) ?? []);
  return places.find((place) => read(manifestOf(place)) !== null) ?? folder;
}

function optionOf(args: readonly string[], names: readonly string[]): string | undefined {
  for (const [index, word] of args.entries()) {
    if (word === '--') return undefined;
    const [name = '', value] = word.split(/=(.*)/s);
    if (names.includes(name)) return value ?? args[index + 1];
  }
  return undefined;
}

function rest(args: readonly string[], at: number): string {
  return args
    .slice(at + 1)
    .filter((word) => word !== '--')
    .map((word) => (/^[\w./@%+=:,*-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ');
}

function manifestOf(folder: string): string {
  return folder === '' ? 'package.json' : `${folder}/package.json`;
}

function scriptsIn(text: string): Readonly<Record<string, unknown>> {
  return asObject(fieldsOf(text)['scripts']);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function nothing(folder: string): PackageCall {
  return { folder, parts: [], lines: [], isEverywhere: false };
}

function everywhere(folder: string): PackageCall {
  return { ...nothing(folder), isEverywhere: true };
}

/** undefined: the file is not so simple that its lines say what the target is, or it does not have it. `target`: absent, the first one. */
export function recipeOf(source: string, target: string | undefined): Recipe | undefined {
  const text = source.replaceAll(/\\\r?\n[ \t]*/g, ' ');
  if (COMPLEX.test(text)) return undefined;
  const { rules, variables } = rulesIn(text);
  const first = [...rules.keys()].find((name) => !name.startsWith('.') && !name.includes('%'));
  const wanted = target ?? first;
  if (wanted === undefined || !rules.has(wanted)) return undefined;
  const parts = closureOf(rules, wanted);
  const own = parts.map((rule) => rule.text).join('\n');
  const uses = /\$[({]\w|\{\{/.test(own);
  return {
    text: uses ? `${own}\n${[...variables].map(([name, value]) => `${name}=${value}`).join('\n')}` : own,
    commands: parts.flatMap(({ lines }) => lines.map((line) => commandOf(line, variables))),
  };
}

function rulesIn(text: string): { rules: Map<string, Rule>; variables: Map<string, string> } {
  const rules = new Map<string, Rule>();
  const variables = new Map<string, string>();
  let names: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (/^[ \t]+\S/.test(line)) {
      for (const name of names) add(rules, name, { needs: [], lines: [line.trim()], text: line.trim() });
      continue;
    }
    const assigned = ASSIGNMENT.exec(line);
    if (assigned !== null) variables.set(assigned[1] ?? '', assigned[2] ?? '');
    const header = assigned === null ? HEADER.exec(line) : null;
    if (header === null) {
      if (line.trim() !== '' && !line.startsWith('#')) names = [];
      continue;
    }
    // A recipe of a justfile has its parameters behind its name.
    names = (header[1] ?? '').replace(/^@/, '').split(/\s+/);
    const [needs = '', inline = ''] = (header[3] ?? '').replace(/#.*$/, '').split(/;(.*)/s);
    const lines = inline.trim() === '' ? [] : [inline.trim()];
    for (const name of names)
      add(rules, name, { needs: needs.split(/[\s|&]+/).filter((word) => word !== ''), lines, text: line });
  }
  return { rules, variables };
}

function add(rules: Map<string, Rule>, name: string, more: Rule): void {
  const before = rules.get(name);
  rules.set(
    name,
    before === undefined
      ? more
      : {
          needs: [...before.needs, ...more.needs],
          lines: [...before.lines, ...more.lines],
          text: `${before.text}\n${more.text}`,
        },
  );
}

function closureOf(rules: ReadonlyMap<string, Rule>, target: string): Rule[] {
  const seen = new Set([target]);
  for (const name of seen) for (const need of rules.get(name)?.needs ?? []) seen.add(need);
  return [...seen].flatMap((name) => rules.get(name) ?? []);
}

function commandOf(line: string, variables: ReadonlyMap<string, string>): string {
  const filled = line.replaceAll(
    /\$[({]([\w.-]+)[)}]|\{\{\s*([\w-]+)\s*\}\}/g,
    (whole, one?: string, other?: string) => {
      const name = one ?? other ?? '';
      return name === 'MAKE' ? 'make' : (variables.get(name) ?? whole);
    },
  );
  return filled.replace(/^[@+-]+\s*/, '').replaceAll('$$', '$');
}
