import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { git } from '../support/git.ts';
import { commandRoom, roomForTest, scriptedTurn, turnWith, shell } from './room.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { ALL, some, SPREAD } from '../support/lane.ts';
import { NO_TERMINAL } from '../runs/signal-trials.ts';

const TERMINAL = join(import.meta.dirname, '../fixtures/terminal/terminal.py');
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

describe('words on the command line', () => {
  it.each(
    some<[string, RegExp]>(
      [
        ['--version', /^\d+\.\d+\.\d+\n$/],
        [
          '--help',
          /Run an objective:\n {2}run [^]*\nSteer a run:[^]*Example:\n {2}squad init\n {2}squad run objective\.md/,
        ],
        ['run --help', /--max-usd[^]*Example:\n {2}squad run "add a login form"/],
        ['resume --help', /Example:\n {2}squad resume/],
        ['stop --help', /Example:\n {2}squad stop/],
        ['doctor --help', /Example:\n {2}squad doctor/],
        ['log --help', /Example:\n {2}squad log/],
        ['db --help', /Example:\n {2}squad db check/],
        ['db check --help', /Example:\n {2}squad db check/],
        ['demo --help', /Example:\n {2}squad demo/],
      ],
      4,
    ),
  )('%s', SPREAD, async (words, expected) => {
    const run = await roomForTest().run(words.split(' '));
    expect(run.stdout).toMatch(expected);
    expect(run).toMatchObject({ code: 0, stderr: '' });
  });

  it.each(
    some<[string, RegExp]>(
      [
        ['', /Usage: squad/],
        ['nonsense', /unknown command/],
        ['stauts --help', /unknown command 'stauts'\n\(Did you mean status\?\)/],
        ['help nonsense', /unknown command 'nonsense'/],
        ['--log-level info mail nonsense -h', /unknown command 'nonsense'/],
        ['log --nonsense', /unknown option/],
        ['log --limit many', /many is not a whole number/],
        ['log --limit -1', /is not a whole number/],
        [
          'run x --runtime nobody',
          /no runtime is called nobody[^]*Use one of these: claude, codex, antigravity, scripted/,
        ],
      ],
      4,
    ),
  )('%j is a usage error', SPREAD, async (words, expected) => {
    const run = await roomForTest().run(words.split(' ').filter((word) => word !== ''));
    expect(run.stderr).toMatch(expected);
    expect(run.stderr).not.toContain('    at ');
    expect(run).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('a folder that cannot be worked in', () => {
  const folder = (): string => {
    const path = realpathSync(mkdtempSync(join(tmpdir(), 'squad-nowhere-')));
    onTestFinished(() => rmSync(path, { recursive: true, force: true }));
    return path;
  };

  it.each(['log', 'db check', 'run x --runtime scripted'])('%s outside a repository', async (words) => {
    const run = await shell(commandRoom(), `squad ${words}`, folder());
    expect(run.stderr).toMatch(/is not in a git checkout[^]*\nNext: .*git init/);
    expect(run.code).toBe(78);
  });

  it('run before the first commit', async () => {
    const path = folder();
    git(path, 'init', '-q');
    const run = await shell(commandRoom(), 'squad run x --runtime scripted', path);
    expect(run.stderr).toMatch(/no commit yet[^]*\nNext: .*commit -m/);
    expect(run.code).toBe(78);
    expect(readdirSync(path)).toEqual(['.git']);
  });

  it('run where a file is called as the state folder', ALL, async () => {
    const room = commandRoom();
    writeFileSync(join(room.root, 'state'), '');
    const run = await room.run(scriptedTurn(room, [{ answer: 'done' }]));
    expect(run.stderr).toMatch(/^squad: [^\n]*state[^\n]*\nNext: /);
    expect(run.stderr).not.toContain('bug');
    expect([75, 78]).toContain(run.code);
    expect(run.stdout).toBe('');
  });

  it.each(['log', 'log --json', 'db check', 'db check --json'])('%s where nothing ever ran', ALL, async (words) => {
    const room = commandRoom();
    const run = await room.run(words.split(' '));
    expect(run.stderr).toMatch(/(?:no run was ever started here|there is no run here yet)[^]*\nNext: /);
    expect(run.code).toBe(2);
    expect(run.lines.map(({ type }) => type)).toEqual(words.endsWith('--json') ? ['error'] : []);
    expect(readdirSync(room.repository).toSorted()).toEqual(['.git', 'readme.md']);
  });
});

describe('an output that takes nothing more', () => {
  it.each(some(['run', 'log'], 0, 1))('a full disk ends what %s prints, and not the work', ALL, async (words) => {
    const room = commandRoom();
    const args = scriptedTurn(room, [{ say: 'hello' }, { answer: 'done' }], '--json');
    await room.run(args);
    const run = await shell(room, `squad ${words === 'log' ? 'log --json' : args.join(' ')} >/dev/full`);
    expect(run.stderr).toMatch(/^squad: the output could not be written: ENOSPC[^\n]*\n$/);
    // A run is worth more than what is printed about it.
    expect(run.code).toBe(words === 'log' ? 74 : 0);
    const settled = (await room.run(['log', '--raw'])).stdout.match(/attempt-settled.*"completed"/g);
    expect(settled).toHaveLength(words === 'log' ? 1 : 2);
  });
});

describe('XDG_STATE_HOME', () => {
  it.each(some(['', 'relative'], 0, 1))(
    '%j counts as unset: worktrees never land in the checkout',
    ALL,
    async (value) => {
      const room = commandRoom();
      const where = join(room.root, 'where');
      const steps = [{ run: ['sh', '-c', 'pwd > "$0"', where] }, { answer: 'done' }];
      const run = await room.run(scriptedTurn(room, steps), { XDG_STATE_HOME: value });
      expect(run.code).toBe(0);
      expect(readFileSync(where, 'utf8')).toContain(join(room.root, '.local', 'state', 'squad'));
      expect(git(room.repository, 'status', '--porcelain')).toBe('');
    },
  );
});

describe('a run of one turn', () => {
  const steps = [{ say: 'hello' }, { run: ['true'] }, { answer: 'done' }];

  it('as text, then log and db check of what it left', ALL, async () => {
    const room = commandRoom();
    const run = await room.run(scriptedTurn(room, steps, '--log-level', 'debug'));
    expect(run.code, run.stderr).toBe(0);
    for (const part of ['says      hello', 'tool      run true', 'DONE, nothing was checked']) {
      expect(run.stdout).toContain(part);
    }
    const log = await room.run(['log', '--raw']);
    expect(log.stdout).toMatch(/^ {4}1 .*run-created/);
    expect(log.stdout).toMatch(/run-defined[^]*attempt-claimed[^]*first-tool[^]*attempt-settled/);
    const json = await room.run(['log', '--json', '--limit', '3']);
    expect(json.lines.map((line) => line['seq'])).toEqual([1, 2, 3]);
    const after = await room.run(['log', '--json', '--after', '3', '--limit', '1']);
    expect(after.lines.map((line) => line['seq'])).toEqual([4]);
    expect((await room.run(['log', 'go'])).code).toBe(0);
    expect(await room.run(['log', 'nobody'])).toMatchObject({ code: 2, stdout: '' });
    expect((await room.run(['db', 'check'])).stdout).toMatch(/^ok {2}/);
    const check = await room.run(['db', 'check', '--json']);
    expect(check.lines).toMatchObject([{ type: 'db-check', ok: true, problems: [], violations: [] }]);
    expect(git(room.repository, 'status', '--porcelain')).toBe('');
  });

  it('as JSON: one object a line, each with its place, the end last', ALL, async () => {
    const room = commandRoom();
    const run = await room.run(scriptedTurn(room, steps, '--json'));
    const { lines } = run;
    expect(lines).toHaveLength(run.stdout.trimEnd().split('\n').length);
    const OF_THE_TURN = ['attempt-taken', 'session-announced', 'text', 'tool-started', 'tool-ended', 'attempt-ended'];
    const turn = lines.filter(({ type }) => OF_THE_TURN.includes(String(type)));
    expect(turn.map(({ type }) => type)).toEqual(OF_THE_TURN);
    for (const line of turn) {
      expect(line).toMatchObject({ at: expect.any(Number), runId: lines[0]?.['runId'], attemptId: expect.any(String) });
    }
    expect(turn.at(-1)).toMatchObject({ outcome: 'completed', usage: { inputTokens: expect.any(Number) } });
    expect(lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done' });
  });

  it('a lost turn is tried again within its budget', ALL, async () => {
    const room = commandRoom();
    const run = await room.run(turnWith(room, [{ exit: 3 }], { limits: { task: { turns: 2 } } }, '--json'));
    expect(run.lines.filter((line) => line['type'] === 'attempt-taken')).toHaveLength(2);
    expect(run.code).toBe(1);
  });

  it('shows nothing that a terminal obeys', ALL, async () => {
    const room = commandRoom();
    const evil = '\u001b[2J\u001b]0;owned\u0007\u009b31m\rX\b\u202e';
    const announced = `${JSON.stringify({ type: 'session', id: `s${evil}`, model: evil, resumed: false })}\n`;
    const file = { write: { path: `made${evil}`, text: 'x' } };
    const run = await room.run(
      scriptedTurn(
        room,
        [{ raw: announced }, { say: evil }, { think: evil }, file, { deny: evil }, { answer: evil }],
        ...['--log-level', 'debug'],
      ),
    );
    expect(run.stdout).toContain('says      ');
    expect(run.stdout).not.toMatch(OBEYED);
    const failed = await room.run(scriptedTurn(room, [{ fail: { kind: 'auth', message: evil } }]));
    expect(failed.stdout + failed.stderr).not.toMatch(OBEYED);
    for (const raw of [[], ['--raw']]) expect((await room.run(['log', ...raw])).stdout).not.toMatch(OBEYED);
  });

  it('goes on when nobody reads any more', ALL, async () => {
    const room = commandRoom();
    const args = scriptedTurn(room, [...steps, { sleep: 300 }, ...steps], '--json');
    const run = await shell(room, `squad ${args.join(' ')} | head -1`);
    expect(run.stdout).toContain('"run-started"');
    expect(run.stderr).toBe('');
    const ledger = room.ledger();
    expect(ledger.attempts({}).map((attempt) => ledger.settlement(attempt.id)?.result.outcome)).toEqual(['completed']);
    ledger.close();
    const log = await shell(room, 'squad log | head -1');
    expect(log).toMatchObject({ stderr: '', code: 0 });
  });
});

describe('doctor', () => {
  it('says which settings files it read, and what is wrong in the user’s own', async () => {
    const room = commandRoom();
    const folder = join(room.root, '.config', 'squad');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.yaml'), 'limits: { usd: 5 }\n');
    writeFileSync(join(room.repository, 'squad.yaml'), 'strict: true\n');
    const read = await room.run(['doctor']);
    expect(read.stdout).toMatch(/^ok {4}squad\.yaml +can be read$/m);
    expect(read.stdout).toContain(`can be read, for all repositories: ${folder}/config.yaml`);
    writeFileSync(join(folder, 'config.yaml'), 'limit: { usd: 5 }\n');
    const refused = await room.run(['doctor']);
    expect([refused.code, refused.stdout]).toEqual([
      78,
      expect.stringMatching(/FIX {3}config\.yaml[^]*config\.yaml:1:1/),
    ]);
  });

  it('checks the program and variables that the user’s own file names for a runtime', ALL, async () => {
    const room = commandRoom();
    const folder = join(room.root, '.config', 'squad');
    mkdirSync(folder, { recursive: true });
    const program = join(room.root, 'my-claude');
    writeFileSync(program, '#!/bin/sh\necho "2.1.328 (Claude Code)"\n', { mode: 0o755 });
    writeFileSync(
      join(folder, 'config.yaml'),
      `runtimes:\n  claude: { command: ${program}, env: [ANTHROPIC_API_KEY] }\n`,
    );
    writeFileSync(join(room.repository, 'squad.yaml'), 'strict: true\n');
    const run = await room.run(['doctor'], { ANTHROPIC_API_KEY: 'key-of-a-test' });
    expect(run.stdout).toContain(`at ${program}, login ok`);
    expect(run.stdout).not.toContain('doctor does not check');
  });

  it('without any agent CLI: exit 78, and what to do', ALL, async () => {
    const room = commandRoom();
    const bin = join(room.root, 'bin');
    mkdirSync(bin);
    symlinkSync(execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim(), join(bin, 'git'));
    const text = await room.run(['doctor'], { PATH: bin });
    expect(text.stdout).toMatch(
      /^ok {4}git .*\n(?: +.*\n)*ok {4}repository .*\nFIX {3}claude .*\n(?: +.*\n)+FIX {3}codex .*\n(?: +.*\n)+$/m,
    );
    expect(text.stdout).toContain('→');
    expect(text.code).toBe(78);
    expect(text.stdout).not.toContain('tracing');
    const traced = await room.run(['doctor'], { PATH: bin, LANGSMITH_TRACING: 'true' });
    expect(traced.stdout).toMatch(/^ok +tracing +LANGSMITH_TRACING set without effect/m);
    const json = await room.run(['doctor', '--json'], { PATH: bin });
    expect(json.code).toBe(78);
    expect(json.lines).toMatchObject([
      {
        type: 'doctor',
        checks: [
          { name: 'node' },
          { name: 'sqlite', ok: true },
          { name: 'turns' },
          { name: 'git', ok: true },
          ...(process.platform === 'linux' ? [{ name: 'git cage' }] : []),
          { name: 'repository', ok: true, found: `${room.repository}, on a local file system`, problems: [] },
          {},
          {},
        ],
      },
    ]);
    expect(json.lines[0]?.['runtimes']).toMatchObject({ claude: { ok: false }, codex: { ok: false } });
  });

  it.each([
    ['version: 1\nfoo: 2\n', /FIX {3}squad\.yaml +cannot be used\n.*squad\.yaml:2/],
    [
      'runtimes: { codex: { command: ./bin/codex } }\n',
      /ok {4}squad\.yaml[^]*runs \.\/bin\/codex as codex, which doctor does not check/,
    ],
    [
      'agents:\n  - { name: ann, role: builder, runtime: codex, skills: [review] }\n  - { name: bob, role: builder, runtime: codex, env: [NO_SUCH] }\n',
      /FIX {3}squad\.yaml +cannot be used\n[^]*squad\.yaml:2: ann: skills\[0\]: review does not exist[^]*squad\.yaml:3: bob: env\[0\]: the variable NO_SUCH is not set/,
    ],
  ])('looks at the settings of the repository, and starts nothing that they name: %j', async (settings, expected) => {
    const room = commandRoom();
    mkdirSync(join(room.repository, 'bin'));
    writeFileSync(join(room.repository, 'bin', 'codex'), '#!/bin/sh\ntouch "$HOME/started"\n', { mode: 0o755 });
    writeFileSync(join(room.repository, 'squad.yaml'), settings);
    const run = await room.run(['doctor']);
    expect(run.stdout).toMatch(expected);
    expect(run.code).toBe(78);
    expect(readdirSync(room.root)).not.toContain('started');
  });

  it('says before any run what is different about agents’ commits, and what a run would refuse', async () => {
    const room = commandRoom();
    for (const key of ['user.name', 'user.email']) git(room.repository, 'config', '--unset', key);
    git(room.repository, 'config', 'commit.gpgSign', 'true');
    writeFileSync(join(room.repository, '.git', 'hooks', 'pre-commit'), '#!/bin/sh\n', { mode: 0o755 });
    const agents = '[{ name: bob, role: builder, runtime: claude, access: read-only }]';
    writeFileSync(join(room.repository, 'squad.yaml'), `version: 1\nagents: ${agents}\n`);
    const warned = await room.run(['doctor']);
    expect(warned.stdout).toMatch(/^ok {4}repository /m);
    for (const text of [
      'agents commit as squad <squad@squad.invalid>\n      → Set them with `git config --global user.name …`',
      'commits by agents and squad are not signed',
      'no hook runs for agents or squad; ',
      'pre-commit\n      → Put what they check into `verify` of squad.yaml.',
      'squad.yaml:2: bob is to work as builder, and may change nothing (access: read-only)\n      → Change `agents`',
    ]) {
      expect(warned.stdout).toContain(text);
    }
    expect(warned.stdout).toMatch(/^FIX {3}squad\.yaml +cannot be used$/m);
    git(room.repository, 'branch', 'squad');
    const refused = await room.run(['doctor']);
    expect(refused.stdout).toMatch(
      /^FIX {3}repository [^]*a branch named `squad`[^]*→ Rename it: `git branch -m squad squad-old`/m,
    );
  });

  it('without git says so', async () => {
    const room = commandRoom();
    const run = await room.run(['doctor'], { PATH: join(room.root, 'empty') });
    expect(run.stdout).toMatch(/FIX {3}git +not found\n +git is not on PATH\n +→ Install git/);
    expect(run.code).toBe(78);
  });
});

it.each(['status', 'resume', 'stop', 'report', 'answer yes', 'clean'])(
  '%s where there was never a run says so, and makes nothing',
  async (words) => {
    const room = commandRoom();
    const run = await room.run(words.split(' '));
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/there is no run here yet\nNext: Start one: `squad run objective\.md`\./);
    expect(readdirSync(room.repository)).not.toContain('.squad');
  },
);

// A whole run of nine turns each, beside other whole runs.
describe('demo', { timeout: 300_000 }, () => {
  it('plays a whole run whose last line is its end, and leaves nothing where that is wanted', ALL, async () => {
    const room = commandRoom();
    const run = await room.run(['demo', '--json', '--remove'], { TMPDIR: room.root });
    expect(run.lines.at(-1), run.stderr).toMatchObject({ type: 'run-ended', outcome: 'done', exitCode: 0 });
    expect(run.code).toBe(0);
    expect(readdirSync(room.root).filter((name) => name.startsWith('squad-demo'))).toEqual([]);
  });

  const named = NO_TERMINAL === undefined ? '' : ` (left out: ${NO_TERMINAL})`;

  it.skipIf(NO_TERMINAL !== undefined)(`ends at a terminal with the report for terminals${named}`, ALL, () => {
    const room = commandRoom();
    const env = { PATH: process.env['PATH'], HOME: room.root, TMPDIR: room.root, TERM: 'xterm', NO_COLOR: '1' };
    const played = execFileSync(
      'python3',
      [TERMINAL, 'The ledger has', '0', 'press', process.execPath, CLI_ENTRY, 'demo', '--remove'],
      { env, encoding: 'utf8' },
    );
    const { shown } = JSON.parse(played) as { shown: string };
    const end = shown.slice(shown.lastIndexOf('take it'));
    expect(end).toMatch(/^met +It greets by name/m);
    expect(end).not.toMatch(/\| --- \||^#|\*\*/m);
  });

  it(
    'leaves a repository with the commits of three tasks on its run branch, a report, and the checkout as it was',
    ALL,
    async () => {
      const room = commandRoom();
      const folder = join(room.root, 'kept');
      const run = await room.run(['demo', '--keep', folder], { TMPDIR: room.root });
      expect(run.code, run.stderr).toBe(0);
      const repository = join(folder, 'greeting');
      const subjects = git(repository, 'log', '--format=%s', 'squad/greet-by-name-and-say-goodbye').split('\n');
      expect(subjects).toEqual(
        expect.arrayContaining(['Greet by name', 'Say goodbye by name', 'Describe both programs']),
      );
      expect(git(repository, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe('main');
      expect(git(repository, 'status', '--porcelain')).toBe('');
      expect(git(repository, 'log', '--format=%s', 'main')).toBe('The state before the squad came');
      expect(run.stdout).toMatch(/\*\*met\*\* \| It says goodbye by name/);
      expect(run.stdout).toMatch(/bye` \| 1 of 4 .*\*\*rejected\*\*/);
      expect(run.stdout).toMatch(/The ledger has \d+ events, and is sound/);
    },
  );
});
