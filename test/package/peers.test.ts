import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { APPROVE_ALL, author, commits, objective, piece, plan, WITH_CRITIC } from '../runs/run-script.ts';
import { git } from '../support/git.ts';
import { ALL, NIGHT } from '../support/lane.ts';
import { isRegistryReached, lowestPeers, ownPeers, pack, packagesIn, PROJECT, type Packed } from './installed.ts';

/** 38 MB with a TypeScript of its own, so that it is no dependency of this project. */
const ATTW = '@arethetypeswrong/cli@0.18.5';

/** Only agent-reviewer.mjs needs it. */
const LANGCHAIN = '1.5.14';

const EXAMPLES = ['embed.ts', 'forty-line-runtime.ts', 'thirty-line-playbook.ts'];
/** LangGraph's own types do not hold in the strictest program. */
const WITH_LANGGRAPH = ['delegating-agent.ts', 'parent-graph.ts', 'remote-graph.ts'];

const REVIEW = `
import { runReviewed } from './agent-reviewer.mjs';
import { ScriptedChatModel } from './scripted-chat-model.ts';
const approval = JSON.stringify({ approved: true, summary: 'good', findings: [] });
let read = false;
const model = new ScriptedChatModel((messages, calls) => {
  if (calls === 0) return { tool: 'read_file', input: { path: 'one.txt' } };
  read ||= messages.at(-1)?.text.startsWith('one') === true;
  return approval;
});
const { outcome } = await runReviewed({ cwd: process.argv[2] }, 'objective.md', model, 'yes');
console.log(JSON.stringify({ outcome, read }));
`;

const isOffline = !isRegistryReached();
const named = isOffline ? ' (left out: the package registry cannot be reached)' : '';

let packed: Packed;
beforeAll(() => {
  packed = pack();
});
afterAll(() => packed.close());

/** Examples as a user has them: copied from the installed package into a project of their own. Node runs no TypeScript in node_modules. */
function copyExamples(project: string, names: readonly string[] = EXAMPLES): void {
  for (const name of names) copyFileSync(join(project, 'node_modules/agentsquad/examples', name), join(project, name));
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

/** A repository in which the scripted runtime has a plan and one piece to do. */
function createScripted(project: string, name: string, settings: object = {}): string {
  const repository = join(project, name);
  mkdirSync(repository);
  git(repository, 'init', '--quiet', '--initial-branch=main');
  const script = join(project, `${name}.json`);
  const turns = [plan([piece('one')]), author('one', commits({ 'one.txt': 'one\n' })), APPROVE_ALL];
  writeFileSync(script, JSON.stringify({ turns }));
  writeFileSync(
    join(repository, 'squad.yaml'),
    JSON.stringify({ runtimes: { scripted: { config: { script } } }, ...settings }),
  );
  git(repository, 'add', '--all');
  git(repository, '-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '--quiet', '--message=first');
  return repository;
}

/** The examples of LangGraph: a node that asks, and a tool. */
function expectParts(project: string): void {
  copyExamples(project, WITH_LANGGRAPH);
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

/** The example of LangChain: an agent of the application reviews, with a model that needs no key. */
function expectReviewer(project: string): void {
  copyExamples(project, ['agent-reviewer.mjs']);
  copyFileSync(join(PROJECT, 'test/support/scripted-chat-model.ts'), join(project, 'scripted-chat-model.ts'));
  const reviewed = createScripted(project, 'reviewed', { agents: WITH_CRITIC });
  writeFileSync(join(reviewed, 'objective.md'), objective());
  writeFileSync(join(project, 'review.mjs'), REVIEW);
  const end = packed.run('node', ['review.mjs', reviewed], project);
  expect([end.code, end.stderr]).toEqual([0, '']);
  expect(JSON.parse(end.stdout)).toMatchObject({ outcome: 'done', read: true });
  expect(git(reviewed, 'show', 'squad/make-things:one.txt')).toBe('one');
}

describe('the installed package', { ...ALL, timeout: 300_000 }, () => {
  it.skipIf(isOffline).each([
    ['no', {}],
    ['the lowest', lowestPeers()],
    ['the newest', { ...ownPeers(), langchain: LANGCHAIN }],
  ])(
    `has one core beside %s peers of a host, and plays a run of each example${named}`,
    (name, peers: Record<string, string>) => {
      const project = packed.project(name.replace(' ', '-'), peers);
      const cores = packagesIn(project).filter(([path]) => path.endsWith('/@langchain/core'));
      expect(cores.map(([path]) => path)).toEqual(['node_modules/@langchain/core']);
      for (const [peer, version] of Object.entries(peers)) {
        expect(packagesIn(project)).toContainEqual([`node_modules/${peer}`, expect.objectContaining({ version })]);
      }
      copyExamples(project);
      const { repository, script } = createWork(project);
      const player = join(project, 'node_modules/agentsquad/dist/player.mjs');
      const played = packed.run('node', ['embed.ts', repository, player, script], project);
      expect(played.stderr).toBe('');
      expect(JSON.parse(played.stdout)).toMatchObject({ outcome: 'done', tasks: ['page-1: done', 'page-2: done'] });
      const files = git(repository, 'ls-tree', '-r', '--name-only', 'squad/explain-the-parts').split('\n');
      expect(files).toEqual(['README.md', 'docs/page-1.md', 'docs/page-2.md']);
      expectParts(project);
      if ('langchain' in peers) expectReviewer(project);
    },
  );

  it.skipIf(isOffline)(`has a command line that needs no peer, and a library that says what is missing${named}`, () => {
    const project = packed.project('without', {}, ['--legacy-peer-deps']);
    expect(packagesIn(project).filter(([path]) => path.includes('@langchain'))).toEqual([]);
    const squad = join(project, 'node_modules/.bin/squad');
    const demo = packed.run(squad, ['demo', '--json', '--remove'], project);
    expect(demo.code, demo.stderr).toBe(0);
    copyExamples(project);
    const { repository, script } = createWork(project);
    const played = packed.run('node', ['embed.ts', repository, 'player.mjs', script], project);
    expect(played).toMatchObject({ code: 78, stdout: '' });
    expect(played.stderr).toMatch(/peer dependency of squad is not installed[^]*Install @langchain\/core/);
  });

  it.skipIf(isOffline)(`has types that a strict program compiles against${named}`, NIGHT, () => {
    const project = packed.project('types', { '@types/node': '22.20.5', zod: '4.6.7' });
    copyExamples(project);
    const own = readFileSync(join(PROJECT, 'test/fixtures/embedding/types.ts'), 'utf8');
    writeFileSync(join(project, 'types.ts'), own);
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
    copyExamples(project, WITH_LANGGRAPH);
    compile(WITH_LANGGRAPH, { skipLibCheck: true });
  });

  it.skipIf(isOffline)(`resolves its types as it resolves its code${named}`, NIGHT, () => {
    const attw = ['exec', '--yes', `--package=${ATTW}`, '--', 'attw', packed.tarball, '--profile', 'esm-only'];
    // It exits with 1, and so throws, where it finds a problem that the profile does not leave out.
    expect(packed.npm(attw, packed.root)).toContain('"agentsquad/playbook"');
  });
});
