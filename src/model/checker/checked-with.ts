import { fieldsOf } from '../../text/json.ts';
import type { CheckedWith, CheckerPart, ReadFile } from './checker-part.ts';
import { packageCall, recipeOf } from './package-calls.ts';
import { baseName, pathFrom } from './repository-path.ts';
import {
  JS_KEYS,
  looksLikeFile,
  optionValue,
  PYTHON_KEYS,
  sectionsOf,
  shellCommands,
  unwrap,
  VERB_WORDS,
} from './shell-commands.ts';
import { PROGRAM_FILES, SHARED_CONFIGS, toolOf, type Tool } from './tools.ts';
import { nextWord } from '../wrapper-programs.ts';

const MOST_DEPTH = 8;
const SHELL = /^(?:ba|da|z|k|mk|a|fi)?sh$/;
const INTERPRETER = /^(?:node|nodejs|tsx|ts-node|bun|deno|python[\d.]*|pypy[\d.]*|ruby|perl|php|lua[\d.]*|Rscript)$/;
const MAKE = /^(?:[gb]?make|just)$/;
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'];
const JUSTFILES = ['justfile', 'Justfile', '.justfile'];
/** Each of these reads one file of the working folder. */
const ONE_FILE: Readonly<Record<string, readonly string[]>> = {
  task: ['Taskfile.yml', 'Taskfile.yaml'],
  rake: ['Rakefile'],
  gulp: ['gulpfile.js', 'gulpfile.mjs'],
  grunt: ['Gruntfile.js'],
  invoke: ['tasks.py'],
  composer: ['composer.json'],
  'pre-commit': ['.pre-commit-config.yaml'],
  lefthook: ['lefthook.yml'],
};
/** Their value is the next word, and no path of tests. */
const VALUE_OPTIONS =
  /^(?:-[crk]|--(?:config|require|import|loader|env-file|reporter|setup-file|rootdir|testNamePattern|project))$/;
const CONFIG_OPTIONS =
  /^(?:-c|-p|--(?:config|configFile|project|rcfile|tsconfig|ruleset|config-file|configuration|setup-file|require))$/;
/** In a pipe the last program judges. Of the others' words, only a file with a name like this counts as a check. */
const LIKE_A_CHECK = /(?:^|[/._-])(?:tests?|specs?|checks?|verify|ci|lint|validate|assert|e2e|smoke)(?:[/._-]|$)/i;

export function checkedWith(commands: readonly string[], read: ReadFile): CheckedWith {
  const walk = new Walk(read);
  for (const command of commands) walk.line(command, '', 0);
  return walk;
}

class Walk implements CheckedWith {
  readonly files = new Set<string>();
  readonly folders = new Set<string>();
  readonly parts = new Map<string, CheckerPart>();
  readonly tests = new Map<string, Set<string>>();
  readonly configs = new Set<RegExp>();
  readonly wants = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #readFile: ReadFile;

  constructor(read: ReadFile) {
    this.#readFile = read;
  }

  line(text: string, folder: string, depth: number): void {
    const key = `${folder}\0${text}`;
    if (depth > MOST_DEPTH || this.#seen.has(key)) return;
    this.#seen.add(key);
    for (const { words, folder: own, isPiped } of shellCommands(text, folder)) {
      this.#command(words, { folder: own, isPiped, depth });
    }
  }

  #command(given: readonly string[], at: Place): void {
    const { words, before } = unwrap(given);
    for (const value of before) this.#name(value, at);
    const [program = '', ...args] = words;
    if (program === '') return;
    const name = baseName(program);
    if (program.includes('/')) this.#script(program, at);
    if (name === 'eval') return this.line(args.join(' '), at.folder, at.depth + 1);
    if (name === 'source' || name === '.') return this.#script(args[0] ?? '', at);
    if (name === 'find') return this.#execOf(args, at);
    if (SHELL.test(name)) return this.#shell(args, at);
    if (MAKE.test(name)) return this.#make(name, args, at);
    const called = packageCall(name, args, at.folder, (path) => this.#read(path));
    if (called !== undefined) return this.#package(called, at);
    const module = name.startsWith('py') ? args.indexOf('-m') : -1;
    if (module !== -1) return this.#command(args.slice(module + 1), at);
    for (const file of ONE_FILE[name] ?? []) this.#add(at.folder, file);
    const tool = toolOf(name, args);
    if (tool !== undefined) return this.#tool(tool, args, at);
    if (name.startsWith('node') && args.some((word) => word === '--check' || word === '-c')) return;
    if (INTERPRETER.test(name)) this.#interpreter(name, args, at);
    for (const word of args) this.#name(word, at);
  }

  #package(called: NonNullable<ReturnType<typeof packageCall>>, at: Place): void {
    for (const part of called.parts) this.#part(part);
    for (const line of called.lines) this.line(line, called.folder, at.depth + 1);
    if (called.command !== undefined)
      this.#command(called.command, { ...at, folder: called.folder, depth: at.depth + 1 });
    if (called.isEverywhere) this.#findTests(called.folder, '');
  }

  #shell(args: readonly string[], at: Place): void {
    const script = nextWord(args, 0, ['-o', '+o', '-O', '+O', '--rcfile', '--init-file']);
    const options = args.slice(0, script);
    if (options.some((word) => /^-[a-zA-Z]*c/.test(word)))
      return this.line(args[script] ?? '', at.folder, at.depth + 1);
    // It only reads it.
    if (options.some((word) => /^-[a-zA-Z]*n/.test(word))) return;
    this.#script(args[script] ?? '', at, true);
    for (const word of args.slice(script + 1)) this.#name(word, at);
  }

  /** A file that runs. A shell's script says what else does. */
  #script(word: string, { folder, depth }: Place, isShell = false): void {
    const path = word === '' ? undefined : pathFrom(folder, word);
    if (path === undefined || path === '' || /(?:^|\/)node_modules\//.test(path)) return;
    this.files.add(path);
    if (!isShell && /\.(?!(?:ba|z|k)?sh$)\w+$/.test(path)) return;
    const text = this.#read(path);
    if (typeof text !== 'string' || (!isShell && !/^#!.*sh\b/.test(text) && !path.endsWith('sh'))) return;
    this.line(text, folder, depth + 1);
  }

  #execOf(args: readonly string[], at: Place): void {
    const start = args.findIndex((word) => /^-(?:exec|execdir|ok)$/.test(word));
    if (start !== -1)
      this.#command(
        args.slice(start + 1).filter((word) => word !== '{}' && word !== ';'),
        at,
      );
  }

  #interpreter(name: string, args: readonly string[], at: Place): void {
    const inline = args.findIndex((word) => /^(?:-[a-z]*[ecp]|--eval|--print)$/.test(word));
    if (inline !== -1) {
      // The code names what it loads.
      for (const [, file = ''] of (args[inline + 1] ?? '').matchAll(/['"]([\w./-]+)['"]/g)) this.#name(file, at);
      return;
    }
    const verb = name === 'deno' || name === 'bun' ? ['run'] : [];
    const script = args.find((word) => !word.startsWith('-') && !verb.includes(word));
    if (script !== undefined && this.#counts(script, at)) this.#add(at.folder, script);
  }

  #make(name: string, args: readonly string[], at: Place): void {
    const given = (options: readonly string[]): string | undefined => optionValue(args, options);
    const folder = pathFrom(at.folder, given(['-C', '--directory', '-d', '--working-directory']) ?? '.') ?? at.folder;
    const own = given(['-f', '--file', '--makefile', '--justfile']);
    const names = own === undefined ? (name === 'just' ? JUSTFILES : MAKEFILES) : [own];
    const path = names.map((one) => pathFrom(folder, one) ?? '').find((one) => typeof this.#read(one) === 'string');
    const text = path === undefined ? undefined : this.#read(path);
    if (path === undefined || typeof text !== 'string') return;
    const values = ['-C', '-f', '-j', '-o', '-W', '-I', '-d', '--file', '--directory', '--justfile', '--makefile'];
    const targets: string[] = [];
    for (let index = nextWord(args, 0, values); index < args.length; index = nextWord(args, index + 1, values)) {
      const word = args[index] ?? '';
      if (/^[\w./%-]+$/.test(word)) targets.push(word);
    }
    for (const target of targets.length === 0 ? [undefined] : targets) {
      const recipe = recipeOf(text, target);
      if (recipe === undefined) {
        // A recipe of a justfile has arguments.
        if (name !== 'just' || target === targets[0]) this.files.add(path);
        continue;
      }
      this.#part({ path, name: target ?? 'its first target', text: recipe.text });
      for (const command of recipe.commands) this.line(command, folder, at.depth + 1);
    }
  }

  #tool({ kind, configs, key }: Tool, args: readonly string[], at: Place): void {
    if (kind === 'looks') {
      const options = PROGRAM_FILES[key];
      const file = options === undefined ? undefined : optionValue(args, options);
      if (file !== undefined) this.#add(at.folder, file);
      return;
    }
    if (configs !== undefined) this.configs.add(configs);
    this.#sharedConfigs(key, at);
    args.forEach((word, index) => {
      const [option = '', value] = word.split(/=(.*)/s);
      if (CONFIG_OPTIONS.test(option)) this.#add(at.folder, value ?? args[index + 1] ?? '');
    });
    if (kind !== 'tests') return;
    const words = args.filter((word, index) => !word.startsWith('-') && !VALUE_OPTIONS.test(args[index - 1] ?? ''));
    const paths = words.filter((word) => looksLikeFile(word) && !/^\.{1,2}(?:\/\.\.\.)?$|^\.\/?$/.test(word));
    for (const word of words) if (!VERB_WORDS.includes(word)) this.#within(word, at);
    for (const word of args) if (!words.includes(word)) this.#name(word, at);
    // Without a path it finds them all.
    if (paths.length === 0) this.#findTests(at.folder, key);
  }

  #findTests(folder: string, program: string): void {
    const before = this.tests.get(folder) ?? new Set();
    this.tests.set(folder, before.add(program));
  }

  #within(word: string, { folder }: Place): void {
    const path = pathFrom(folder, word.replace(/\/?\.\.\.$/, '').replace(/::.*$/, ''));
    if (path === undefined || path === '') return;
    this.files.add(path);
    this.folders.add(path);
  }

  #sharedConfigs(key: string, { folder }: Place): void {
    const manifest = pathFrom(folder, 'package.json') ?? '';
    if (JS_KEYS.includes(key)) {
      const fields = fieldsOf(this.#read(manifest) ?? '');
      for (const name of [key, `${key}Config`])
        this.#part({ path: manifest, name: `“${name}”`, text: JSON.stringify(fields[name]) ?? '' });
    }
    if (!PYTHON_KEYS.includes(key)) return;
    for (const file of SHARED_CONFIGS) {
      const path = pathFrom(folder, file) ?? '';
      this.#part({ path, name: `the settings of ${key}`, text: sectionsOf(this.#read(path) ?? '', key) });
    }
  }

  #name(word: string, at: Place): void {
    const value = word.startsWith('-') ? (/^--?[\w-]+=(.+)$/s.exec(word)?.[1] ?? '') : word;
    if (!looksLikeFile(value) || !this.#counts(value, at)) return;
    this.#add(at.folder, value);
    const folder = pathFrom(at.folder, value);
    if (folder !== undefined && folder !== '' && /(?:^|\/)(?:__tests__|tests?|specs?|e2e|testdata)$/.test(folder))
      this.folders.add(folder);
  }

  #counts(word: string, { isPiped }: Place): boolean {
    return !isPiped || LIKE_A_CHECK.test(word);
  }

  #add(folder: string, word: string): void {
    const path = pathFrom(folder, word);
    if (path !== undefined && path !== '') this.files.add(path);
  }

  #part(part: CheckerPart): void {
    this.parts.set(`${part.path}\0${part.name}`, part);
  }

  #read(path: string): string | null {
    const text = this.#readFile(path);
    if (text === undefined) this.wants.add(path);
    return text ?? null;
  }
}

interface Place {
  readonly folder: string;
  readonly isPiped: boolean;
  readonly depth: number;
}
