import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, piece, plan } from '../runs/run-script.ts';
import { FOLDER, openSessionBench, PAIR } from '../runs/session-bench.ts';
import { copyWhole, git } from './git.ts';
import { workers } from './session-folder.ts';

/** Files that each task adds: to write them takes git long enough to be killed in the middle. */
const FILES = 700;
export const RUN = 'make-things';
export const MINE = { 'ignored/db': 'precious\n', 'a.secret': 'precious\n', 'notes.txt': 'untracked\n' };

/** `session`: the run plays a tracked session folder, in which squad, its workers and a person have written. */
export type Layout = 'plain' | 'session';

/** A finished run in a checkout with much of the person's own, which every trial begins with. */
export interface KillRoom {
  readonly bench: RunBench;
  readonly template: string;
  /** What is in the checkout that the merge may not change: `git status`, the index and the files of the session's folder. */
  readonly kept: readonly string[];
  readonly delivered: string;
  /** Where a fork begins. */
  readonly at: string;
}

const FILES_BEFORE = {
  ...{ 'shared-a.txt': 'old\n', 'shared-b.txt': 'old\n', 'old-a.txt': 'x\n', 'old-b.txt': 'x\n' },
  ...{ 'mine.txt': 'mine\n', '.gitignore': 'ignored/\n*.secret\n' },
};

export async function openKillRoom(layout: Layout): Promise<KillRoom> {
  const bench = await (layout === 'plain' ? openPlainBench() : openPlayedSession());
  const { root, repository } = bench;
  const points = (await bench.run(['fork', RUN, '--json'])).lines[0] as { points: { seq: number }[] };
  writeFileSync(join(repository, 'mine.txt'), 'stashed\n');
  git(repository, 'stash', 'push', '-q', 'mine.txt');
  git(repository, 'worktree', 'add', '-q', join(root, 'linked'), '-b', 'mine');
  writeFileSync(join(root, 'linked/work.txt'), 'precious\n');
  for (const [name, text] of Object.entries(MINE)) {
    mkdirSync(join(repository, name, '..'), { recursive: true });
    writeFileSync(join(repository, name), text);
  }
  const template = `${root}.template`;
  copyWhole(root, template);
  const delivered = git(repository, 'rev-parse', `squad/${RUN}`);
  const at = String(points.points.at(-1)?.seq);
  return { bench, template, delivered, at, kept: keptIn(repository) };
}

async function openPlainBench(): Promise<RunBench> {
  const script = [
    plan([piece('a'), piece('b')]),
    ...['a', 'b'].map((id) => author(id, [{ run: ['sh', '-c', workOf(id)] }, { answer: 'done' }])),
    APPROVE_ALL,
  ];
  const bench = openRunBench({ script, files: FILES_BEFORE });
  const ran = await bench.runAll();
  if (ran.code !== 0) throw new Error(`the run: ${ran.code} ${ran.stderr}`);
  return bench;
}

/** Its workers have written into the folder too, and a person has changed, added, staged and deleted files there. */
async function openPlayedSession(): Promise<RunBench> {
  const script = workers(PAIR, (task) => {
    const id = { 'MAKE-001': 'a', 'MAKE-002': 'b' }[task];
    const note = `mkdir -p ${FOLDER}/notes; echo ${id} >${FOLDER}/notes/${id}.md`;
    return id === undefined ? [] : [{ run: ['sh', '-c', `${note}; ${workOf(id)}`] }];
  });
  // What is left of the bench is removed with the room.
  const bench = openSessionBench({ onTestFinished: () => undefined }, PAIR, script);
  const { repository, folder } = bench;
  writeFileSync(join(repository, '.git/info/exclude'), 'squad.yaml\nobjective.md\n');
  for (const [name, text] of Object.entries(FILES_BEFORE)) writeFileSync(join(repository, name), text);
  git(repository, 'add', '-A');
  git(repository, 'commit', '-qm', 'session');
  const ran = await bench.play();
  if (ran.code !== 0) throw new Error(`the run: ${ran.code} ${ran.stderr}`);
  writeFileSync(join(folder, 'roles/maker.md'), 'changed\n');
  writeFileSync(join(folder, 'mine.md'), 'mine\n');
  git(repository, 'add', join(folder, 'mine.md'));
  rmSync(join(folder, 'explorations/cache-index.json'), { force: true });
  return bench;
}

export function keptIn(repository: string): readonly string[] {
  const folder = join(repository, FOLDER);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('notes'));
  return [
    git(repository, 'status', '--porcelain', '--', FOLDER),
    git(repository, 'ls-files', '--stage', '--', FOLDER, `:!${FOLDER}/notes`),
    ...names.toSorted().map((name) => `${name}: ${readFile(join(folder, name))}`),
  ];
}

/** Both change, delete and add files, and leave work that is not committed. */
function workOf(id: string): string {
  const many = `mkdir -p gen/${id}; for i in $(seq ${FILES}); do echo "${id} $i" >gen/${id}/f$i.txt; done`;
  return `${many}; echo new >shared-${id}.txt; rm old-${id}.txt; git add -A; git commit -qm work; echo left >left-${id}.txt`;
}

export function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
