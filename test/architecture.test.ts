import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SOURCE = fileURLToPath(new URL('../src', import.meta.url));

interface SourceFile {
  /** Below src, with forward slashes. */
  readonly name: string;
  readonly text: string;
  /** Files below src that it imports, dynamically too. */
  readonly imports: readonly string[];
  readonly packages: readonly string[];
}

const files = readSources();

/** Room X may import …: the rooms of src from the bottom to the top. Each may import itself. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  text: [],
  model: ['text'],
  prompts: ['text'],
  rules: ['text', 'model', 'prompts'],
  playbooks: ['text', 'model', 'prompts'],
  'substrate/ports': ['text', 'model'],
  'substrate/system': ['text', 'model', 'substrate/ports'],
  'substrate/ledger': ['text', 'model', 'substrate/ports', 'substrate/system'],
  'substrate/git': ['text', 'model', 'substrate/ports', 'substrate/system'],
  'substrate/channels': ['text', 'model', 'substrate/ports', 'substrate/system'],
  'substrate/pool': ['text', 'model', 'substrate/ports', 'substrate/system'],
  runtimes: ['text', 'model', 'prompts', 'substrate/ports', 'substrate/system'],
  graph: ['text', 'model', 'rules', 'runtimes', 'substrate/ports', 'substrate/system'],
  view: ['text', 'model', 'rules', 'playbooks', 'substrate/ports'],
  engine: ['text', 'model', 'prompts', 'rules', 'playbooks', 'substrate', 'runtimes', 'graph', 'view'],
  squad: ['text', 'model', 'prompts', 'rules', 'playbooks', 'substrate', 'runtimes', 'view', 'engine'],
  testing: ['model', 'runtimes', 'substrate/ports'],
  embed: ['text', 'model', 'runtimes', 'graph', 'view', 'engine', 'squad'],
  studio: ['text', 'model', 'substrate', 'graph', 'view', 'engine', 'squad', 'embed'],
  cli: ['text', 'model', 'substrate', 'runtimes', 'view', 'engine', 'squad', 'studio'],
  exports: ['text', 'model', 'playbooks', 'runtimes', 'view', 'engine', 'squad', 'embed', 'studio'],
};

/** Narrower rules within the rooms: what a file may import besides `text`, `model` and `prompts`. The first that fits a file counts. */
const WITHIN: readonly { files: RegExp; may: RegExp }[] = [
  // Policy knows the engine only by the model, and no other policy.
  ...['council', 'stages', 'shared'].map((name) => ({
    files: new RegExp(`^playbooks/${name}/`),
    may: new RegExp(`^playbooks/(shared|${name})/`),
  })),
  // Lists of stages, and what makes the folder of one.
  ...['delivery', 'objective', 'session', 'coordinate', 'sprint'].map((name) => ({
    files: new RegExp(`^playbooks/${name}/`),
    may: new RegExp(`^playbooks/(shared|stages|session|${name})/`),
  })),
  { files: /^runtimes\/port\//, may: /^runtimes\/port\// },
  {
    files: /^runtimes\/shared\//,
    may: /^runtimes\/(port|shared)\/|^substrate\/(ports|system\/files)\/|^substrate\/system\/failpoint\.ts$/,
  },
  // A program of its own, which starts the agent and reads its lines.
  {
    files: /^runtimes\/acp\/host\//,
    may: /^runtimes\/(acp\/host|shared)\/|^substrate\/system\/files\/|^substrate\/system\/process\/(json-rpc|mcp-by-http)\.ts$/,
  },
  ...['claude', 'codex', 'antigravity', 'acp', 'scripted', 'in-process'].map((name) => ({
    files: new RegExp(`^runtimes/${name}/`),
    may: new RegExp(`^(runtimes/(port|shared|${name})|substrate/ports|substrate/system/files)/`),
  })),
  {
    files: /^graph\//,
    may: /^(graph|rules|runtimes\/port|substrate\/ports)\/|^substrate\/system\/failpoint\.ts$/,
  },
  { files: /^view\/report\//, may: /^(view|rules|substrate\/ports)\// },
  { files: /^view\//, may: /^view\/(?!report\/)|^(rules|substrate\/ports)\/|^playbooks\/stages\/stage-views\.ts$/ },
  {
    files: /^engine\/attempts\//,
    may: /^(engine\/attempts|runtimes\/port|substrate\/ports)\/|^substrate\/system\/(failpoint|files\/read-plain)\.ts$/,
  },
  {
    files: /^engine\/checks\//,
    may: /^(engine\/checks|engine\/attempts|runtimes\/port|runtimes\/shared|substrate\/ports)\/|^substrate\/system\/failpoint\.ts$/,
  },
  {
    files: /^engine\/operations\//,
    may: /^(engine\/operations|engine\/checks|rules|substrate\/ports)\/|^substrate\/system\/failpoint\.ts$/,
  },
  { files: /^engine\/tracing\//, may: /^(engine\/tracing|rules|substrate\/ports)\/|^graph\/ports\.ts$/ },
  // Where a run leaves what people read.
  {
    files: /^engine\/sinks\//,
    may: /^(engine\/sinks|rules|engine\/operations|playbooks\/shared|view|substrate\/ports|substrate\/system\/files)\/|^engine\/compose\.ts$/,
  },
  { files: /^engine\/machine\.ts$/, may: /^substrate\/|^runtimes\/shared\/find-program\.ts$/ },
  { files: /^engine\/compose\.ts$/, may: /^(engine\/checks|runtimes|substrate)\/|^engine\/machine\.ts$/ },
  // A type and two functions for whoever prepares or starts a runtime.
  { files: /^engine\/runtime-choice\.ts$/, may: /^engine\/compose\.ts$/ },
  // What stands before a run: it reads and asks, and knows no graph but the facts that a playbook is made ready from.
  {
    files: /^squad\/preflight\//,
    may: /^(squad\/preflight|squad\/objective|squad\/settings|playbooks|runtimes\/port|substrate\/ports|substrate\/system\/files)\/|^engine\/(compose|runtime-choice|sinks\/sinks)\.ts$|^substrate\/(system\/(failpoint|process\/brief-lock)|git\/(inspect-repository|begin-at|find-copies|joined\/(clone|joined)|originals\/made-paths))\.ts$|^runtimes\/shared\/find-program\.ts$|^rules\/run-facts\.ts$/,
  },
  { files: /^squad\/objective\//, may: /^squad\/objective\// },
  { files: /^squad\/settings\//, may: /^squad\/settings\// },
  // What a run may be asked for. It knows the runs of a repository, because it may refuse a second one.
  {
    files: /^squad\/sources\//,
    may: /^(squad\/sources|squad\/preflight|playbooks|view|substrate\/ports|substrate\/system\/files)\//,
  },
  // What the command line and whoever embeds squad have in common.
  {
    files: /^squad\//,
    may: /^(squad\/(?!objective\/|settings\/)|view\/(?!report\/(?!team\/))|substrate|engine\/tracing)|^engine\/(compose|engine|machine|runtime-choice|workspaces)\.ts$|^engine\/attempts\/(redact-turn|turn-secrets)\.ts$|^engine\/checks\/notify-command\.ts$|^rules\/((tidying|replication-point)\.ts$|forge\/|moving\/|people\/|service\/|sprint\/)|^runtimes\/shared\/child-environment\.ts$/,
  },
  // What the Agent Server serves. It drives no run itself.
  {
    files: /^studio\//,
    may: /^(studio|squad|view|graph|substrate)\/|^engine\/(compose|machine|read-checkpoints)\.ts$|^embed\/messages\.ts$/,
  },
  // Runs as parts of an application's own graphs and agents.
  {
    files: /^embed\//,
    may: /^(embed|squad|view|runtimes\/in-process)\/|^graph\/(shown-graph|untraced)\.ts$|^engine\/(compose|tracing\/langsmith)\.ts$/,
  },
  {
    files: /^cli\//,
    may: /^(cli|squad|view|runtimes\/port|studio|substrate|engine\/attempts)\/|^engine\/(compose|engine|machine|runtime-choice|several\/publish|sinks\/sinks)\.ts$/,
  },
];

/** The files that name a runtime of squad, and why. Every other one asks the runtime's description. */
const NAMED_RUNTIMES: Readonly<Record<string, string>> = {
  'engine/compose.ts': 'the registry',
  'model/runtime-name.ts': 'the names, and runs that began before runs kept descriptions',
  'runtimes/shared/limit-notice.ts': 'words in which a CLI says that a limit is reached',
  'squad/settings/parse-settings.ts': 'examples in errors',
  'squad/preflight/starter-files.ts': 'an example in the squad.yaml that squad writes',
  'cli/program.ts': 'examples in help',
  'model/plan/verbs.ts': 'examples in help',
  'cli/skill-text.ts': 'the folder where a program looks for skills, whether it is a runtime here or not',
  'cli/commands/demo.ts': 'the demo plays scripts',
  'cli/demo/demo-files.ts': 'the demo plays scripts',
  'substrate/git/leavings.ts': 'a folder that a program keeps in the folder of a task, whoever starts it',
};

describe('rooms', () => {
  it('lets each room import only those below it', () => {
    const isIn = (name: string, room: string) => name.startsWith(`${room}/`);
    const wrong = files.flatMap((file) => {
      const room = Object.keys(ROOMS).find((one) => isIn(file.name, one));
      const may = [room ?? '', ...(ROOMS[room ?? ''] ?? [])];
      return room === undefined
        ? [`${file.name} is in no room`]
        : file.imports.filter((name) => !may.some((one) => isIn(name, one))).map((name) => `${file.name} → ${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it('lets each folder within a room import only what its rule names', () => {
    const wrong = files.flatMap((file) => {
      const rule = WITHIN.find((one) => one.files.test(file.name));
      const others = file.imports.filter((name) => !/^(text|model|prompts)\//.test(name));
      return rule === undefined
        ? []
        : others.filter((name) => !rule.may.test(name)).map((name) => `${file.name} → ${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it('has only the composition root name concrete adapters, and what makes one of an agent of the application', () => {
    const named = files.filter((file) => file.imports.some((name) => /^runtimes\/(?!port|shared)/.test(name)));
    const outside = named.filter((file) => !file.name.startsWith('runtimes/')).map((file) => file.name);
    const own = ['embed/in-process.ts', 'embed/turn-reporter.ts', 'engine/compose.ts', 'exports/langgraph.ts'];
    expect(outside.toSorted()).toEqual(own);
  });

  it('names the runtimes of squad only in their folders, the registry, and where a name is more than a key', () => {
    const outside = files.filter(({ name }) => !/^runtimes\/(?:acp|antigravity|claude|codex|scripted)\//.test(name));
    // Comments may say which program is the reason for something.
    const code = (text: string) => text.replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
    const named = outside.filter(({ text }) => /\b(?:antigravity|claude|codex|scripted)\b/.test(code(text)));
    expect(named.map(({ name }) => name).toSorted()).toEqual(Object.keys(NAMED_RUNTIMES).toSorted());
  });

  it('keeps an adapter to four files', () => {
    const own = files.filter((file) => /^runtimes\/(antigravity|claude|codex|scripted)\//.test(file.name));
    const names = new Set(own.map((file) => file.name.split('/').at(-1)));
    expect(names).toEqual(new Set(['command.ts', 'index.ts', 'schema.ts', 'translate.ts']));
  });
});

/** Where the code about session folders is: their playbooks, their source, and the commands that name them. */
const OF_FOLDERS =
  /^(playbooks|squad\/sources)\/(session|coordinate)\/|^cli\/(given-source|commands\/(coordinate|session-check))\.ts$/;

/** Outside of it, and why. */
const NAMED_FOLDERS: Readonly<Record<string, string>> = {
  'prompts/shipped.ts': 'the prompts of its workers',
  'cli/command-context.ts': 'the options of all commands',
  'cli/end-code.ts': 'the names of commands',
  'cli/flags.ts': 'options that commands share',
  'cli/run-commands.ts': 'the options of commands, and their help',
  'model/playbook-name.ts': 'the names of playbooks',
  'playbooks/registry.ts': 'the registry of playbooks',
  'squad/sources/source-of.ts': 'the table of sources',
  'squad/coordinate.ts': 'the verb that has one made',
};

/** Files that say “session” of the conversation of an agent, of the mail of a run, or of Discord: whole folders, then single files. */
const CONVERSATIONS = new RegExp(
  `^(${[
    'engine/(attempts|tracing)|rules|runtimes|testing|graph|model/(mail|plan)',
    'playbooks/(council|delivery|objective|shared|sprint|stages)',
    'substrate/(channels|ledger|ports|system/(process|terminal))|cli/(board|mail|team)|view/report/team|squad/preflight/team-starter',
  ].join('|')})/|^(${[
    'engine/checks/notify-command|cli/ask/(ask-retry|dry-run-lines)|cli/(commands/intervene|doctor-checks)',
    'cli/show/turn-record|embed/in-process|engine/(prepare-turn|turn-mail)|model/(attempt|failure|plan|run|run-event)',
    'model/(session-ref|settings|turn-event|turn-request|turn-result|usage)|squad/preflight/roles|prompts/facts',
    'view/(sentence|sprint/run-facts|report/report-people)|exports/runtime|squad/team/gather-run|squad/settings/parse-settings|substrate/git/forge/remotes',
  ].join('|')})\\.ts$`,
);

describe('code about session folders', () => {
  const code = (text: string) => text.replaceAll(/(?:\bfrom |\bimport\()'[^']*'/g, '');
  const others = files.filter(({ name }) => !OF_FOLDERS.test(name));
  const named = others.filter(({ name, text }) => /session/i.test(code(text)) && !CONVERSATIONS.test(name));

  it('is in their playbooks, their source and the commands that name them', () => {
    expect(named.map(({ name }) => name).toSorted()).toEqual(Object.keys(NAMED_FOLDERS).toSorted());
  });

  it('is not among that about conversations and mail', () => {
    const folder =
      /session[ -](folder|file|check)|--session(?![-\w])|squad session|team-session|(?<!\|)\bSESSION\b|session-done|\b(?:named|given)Session/;
    const wrong = others.filter(({ name, text }) => CONVERSATIONS.test(name) && folder.test(code(text)));
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('is used by what chooses a source, asks for the runs on a folder, and keeps one', () => {
    const users = others.filter(({ imports }) => imports.some((name) => OF_FOLDERS.test(name)));
    expect(users.map(({ name }) => name).toSorted()).toEqual(
      [
        ...['cli/commands/add.ts', 'cli/commands/dry-run.ts', 'cli/commands/run.ts', 'cli/run-commands.ts'],
        'cli/pool/submit.ts',
        ...['playbooks/registry.ts', 'squad/sources/source-of.ts', 'squad/coordinate.ts', 'squad/folder-runs.ts'],
      ].toSorted(),
    );
  });
});

describe('reach', () => {
  const only = (pattern: RegExp, where: RegExp) =>
    files.filter((file) => pattern.test(file.text) && !where.test(file.name)).map((file) => file.name);

  it.each([
    [
      'child processes stay in substrate/system/process, and in the host of an agent',
      /from 'node:child_process'|from 'execa'/,
      /^(substrate\/system\/process\/|runtimes\/acp\/host\/main\.ts$)/,
    ],
    [
      'the process and its environment are read in one place of a program',
      /process\.(env|cwd)\b/,
      /^(squad\/machine|cli\/mcp\/main|runtimes\/acp\/host\/main)\.ts$/,
    ],
    ['the process is ended only by its own program', /process\.exit\b/, /^(cli\/|runtimes\/acp\/host\/main\.ts$)/],
    ['no shell is ever asked to parse a line', /shell: true|execSync\(|(?<!\.)\bexec\(/, /^$/],
    ['SQLite is opened only in substrate/ledger', /from 'better-sqlite3'/, /^substrate\/ledger\//],
    [
      'pure layers know no machine',
      /from 'node:|Date\.now|Math\.random|process\./,
      /^(?!playbooks\/|rules\/|view\/|text\/)/,
    ],
    [
      'what people write is read without a machine',
      /from 'node:(?!crypto')|Date\.now|Math\.random|process\.|new Date\(\)/,
      /^(?!squad\/(objective|settings)\/)/,
    ],
    ['Markdown is parsed in one place', /from 'markdown-it'/, /^text\/markdown\.ts$/],
    ['YAML is parsed in one place', /from 'yaml'/, /^text\/yaml-file\.ts$/],
    [
      'a playbook is named in its own folder, the registry and the list of names',
      /\bcouncil\b|(?<!\[)['"`](?:delivery|objective)['"`]|\b(?:delivery|objective) playbook\b/i,
      /^playbooks\/(?:registry\.ts$|council\/|delivery\/|objective\/)|^model\/playbook-name\.ts$|^prompts\//,
    ],
    [
      'what an adapter decides knows no clock and no randomness',
      /Date\.now|Math\.random|randomUUID|randomBytes/,
      /^(?!runtimes\/(\w+\/(command|schema|translate)|shared\/))/,
    ],
  ])('%s', (_title, pattern, where) => {
    expect(only(pattern, where)).toEqual([]);
  });

  it('lets nothing but the graph, the engine, the view of Studio and what embeds runs reach LangGraph', () => {
    const wrong = files.filter((file) => file.packages.some((name) => name.startsWith('@langchain/')));
    expect(
      wrong.filter((file) => !/^(graph|engine(?=\/[^/]+$)|studio|embed)\//.test(file.name)).map((file) => file.name),
    ).toEqual([]);
  });

  it('has no module that imports itself in a circle', () => {
    const imports = new Map(files.map((file) => [file.name, file.imports]));
    expect(findCircle(imports)).toBeUndefined();
  });

  it('has no circle of imports between folders', () => {
    expect(findCircle(folderImports())).toBeUndefined();
  });
});

describe('places', () => {
  const outside = files.filter(({ name }) => name !== 'squad/machine.ts');

  it('has no file that takes the machine’s folder for temporary files, which may be gone', () => {
    const users = files.filter(({ text }) => /\b(?:tmpdir|homedir)\(|\['TMPDIR'\] *(?:\?\?|\|\|)/.test(text));
    expect(users.map(({ name }) => name)).toEqual([]);
  });

  it('has no file that takes an empty or relative variable for a folder', () => {
    const folder = String.raw`(?:HOME|TMP|TEMP|TMPDIR|XDG_\w+|\w+_(?:HOME|DIR|STATE))`;
    const read = new RegExp(String.raw`(?:\.|\[['"])${folder}(?:['"]\])? *(?:\?\?|\|\|)`);
    expect(read.test("environment['HOME'] ?? homedir()") && read.test('env.XDG_STATE_HOME || x')).toBe(true);
    expect(outside.filter(({ text }) => read.test(text)).map(({ name }) => name)).toEqual([]);
  });
});

describe('documents', () => {
  it.each(['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/threat-model.md'])('%s names files that exist', (page) => {
    const root = resolve(SOURCE, '..');
    const known = ['src', 'test', 'scripts', 'bin', 'bench', 'examples'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
    );
    const text = readFileSync(join(root, page), 'utf8');
    const named = [...text.matchAll(/`([\w./{},*-]+\.(?:ts|mjs|cjs|sh))`/g)].flatMap(([, path = '']) =>
      alternatives(path),
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((path) => !known.some((file) => `/${file}`.endsWith(`/${path}`)))).toEqual([]);
  });
});

/** `a/{b,c}.ts` → `a/b.ts`, `a/c.ts`. A path with a placeholder names no file. */
function alternatives(path: string): string[] {
  if (/[*<]/.test(path)) return [];
  const list = /\{([^}]*)\}/.exec(path);
  return list === null
    ? [path]
    : (list[1] ?? '').split(',').flatMap((name) => alternatives(path.replace(list[0], name)));
}

describe('tests', () => {
  const TESTS = fileURLToPath(new URL('.', import.meta.url));
  /** Programs that tests start look at what they were given; set-up, and lanes with the person's own programs. */
  const LOOKS_AROUND =
    /^(fixtures|live-cli)\/|^support\/(machine|strange-machine|templates|fake-[a-z-]+)\.m?ts$|\.mjs$|^machine\.test\.ts$/;
  /** What test/support/machine.ts gives them, settings of tests, and what programs in texts read. */
  const GIVEN = /^(PATH|TMPDIR|HOME|TZ|LANG|DBG|DESK_TOKEN|TEAM_ROLE|SQUAD_[A-Z_]+)$/;
  const own = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts') && !LOOKS_AROUND.test(name))
    .map((name) => ({ name, text: readFileSync(join(TESTS, name), 'utf8') }));

  it('start nothing with the environment of whoever runs them: each names the variables that it needs', () => {
    const wrong = own.flatMap(({ name, text }) => {
      const read = [...text.matchAll(/process\.env(?:\.(\w+)|\[['"](\w+)['"]\])/g)].map(([, a, b]) => a ?? b ?? '');
      const strange = read.filter((variable) => !GIVEN.test(variable)).map((variable) => `${name} reads ${variable}`);
      const isWhole = /\.\.\.process\.env\b|\benv(ironment)?: process\.env\s*[,}]|\(process\.env\)/.test(text);
      return isWhole ? [...strange, `${name} passes all of process.env on`] : strange;
    });
    expect(wrong).toEqual([]);
  });

  it('search no folder of the machine for programs: PATH is what test/support/machine.ts made', () => {
    // Never started: what an environment looks like.
    const only = ['architecture.test.ts', 'security/s9-secrets.test.ts'];
    const wrong = own.filter(({ name, text }) => !only.includes(name) && /PATH: ['"`][^'"`]*\/usr\/bin:/.test(text));
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });
});

describe('size', () => {
  it('keeps files to one idea: under 300 lines', () => {
    const long = files
      .filter((file) => file.name !== 'prompts/shipped.ts' && file.text.split('\n').length > 300)
      .map((file) => file.name);
    expect(long).toEqual([]);
  });
});

function readSources(): SourceFile[] {
  return readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => {
      const text = readFileSync(join(SOURCE, path), 'utf8');
      const targets = [...text.matchAll(/(?:from|import\() ?'([^']+)'/g)].map((match) => match[1] ?? '');
      const local = targets.filter((target) => target.startsWith('.'));
      const name = path.replaceAll('\\', '/');
      return {
        name,
        text,
        imports: local.map((target) =>
          relative(SOURCE, resolve(dirname(join(SOURCE, path)), target)).replaceAll('\\', '/'),
        ),
        packages: targets.filter((target) => !target.startsWith('.') && !target.startsWith('node:')),
      };
    });
}

/** Which folders a folder imports. A folder and the folders in it count as one; a file directly below src is its own. */
function folderImports(): Map<string, string[]> {
  const folderOf = (name: string) => (name.includes('/') ? dirname(name) : name);
  const related = (one: string, other: string) =>
    `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);
  const imports = new Map<string, string[]>();
  for (const file of files) {
    const folder = folderOf(file.name);
    const others = file.imports.map(folderOf).filter((other) => !related(folder, other));
    imports.set(folder, [...(imports.get(folder) ?? []), ...others]);
  }
  return imports;
}

function findCircle(imports: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return undefined;
    for (const next of imports.get(name) ?? []) {
      const circle = visit(next, [...path, name]);
      if (circle !== undefined) return circle;
    }
    done.add(name);
    return undefined;
  };
  for (const name of imports.keys()) {
    const circle = visit(name, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
