import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limitsSchema } from '../../../src/model/limits.ts';
import { parseObjective } from '../../../src/squad/objective/parse-objective.ts';
import { castOf } from '../../../src/squad/preflight/roster.ts';
import { createDefaultPlaybook } from '../../../src/playbooks/registry.ts';
import {
  proposeSteps,
  renderSettings,
  STARTER_OBJECTIVE,
  type Proposal,
} from '../../../src/squad/preflight/starter-files.ts';
import { defaultSettings, parseSettings } from '../../../src/squad/settings/parse-settings.ts';
import { roomForTest, shell } from '../../cli/room.ts';
import { git } from '../../support/git.ts';
import { KNOWN_NAMES } from '../../support/known-names.ts';
import { ALL } from '../../support/lane.ts';

const TESTED = JSON.stringify({ scripts: { test: 'vitest run' } });
const UNTESTED = JSON.stringify({ scripts: { test: 'echo "Error: no test specified" && exit 1' } });

describe('how a repository is tested', () => {
  it.each([
    [{ names: [] }, {}],
    [
      { names: ['package.json'], packageJson: TESTED },
      { verify: 'npm test', because: 'package.json' },
    ],
    [{ names: ['package.json'], packageJson: UNTESTED }, {}],
    [{ names: ['package.json'], packageJson: 'nonsense' }, {}],
    [
      { names: ['package.json', 'go.mod'], packageJson: '{}' },
      { verify: 'go test ./...', because: 'go.mod' },
    ],
    [
      { names: ['Makefile'], makefile: 'all:\n\ntest: all\n\t./t\n' },
      { verify: 'make test', because: 'Makefile' },
    ],
    [{ names: ['Makefile'], makefile: 'test := x\nlatest:\n' }, {}],
    [{ names: ['Cargo.toml'] }, { verify: 'cargo test', because: 'Cargo.toml' }],
    [
      { names: ['package.json', 'package-lock.json'], packageJson: '{ "workspaces": ["packages/*"] }' },
      {
        setup: {
          run: 'npm ci',
          reuse: ['node_modules', 'packages/*/node_modules'],
          when: ['package.json', 'package-lock.json', 'packages/*/package.json'],
        },
        ...{ verify: 'npm test --workspaces --if-present', because: 'the workspaces of package.json', unsure: true },
      },
    ],
    [
      { names: ['package.json', 'yarn.lock', '.yarnrc.yml'], packageJson: '{ "workspaces": ["a"] }', yarnSettings: '' },
      expect.objectContaining({ verify: 'yarn workspaces foreach --all run test', unsure: true }),
    ],
    [
      { names: ['package.json', 'go.mod'], packageJson: '{ "workspaces": ["a"] }' },
      { verify: 'go test ./...', because: 'go.mod' },
    ],
    [{ names: ['pyproject.toml'] }, { verify: 'python -m pytest', because: 'pyproject.toml', unsure: true }],
  ])('%j', (around, expected) => {
    expect(proposeSteps(around)).toEqual(expected);
  });
});

const NPM = { names: ['package.json', 'package-lock.json', '.npmrc'], packageJson: TESTED };
const WORKSPACES = JSON.stringify({ scripts: { test: 'x' }, workspaces: ['packages/*', 'app/'] });

describe('what setup makes', () => {
  it.each<readonly [Parameters<typeof proposeSteps>[0], Proposal['setup']]>([
    [NPM, { run: 'npm ci', reuse: ['node_modules'], when: ['package.json', 'package-lock.json', '.npmrc'] }],
    [
      { names: ['package.json', 'package-lock.json'], packageJson: WORKSPACES },
      {
        run: 'npm ci',
        reuse: ['node_modules', 'packages/*/node_modules', 'app/node_modules'],
        when: ['package.json', 'package-lock.json', 'packages/*/package.json', 'app/package.json'],
      },
    ],
    [
      {
        names: ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'],
        packageJson: TESTED,
        workspaces: "packages:\n  - 'libs/*'\n  - '!libs/old'\n",
      },
      {
        run: 'pnpm install --frozen-lockfile --package-import-method=copy',
        reuse: ['node_modules', 'libs/*/node_modules'],
        when: ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'libs/*/package.json'],
      },
    ],
    [
      { names: ['package.json', 'yarn.lock'], packageJson: TESTED },
      { run: 'yarn install --frozen-lockfile', reuse: ['node_modules'], when: ['package.json', 'yarn.lock'] },
    ],
    [
      { names: ['package.json', 'yarn.lock', '.yarnrc.yml'], packageJson: TESTED, yarnSettings: 'nodeLinker: pnp\n' },
      { run: 'yarn install --immutable' },
    ],
    [
      { names: ['package.json', 'bun.lock'], packageJson: TESTED },
      {
        run: 'bun install --frozen-lockfile --backend=copyfile',
        reuse: ['node_modules'],
        when: ['package.json', 'bun.lock'],
      },
    ],
    [
      { names: ['package.json', 'package-lock.json'], packageJson: TESTED.replace('{', '{"workspaces":["x/**"],') },
      { run: 'npm ci' },
    ],
    [{ names: ['Cargo.toml', 'Cargo.lock'] }, { run: 'cargo fetch --locked' }],
    [{ names: ['go.mod', 'go.sum'] }, { run: 'go mod download' }],
    [
      { names: ['pyproject.toml', 'uv.lock'] },
      {
        run: 'uv venv --relocatable --allow-existing && uv sync --locked --no-install-workspace --link-mode=copy',
        reuse: ['.venv'],
        when: ['pyproject.toml', 'uv.lock'],
      },
    ],
    [
      { names: ['pyproject.toml', 'poetry.lock'] },
      { run: 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction' },
    ],
  ])('%j', (around, setup) => {
    const proposal = proposeSteps(around);
    expect(proposal.setup).toEqual(setup);
    const parsed = parseSettings(renderSettings(['claude'], proposal), 'squad.yaml', KNOWN_NAMES);
    expect(parsed).toMatchObject({ ok: true, value: { setup: [{ ...setup, minutes: 10 }] } });
  });
});

describe('the files to start from', () => {
  it.each([
    [{}, [], []],
    [{ setup: { run: 'npm ci' }, verify: 'npm test', because: 'package.json' }, ['npm ci'], ['npm test']],
    [{ verify: 'say "hi" \\ : #', because: 'x' }, [], ['say "hi" \\ : #']],
    [{ verify: 'python -m pytest', because: 'x', unsure: true }, [], []],
  ])('squad.yaml says what holds anyway, and %j', (proposal, setup, verify) => {
    const parsed = parseSettings(renderSettings(['claude'], proposal), 'squad.yaml', KNOWN_NAMES);
    const steps = (runs: string[]) => runs.map((run) => ({ run, minutes: 10 }));
    expect(parsed).toEqual({
      ok: true,
      value: { ...defaultSettings(), playbook: 'delivery', setup: steps(setup), verify: steps(verify) },
    });
  });

  it('has every limit that has a default, with what it means', () => {
    const text = renderSettings([], {});
    for (const [key, value] of Object.entries(limitsSchema.parse({}))) {
      const shown = JSON.stringify(value).replaceAll('"', '').replaceAll(',', ', ').replaceAll(/[[\]]/g, '\\$&');
      expect(text).toMatch(new RegExp(`^  ${key}: ${shown} +# \\w`, 'm'));
    }
  });

  it.each([
    [[], ['claude']],
    [['codex'], ['codex']],
    [
      ['claude', 'codex'],
      ['claude', 'codex'],
    ],
  ] as const)('has the roster of %j as a comment that can be put to use', (found, runtimes) => {
    const text = renderSettings(found, { verify: 'python -m pytest', unsure: true });
    const used = text.replaceAll(/^# (?=agents:|verify:|publish:| {2}- )/gm, '');
    const parsed = parseSettings(used.replace('# setup', 'setup'), 'squad.yaml', KNOWN_NAMES);
    expect(parsed).toMatchObject({
      ok: true,
      value: {
        agents: castOf(createDefaultPlaybook(), { runtimes, members: 4 }),
        verify: [{ run: 'python -m pytest' }],
        publish: { pr: false },
      },
    });
  });

  it('objective.md is one', () => {
    const parsed = parseObjective(STARTER_OBJECTIVE, 'objective.md');
    expect(parsed).toMatchObject({
      ok: true,
      objective: {
        title: 'Explain how to work on this project',
        goals: { length: 1 },
        criteria: [{ command: 'test -s docs/getting-started.md' }, {}, {}],
      },
    });
  });
});

describe('squad init', () => {
  it('writes both files, and says what comes next', async () => {
    const room = roomForTest();
    writeFileSync(join(room.repository, 'package.json'), TESTED);
    const index = readFileSync(join(room.repository, '.git', 'index'));
    const run = await room.run(['init'], { PATH: gitOnly(room.root) });
    expect(run.stdout).toMatch(
      /^wrote .*squad\.yaml\nwrote .*objective\.md\nfound {2}verify: npm test {2}\(from package\.json\)\n\nNext: install an agent runtime: `squad doctor`/,
    );
    expect(run.stdout).toMatch(
      /Next: say what you want: `squad run "…"`, or write it into objective\.md and `squad run objective\.md`\n$/,
    );
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const settings = readFileSync(join(room.repository, 'squad.yaml'), 'utf8');
    expect(settings).toContain('verify:\n  - { run: "npm test", minutes: 10 }');
    expect(readFileSync(join(room.repository, 'objective.md'), 'utf8')).toBe(STARTER_OBJECTIVE);
    expect(readFileSync(join(room.repository, '.git', 'index'))).toEqual(index);
    expect(git(room.repository, 'status', '--porcelain').split('\n')).toEqual([
      '?? objective.md',
      '?? package.json',
      '?? squad.yaml',
    ]);
  });

  it('names the ignored settings of this checkout, and leaves it to the person to copy them', async () => {
    const room = roomForTest();
    const names = ['.env', '.env.test', 'db.local', '.env.example', 'local.txt', '.env odd'];
    for (const name of names) writeFileSync(join(room.repository, name), 'A=1\n');
    writeFileSync(join(room.repository, '.gitignore'), '.env*\n*.local\n*.txt\n!.env.example\n');
    const run = await room.run(['init']);
    expect(run.stdout).toContain(
      'Next: if tests need .env, .env.test, db.local, take the “#” away before `copy` in squad.yaml\n',
    );
    const settings = readFileSync(join(room.repository, 'squad.yaml'), 'utf8');
    expect(settings).toContain('If tests need them, take the “#” away:\n# copy: [.env, .env.test, db.local]\n');
    const used = parseSettings(settings.replace('# copy', 'copy'), 'squad.yaml', KNOWN_NAMES);
    expect(used).toMatchObject({ ok: true, value: { copy: ['.env', '.env.test', 'db.local'] } });
  });

  it('changes nothing that is there, from a folder below too', ALL, async () => {
    const room = roomForTest();
    mkdirSync(join(room.repository, 'sub'));
    writeFileSync(join(room.repository, 'objective.md'), 'mine');
    symlinkSync('nowhere', join(room.repository, 'squad.yaml'));
    const run = await shell(room, 'squad init --json', join(room.repository, 'sub'));
    expect(JSON.parse(run.stdout)).toMatchObject({
      type: 'init',
      root: room.repository,
      written: [],
      kept: ['squad.yaml', 'objective.md'],
      next: expect.arrayContaining(['run it: `squad run ../objective.md`']),
    });
    expect(readFileSync(join(room.repository, 'objective.md'), 'utf8')).toBe('mine');
    expect(git(room.repository, 'status', '--porcelain')).not.toContain('nowhere');
    const text = await room.run(['init']);
    expect(text.stdout).toMatch(
      /^kept .*squad\.yaml {2}\(it was there; nothing in it was changed\)\nkept .*objective\.md/,
    );
    expect(text.code).toBe(0);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['what it found', { Makefile: 'test:\n\ttrue\n' }, /\nfound {2}verify: make test {2}\(from Makefile\)\n/],
    [
      'that it found nothing',
      {},
      /\nNext: name the command that tests the work under `verify` in squad\.yaml: [^.]*\n/,
    ],
    [
      'what it is not sure of',
      { 'tox.ini': '' },
      /judge it\. If it is `python -m pytest`, take the “#” away before `verify`\n/,
    ],
  ])('says %s, where no one was asked', async (_what, files, said) => {
    const room = roomForTest();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(room.repository, name), text);
    expect((await room.run(['init', '--yes'])).stdout).toMatch(said);
  });

  it('works before the first commit, and asks for it', ALL, async () => {
    const room = roomForTest();
    const fresh = join(room.root, 'fresh');
    mkdirSync(fresh);
    git(fresh, 'init', '-q');
    const run = await shell(room, 'squad init', fresh);
    expect(run.stdout).toMatch(/\nNext: make a first commit[^\n]*`git add -A && git commit -m "first"`\n/);
    expect(run.code).toBe(0);
  });

  it('is refused outside a repository', async () => {
    const room = roomForTest();
    const none = join(room.root, 'none');
    mkdirSync(none);
    const run = await shell(room, 'squad init', none);
    expect(run.stderr).toMatch(/^squad: .* is not in a git checkout[^]*\nNext: .*git init/);
    expect(run).toMatchObject({ code: 78, stdout: '' });
  });

  describe('with a playbook whose roles are whole', () => {
    const FILES = ['pm', 'ba', 'writer', 'builder', 'reviewer'].map((role) => `squad/roles/${role}.md`);

    it('writes a file for each role, and a roster that names them', async () => {
      const room = roomForTest();
      const run = await room.run(['init', '--playbook', 'objective', '--json'], { PATH: gitOnly(room.root) });
      expect(run).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(run.stdout)).toMatchObject({ written: ['squad.yaml', 'objective.md', ...FILES], kept: [] });
      const text = readFileSync(join(room.repository, 'squad.yaml'), 'utf8');
      const parsed = parseSettings(text, 'squad.yaml', KNOWN_NAMES);
      const agents = ['pm', 'ba', 'writer', 'builder-1', 'builder-2', 'reviewer'].map((name) => ({
        ...{ name, role: name.replace(/-\d/, ''), runtime: 'claude' },
        instructions: `squad/roles/${name.replace(/-\d/, '')}.md`,
      }));
      expect(parsed).toMatchObject({ ok: true, value: { playbook: 'objective', agents } });
      for (const file of FILES) {
        const role = readFileSync(join(room.repository, file), 'utf8');
        expect(role).toMatch(
          /^# \w+\n\n## Identity\n\n[^#]+\n\n## Boundaries\n\n- [^#]+\n\n## Execution\n\n- [^#]+\n$/,
        );
      }
    });

    it('overwrites none of them, and says how old settings name the new ones', async () => {
      const room = roomForTest();
      mkdirSync(join(room.repository, 'squad/roles'), { recursive: true });
      writeFileSync(join(room.repository, 'squad/roles/pm.md'), 'mine');
      writeFileSync(join(room.repository, 'squad.yaml'), 'version: 1\n');
      const run = await room.run(['init', '--playbook', 'objective'], { PATH: gitOnly(room.root) });
      expect(run.stdout).toMatch(/^kept .*squad\/roles\/pm\.md /m);
      expect(run.stdout).toMatch(/^Next: name the new roles in squad\.yaml: `instructions: squad\/roles\/ba\.md`/m);
      expect(readFileSync(join(room.repository, 'squad/roles/pm.md'), 'utf8')).toBe('mine');
      expect(readFileSync(join(room.repository, 'squad.yaml'), 'utf8')).toBe('version: 1\n');
    });

    it('writes nothing at all where a link leads its folder elsewhere', async () => {
      const room = roomForTest();
      mkdirSync(join(room.root, 'elsewhere'));
      symlinkSync(join(room.root, 'elsewhere'), join(room.repository, 'squad'));
      const run = await room.run(['init', '--playbook', 'objective'], { PATH: gitOnly(room.root) });
      expect(run).toMatchObject({ code: 65, stdout: '' });
      expect(run.stderr).toMatch(/squad is no folder, and squad would write into it\nNext: Move it away/);
      expect(git(room.repository, 'status', '--porcelain')).toBe('?? squad');
    });

    it('is refused by name, with the nearest one', async () => {
      const run = await roomForTest().run(['init', '--playbook', 'objectiv']);
      expect(run.stderr).toMatch(/no playbook is called “objectiv”; did you mean “objective”\?[^]*\nNext: Choose an /);
      expect(run).toMatchObject({ code: 65, stdout: '' });
    });
  });

  it('has help with an example', async () => {
    const run = await roomForTest().run(['init', '--help']);
    expect(run.stdout).toMatch(/Overwrite\s+nothing\.[^]*Example:\n {2}squad init\n/);
    expect(run.code).toBe(0);
  });
});

/** A PATH on which there is git, and no agent. */
function gitOnly(root: string): string {
  const bin = join(root, 'bin');
  mkdirSync(bin);
  const path = process.env['PATH'] ?? '';
  for (const folder of path.split(':')) {
    try {
      readFileSync(join(folder, 'git'));
      symlinkSync(join(folder, 'git'), join(bin, 'git'));
      return bin;
    } catch {
      // Not in this folder.
    }
  }
  throw new Error('no git on PATH');
}
