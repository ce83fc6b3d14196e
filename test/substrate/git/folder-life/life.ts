import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGitWorkspaces } from '../../../../src/substrate/git/git-workspaces.ts';
import type { MadeOrder } from '../../../../src/substrate/ports/made.ts';
import type { TaskFolder, Workspaces } from '../../../../src/substrate/ports/workspaces.ts';
import { createRepository, git } from '../../../support/git.ts';
import { benchOver, commitIn, type GitBench } from '../bench.ts';

export const RUN = 'run';
const MOST_STEPS = 50;
const FILES = Object.fromEntries([
  ...Array.from({ length: 30 }, (_, n) => [`src/${n % 4}/${n}.txt`, `${n}\n`.repeat(50)]),
  ['.gitignore', 'node_modules\n*.log\n'],
  ['lock.json', '{}\n'],
]);
const ORDER: MadeOrder = {
  ...{ key: 'a'.repeat(64), step: 'install', paths: ['node_modules'] },
  ...{ isKept: true, isProven: true },
};
const MADE = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`m${n % 3}/${n}.js`, `made ${n}\n`.repeat(20)]));

/** A repository with all that squad does to folders switched on. */
export interface Life extends GitBench {
  /** Lines of work that was there: `commit <id>`, `draft <task>`. */
  readonly record: string;
}

type Place = Pick<Life, 'root' | 'record'>;

export async function beginLife(place: Place): Promise<Life> {
  createRepository(join(place.root, 'repository'), FILES);
  return openLife(place);
}

export async function openLife({ root, record }: Place): Promise<Life> {
  const bench = await benchOver(root, join(root, 'repository'));
  const { ports, report } = bench;
  const spares = { most: 2, from: 10, freeBytes: 0 };
  return { ...bench, record, workspaces: createGitWorkspaces({ ...ports, spares }, report) };
}

/** What an agent or a command does, and not squad, has failed. */
export class AgentFailed extends Error {}

function asAgent<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new AgentFailed('the agent failed', { cause: error });
  }
}

/**
 * Plays one run in which folders are made, set up, moved, brought back, made again, renamed and removed. It can be begun again after a
 * crash anywhere in it. Throws where a folder is not what it has to be.
 */
export async function playLife(life: Life): Promise<void> {
  const { workspaces, report } = life;
  const base = report.head;
  await workspaces.createRunBranch(RUN, base);
  await tidyAll(life, base);
  await check(life, () => workspaces.baselineAt(RUN, base));
  await workspaces.dropBaseline(RUN);
  for (const task of ['one', 'two']) await playTask(life, task);
  await workspaces.closeRun(RUN);
  await tidyAll(life);
}

async function tidyAll({ workspaces }: Pick<Life, 'workspaces'>, commit?: string): Promise<void> {
  for (let steps = 0; await workspaces.tidySpares(commit); steps += 1)
    if (steps > MOST_STEPS) throw new Error('tidying does not end');
}

async function playTask(life: Life, task: string): Promise<void> {
  const { workspaces, report, repository } = life;
  const keptAs = `refs/squad/${RUN}/${task}-1`;
  const done = git(repository, 'for-each-ref', '--format=%(objectname)', keptAs);
  let folder = await workspaces.addFolder({ run: RUN, task, commit: report.head });
  if (folder.fresh === true) requireTree(folder, report.head, 'a new folder');
  if (done === '') folder = await act(life, folder);
  const kept = done === '' ? await workspaces.rescue(folder, `${task}-1`) : { type: 'kept', commit: done };
  if (kept.type !== 'kept' || !('commit' in kept)) throw new Error(`not kept: ${kept.type}`);
  appendFileSync(life.record, `draft ${task}\n`);
  const answer = await workspaces.integrate({ run: RUN, commit: kept.commit, message: task });
  if (answer.type === 'candidate') {
    await check(life, () => workspaces.integrationAt(RUN, answer.commit));
    const moved = await workspaces.advance(RUN, answer.onto, answer.commit);
    if (moved.type !== 'advanced') throw new Error(moved.type);
  } else if (answer.type !== 'empty') throw new Error(JSON.stringify(answer));
  await leave(life, folder);
}

/** The first task starts with a reset, and the second one moves to what the run has by now; both lose nothing by it. */
async function act(life: Life, folder: TaskFolder): Promise<TaskFolder> {
  const { workspaces, report, record } = life;
  const { task } = folder;
  let at = folder;
  if (task === 'one') {
    const reset = await workspaces.resetFolder(folder, { commit: report.head, attempt: 'one-2', rescueAs: 'one-0' });
    if (reset.type !== 'ready') throw new Error(JSON.stringify(reset));
    at = reset.folder;
    if (at.fresh === true) requireTree(at, report.head, 'a folder that was reset');
  }
  await setUp(workspaces, at);
  asAgent(() => {
    const { path } = at.workspace;
    const had = existsSync(join(path, `${task}.txt`));
    if (!had) appendFileSync(record, `commit ${commitIn(at, { [`${task}.txt`]: `${task}\n` }, task)}\n`);
    writeFileSync(join(path, 'x.log'), 'left\n');
    writeFileSync(join(path, 'node_modules', 'evil.js'), 'evil');
    writeFileSync(join(path, `${task}-draft.txt`), 'draft\n');
  });
  return at;
}

async function leave(life: Life, folder: TaskFolder): Promise<void> {
  const { workspaces } = life;
  const { task } = folder;
  if (task === 'two') {
    const head = (await workspaces.runHead(RUN)) ?? '';
    const moved = await workspaces.moveFolder(folder, head, 'two-2');
    if ('type' in moved) throw new Error(JSON.stringify(moved));
    requireTree(moved, head, 'a folder that was moved', ['node_modules/', 'x.log']);
  }
  const removed = await workspaces.removeFolder(folder, `${task}-3`);
  if (removed.type !== 'removed') throw new Error(JSON.stringify(removed));
  if (task === 'one') await tidyAll(life, life.report.head);
}

/** As a check does: the second time in a folder that was brought back, the third one in one that is made again. */
async function check({ workspaces }: Life, open: () => Promise<TaskFolder>): Promise<void> {
  let folder = await open();
  const isUsed = await workspaces.hasMade(folder);
  if (!isUsed && folder.fresh !== true) folder = await workspaces.makeAnew(folder, []);
  if (!isUsed) {
    requireTree(folder, folder.base, 'the new folder of a check');
    await setUp(workspaces, folder);
    await workspaces.noteMade(folder);
  }
  for (let time = 1; time <= 2; time += 1) {
    const { path } = folder.workspace;
    asAgent(() => {
      for (const name of ['lock.json', 'new.txt', 'x.log']) writeFileSync(join(path, name), 'changed\n');
    });
    const { isWhole } = await workspaces.bringBack(folder, [], 'go');
    if (isWhole) requireTree(folder, folder.base, 'a folder that was brought back', ['node_modules/']);
  }
  folder = await workspaces.makeAnew(folder, []);
  requireTree(folder, folder.base, 'a folder that was made again');
  await setUp(workspaces, folder);
  await workspaces.noteMade(folder);
}

async function setUp(workspaces: Workspaces, folder: TaskFolder): Promise<void> {
  const { path } = folder.workspace;
  const order = { ...ORDER, isKept: folder.fresh === true };
  const answer = await workspaces.reuseMade(folder, order, async () => {
    asAgent(() => {
      rmSync(join(path, 'node_modules'), { recursive: true, force: true });
      for (const [name, text] of Object.entries(MADE)) {
        mkdirSync(join(path, 'node_modules', name, '..'), { recursive: true });
        writeFileSync(join(path, 'node_modules', name), text);
      }
    });
    return true;
  });
  const wrong = Object.entries(MADE).filter(
    ([name, text]) => readFileSync(join(path, 'node_modules', name), 'utf8') !== text,
  );
  if (wrong.length > 0) throw new Error(`what setup made is not whole (${answer.type}): ${String(wrong[0]?.[0])}`);
  const count = execFileSync('find', [join(path, 'node_modules'), '-type', 'f'])
    .toString()
    .trim()
    .split('\n').length;
  if (count !== Object.keys(MADE).length) throw new Error(`setup made ${count} files (${answer.type})`);
}

/** All tracked files as the commit has them, by content, and nothing else but ignored ones that may stay. */
function requireTree(
  { workspace: { path } }: TaskFolder,
  commit: string,
  about: string,
  ignored: readonly string[] = [],
): void {
  const listed = git(path, 'ls-tree', '-r', '--format=%(objectname) %(path)', commit).split('\n').toSorted();
  const found = execFileSync('find', ['.', '-path', './.git', '-prune', '-o', '-type', 'f', '-print'], { cwd: path });
  const names = found
    .toString()
    .split('\n')
    .map((name) => name.slice(2))
    .filter((name) => name !== '' && !ignored.some((one) => name.startsWith(one)));
  const hashes = git(path, 'hash-object', '--no-filters', '--', ...names).split('\n');
  const there = names.map((name, index) => `${hashes[index]} ${name}`).toSorted();
  if (there.join('\n') !== listed.join('\n')) throw new Error(`${about} is not its commit:\n${there.join('\n')}`);
  const head = git(path, 'rev-parse', 'HEAD');
  if (head !== commit) throw new Error(`${about} has the HEAD ${head}, not ${commit}`);
}
