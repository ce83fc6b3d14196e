import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APPROVE_ALL, author, commits, objective, piece, plan } from '../runs/run-script.ts';
import { git } from '../support/git.ts';
import { ALL } from '../support/lane.ts';
import { lowestPeers, ownPeers, pack, packagesIn, PROJECT, type Packed } from './installed.ts';

/** The highest of the range that package.json asks of a host, when this was written. */
/** 38 MB with a TypeScript of its own, so that it is no dependency of this project. */
const ATTW = '@arethetypeswrong/cli@0.18.5';

const EXAMPLES = ['embed.ts', 'forty-line-runtime.ts', 'thirty-line-playbook.ts'];
/** LangGraph's own types do not hold in the strictest program. */
const WITH_LANGGRAPH = ['delegating-agent.ts', 'parent-graph.ts', 'remote-graph.ts'];
const ENTRIES = {
  index: 'agentsquad',
  langgraph: 'agentsquad/langgraph',
  runtime: 'agentsquad/runtime',
  playbook: 'agentsquad/playbook',
};

const registry = spawnSync('npm', ['ping', '--fetch-timeout=10000', '--fetch-retries=0'], { encoding: 'utf8' });
const isOffline = registry.status !== 0;
const named = isOffline ? ' (left out: the package registry cannot be reached)' : '';

let packed: Packed;
beforeAll(() => {
  packed = pack();
});
afterAll(() => packed.close());

/** The examples, or one other file, as a user has them: in a project of their own, with the package in place of its sources. */
function copyInto(project: string, paths = pathsOf(EXAMPLES)): void {
  for (const path of paths) {
    const text = readFileSync(join(PROJECT, path), 'utf8');
    const entry = /'(?:\.\.\/)+src\/(\w+)\.ts'/g;
    const own = text.replaceAll(entry, (_, name: keyof typeof ENTRIES) => `'${ENTRIES[name]}'`);
    expect(own).not.toContain('../src');
    writeFileSync(join(project, basename(path)), own);
  }
}

function createWork(project: string): { repository: string; script: string } {
  const repository = join(project, 'repository');
  mkdirSync(repository);
  git(repository, 'init', '--quiet', '--initial-branch=main');
  writeFileSync(join(repository, 'README.md'), 'a repository\n');
  git(repository, 'add', '--all');
  git(repository, '-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '--quiet', '--message=first');
  const page = (number: number) => author(`page-${number}`, commits({ [`docs/page-${number}.md`]: 'a page\n' }));
  const script = join(project, 'script.json');
  writeFileSync(script, JSON.stringify({ turns: [page(1), page(2), APPROVE_ALL] }));
  return { repository, script };
}

function pathsOf(examples: readonly string[]): string[] {
  return examples.map((name) => `examples/${name}`);
}

/** A repository in which the scripted runtime has a plan and one piece to do. */
function createScripted(project: string, name: string): string {
  const repository = join(project, name);
  mkdirSync(repository);
  git(repository, 'init', '--quiet', '--initial-branch=main');
  const script = join(project, `${name}.json`);
  const turns = [plan([piece('one')]), author('one', commits({ 'one.txt': 'one\n' })), APPROVE_ALL];
  writeFileSync(script, JSON.stringify({ turns }));
  writeFileSync(join(repository, 'squad.yaml'), JSON.stringify({ runtimes: { scripted: { config: { script } } } }));
  git(repository, 'add', '--all');
  git(repository, '-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '--quiet', '--message=first');
  return repository;
}

/** The examples of LangGraph: a node that asks, and a tool. */
function expectParts(project: string): void {
  copyInto(project, pathsOf(WITH_LANGGRAPH));
  const asked = createScripted(project, 'asked');
  const parent = packed.run('node', ['parent-graph.ts', asked, 'scripted', objective()], project, {}, 'approve\n');
  expect([parent.code, parent.stderr]).toEqual([0, expect.stringContaining('Approve the plan?')]);
  expect(JSON.parse(parent.stdout)).toMatchObject({ outcome: 'done', branch: 'squad/make-things' });
  expect(git(asked, 'show', 'squad/make-things:one.txt')).toBe('one');
  const delegated = createScripted(project, 'delegated');
  const agent = packed.run('node', ['delegating-agent.ts', delegated, 'scripted', objective()], project);
  expect([agent.code, agent.stderr]).toEqual([0, '']);
  expect(agent.stdout).toMatch(/^The team is back: DONE, [^]*Branch: squad\/make-things at /);
}

describe('the installed package', { ...ALL, timeout: 300_000 }, () => {
  it.skipIf(isOffline).each([
    ['no', {}],
    ['the lowest', lowestPeers()],
    ['the newest', ownPeers()],
  ])(
    `has one core beside %s peers of a host, and plays a run of the examples${named}`,
    (name, peers: Record<string, string>) => {
      const project = packed.project(name.replace(' ', '-'), peers);
      const cores = packagesIn(project).filter(([path]) => path.endsWith('/@langchain/core'));
      expect(cores.map(([path]) => path)).toEqual(['node_modules/@langchain/core']);
      for (const [peer, version] of Object.entries(peers)) {
        expect(packagesIn(project)).toContainEqual([`node_modules/${peer}`, expect.objectContaining({ version })]);
      }
      copyInto(project);
      const { repository, script } = createWork(project);
      const player = join(project, 'node_modules/agentsquad/dist/player.mjs');
      const played = packed.run('node', ['embed.ts', repository, player, script], project);
      expect(played.stderr).toBe('');
      expect(JSON.parse(played.stdout)).toMatchObject({ outcome: 'done', tasks: ['page-1: done', 'page-2: done'] });
      const files = git(repository, 'ls-tree', '-r', '--name-only', 'squad/explain-the-parts').split('\n');
      expect(files).toEqual(['README.md', 'docs/page-1.md', 'docs/page-2.md']);
      expectParts(project);
    },
  );

  it.skipIf(isOffline)(`has a command line that needs no peer, and a library that says what is missing${named}`, () => {
    const project = packed.project('without', {}, ['--legacy-peer-deps']);
    expect(packagesIn(project).filter(([path]) => path.includes('@langchain'))).toEqual([]);
    const squad = join(project, 'node_modules/.bin/squad');
    const demo = packed.run(squad, ['demo', '--json', '--remove'], project);
    expect(demo.code, demo.stderr).toBe(0);
    copyInto(project);
    const { repository, script } = createWork(project);
    const played = packed.run('node', ['embed.ts', repository, 'player.mjs', script], project);
    expect(played).toMatchObject({ code: 78, stdout: '' });
    expect(played.stderr).toMatch(/peer dependency of squad is not installed[^]*Install @langchain\/core/);
  });

  it.skipIf(isOffline)(`has types that a strict program compiles against${named}`, () => {
    const project = packed.project('types', { '@types/node': '22.20.5', zod: '4.6.7' });
    copyInto(project);
    copyInto(project, ['test/fixtures/embedding/types.ts']);
    const options = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
    const module = { module: 'nodenext', target: 'es2024', lib: ['es2024'], types: ['node'], skipLibCheck: false };
    const compilerOptions = { ...options, ...module, noEmit: true, allowImportingTsExtensions: true };
    const compile = (include: readonly string[], more: object) => {
      writeFileSync(
        join(project, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: { ...compilerOptions, ...more }, include }),
      );
      const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc');
      const compiled = packed.run(process.execPath, [tsc, '--project', project], project);
      expect([compiled.code, compiled.stdout]).toEqual([0, '']);
    };
    compile(['*.ts'], {});
    copyInto(project, pathsOf(WITH_LANGGRAPH));
    compile(WITH_LANGGRAPH, { skipLibCheck: true });
  });

  it.skipIf(isOffline)(`resolves its types as it resolves its code${named}`, () => {
    const attw = ['exec', '--yes', `--package=${ATTW}`, '--', 'attw', packed.tarball, '--profile', 'esm-only'];
    // It exits with 1, and so throws, where it finds a problem that the profile does not leave out.
    expect(packed.npm(attw, packed.root)).toContain('"agentsquad/playbook"');
  });
});
