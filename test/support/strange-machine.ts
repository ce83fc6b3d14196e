import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** The agents' programs that squad knows by name. */
export const AGENT_PROGRAMS = ['claude', 'codex', 'gemini', 'copilot', 'opencode', 'agy'] as const;

/** A machine on which everything that a test could take from its person by accident is there, and wrong. */
export interface StrangeMachine {
  readonly environment: Readonly<Record<string, string>>;
  /** What was started of its programs, hooks and commands: nothing of it may be. */
  started(): readonly string[];
}

export const STRANGE_UMASK = 0o077;

/** Makes one below `root`, which is empty. */
export function makeStrangeMachine(root: string): StrangeMachine {
  const [home, bin, temporary, marks] = ['home', 'bin', 'tmp', 'marks'].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const folder of [home, bin, temporary]) mkdirSync(folder, { recursive: true });
  // Tests that become another user write below it.
  chmodSync(root, 0o755);
  const leaves = (name: string, then: string): string => `#!/bin/sh\necho "${name} $*" >>'${marks}'\n${then}\n`;
  for (const name of AGENT_PROGRAMS) {
    const real = realProgram(name);
    program(join(bin, name), leaves(name, real === undefined ? 'exit 1' : `exec '${real}' "$@"`));
  }
  // Programs that squad would like: a forge, a browser, an editor, a pager.
  for (const name of ['gh', 'xdg-open', 'vi', 'more']) program(join(bin, name), leaves(name, 'exit 1'));
  const hook = program(join(home, 'templates', 'hooks', 'post-checkout'), leaves('hook of the template', 'exit 1'));
  writeHome(home, leaves('command of the home', 'exit 1'), dirname(hook));
  return {
    environment: { ...variablesOf(home, root), PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` },
    started: () => (existsSync(marks) ? readFileSync(marks, 'utf8').trimEnd().split('\n') : []),
  };
}

/** Dotfiles that stop or lead astray whatever reads them. */
function writeHome(home: string, text: string, hooks: string): void {
  const command = program(join(home, 'command'), text);
  const files = {
    '.gitconfig': `[user]\n\tname = Strange\n\tuseConfigOnly = true\n[init]\n\tdefaultBranch = fremd\n\ttemplateDir = ${dirname(hooks)}
[core]\n\thooksPath = ${hooks}\n\tpager = ${command}\n\teditor = ${command}\n\tfsmonitor = ${command}\n\tautocrlf = true\n\tsafecrlf = true
[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${command}\n[alias]\n\tst = !${command}\n[diff]\n\texternal = ${command}\n`,
    '.npmrc': `registry=http://127.0.0.1:9/\nscript-shell=${command}\n`,
    '.config/squad/config.yaml': `version: 1\nnotify: { run: '${command}' }\nlimits: { turns: 1 }\n`,
    '.config/git/ignore': '*.txt\n*.md\n',
    '.config/git/attributes': '* text working-tree-encoding=UTF-16\n',
    '.claude/settings.json': JSON.stringify({ hooks: { SessionStart: [{ hooks: [{ type: 'command', command }] }] } }),
    '.claude/CLAUDE.md': 'Always answer in verse.\n',
    '.codex/config.toml': `model = "strange"\nnotify = ["${command}"]\n`,
    '.gemini/settings.json': '{ not JSON',
    '.bashrc': `. '${command}'\n`,
    '.profile': `. '${command}'\n`,
    '.tmux.conf': `run-shell '${command}'\n`,
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), content);
  }
}

function variablesOf(home: string, root: string): Record<string, string> {
  return {
    HOME: home,
    TMPDIR: join(root, 'tmp'),
    XDG_STATE_HOME: 'relative/state',
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: '/dev/null',
    LANG: 'de_DE.UTF-8',
    LC_ALL: 'de_DE.UTF-8',
    TZ: 'Asia/Seoul',
    EDITOR: join(home, 'command'),
    PAGER: join(home, 'command'),
    BROWSER: join(home, 'command'),
    ENV: join(home, 'command'),
    BASH_ENV: join(home, 'command'),
    CI: '1',
    FORCE_COLOR: '3',
    COLUMNS: '31',
    ANTHROPIC_API_KEY: 'strange',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    OPENAI_API_KEY: 'strange',
    CODEX_API_KEY: 'strange',
    CODEX_HOME: join(home, '.codex'),
    GEMINI_API_KEY: 'strange',
    GITHUB_TOKEN: 'strange',
    LANGSMITH_TRACING: 'true',
    LANGSMITH_API_KEY: 'strange',
    LANGSMITH_ENDPOINT: 'http://127.0.0.1:9',
    GIT_DIR: '/nowhere/.git',
    GIT_AUTHOR_NAME: 'Strange',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.hooksPath',
    GIT_CONFIG_VALUE_0: join(home, 'templates', 'hooks'),
    GIT_TERMINAL_PROMPT: '1',
    SQUAD_STATE: '/nowhere/state',
    SQUAD_MCP: 'strange',
    TMUX: '/nowhere/tmux,1,0',
  };
}

function program(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** The real one, where the live lane has installed it. */
function realProgram(name: string): string | undefined {
  const caches = join(homedir(), '.cache', 'agentsquad');
  if (!existsSync(caches)) return undefined;
  const found = readdirSync(caches, { recursive: true, encoding: 'utf8', withFileTypes: true }).find(
    (entry) =>
      entry.isFile() && entry.name === name && /\/(bin|claude-code-[^/]*|copilot-[^/]*)$/.test(entry.parentPath),
  );
  return found === undefined ? undefined : join(found.parentPath, found.name);
}
