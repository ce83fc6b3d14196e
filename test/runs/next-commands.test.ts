// @module-tag all
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { copyWhole, git } from '../support/git.ts';
import { NIGHT } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, piece, plan, verdict, type Entry } from './run-script.ts';

const RUN = 'make-things';
const BRANCH = `squad/${RUN}`;

/** What a person can do with the branch of a run, in the repository at this path. */
const STATES: Readonly<Record<string, (repository: string) => void>> = {
  untouched: () => undefined,
  moved: (at) => {
    const other = git(at, 'commit-tree', '-p', BRANCH, '-m', 'mine', `${BRANCH}^{tree}`);
    git(at, 'branch', '-f', BRANCH, other);
  },
  reset: (at) => void git(at, 'branch', '-f', BRANCH, 'main'),
  'checked out': (at) => void git(at, 'checkout', '-q', BRANCH),
  'moved and checked out': (at) => {
    git(at, 'checkout', '-q', BRANCH);
    git(at, 'commit', '-q', '--allow-empty', '-m', 'mine');
  },
  'checked out elsewhere': (at) => void git(at, 'worktree', 'add', '-q', join(dirname(at), 'linked'), BRANCH),
  'merged manually': (at) => void git(at, 'merge', '-q', '--no-edit', BRANCH),
  'merged manually and checked out elsewhere': (at) => {
    git(at, 'merge', '-q', '--no-edit', BRANCH);
    git(at, 'worktree', 'add', '-q', join(dirname(at), 'linked'), BRANCH);
  },
  'merged, and then moved': (at) => {
    git(at, 'merge', '-q', '--no-edit', BRANCH);
    STATES['moved']?.(at);
  },
  detached: (at) => void git(at, 'checkout', '-q', '--detach', BRANCH),
  deleted: (at) => void git(at, 'branch', '-D', BRANCH),
};

const A = author('a', commits({ 'a.txt': 'a\n' }));
const B = author('b', commits({ 'b.txt': 'b\n' }));
const NOTHING = [author('b', [{ answer: 'no' }]), again('b', 'evidence', [{ answer: 'no' }])];

interface End {
  readonly script: readonly Entry[];
  readonly more?: readonly string[];
  readonly code: number;
  /** What a person did then. */
  readonly after?: readonly string[];
}

/** Each end of a run, by what leads to it. */
const ENDS: Readonly<Record<string, End>> = {
  done: { script: [plan([piece('a')]), A, APPROVE_ALL], code: 0 },
  'failed in part': { script: [plan([piece('a'), piece('b', { needs: ['a'] })]), A, ...NOTHING, APPROVE_ALL], code: 1 },
  'failed, without work': { script: [plan([piece('b')]), ...NOTHING, APPROVE_ALL], code: 1 },
  'rejected in part': {
    script: [
      plan([piece('a'), piece('b', { needs: ['a'] })]),
      ...[A, B, again('b', 'review', commits({ 'b.txt': 'more\n' }))],
      ...[verdict('b', ['too short']), APPROVE_ALL],
    ],
    code: 1,
  },
  'stopped at a limit': { script: [plan([piece('a')]), A, APPROVE_ALL], more: ['--max-turns', '2'], code: 4 },
  'cancelled without work': {
    script: [plan([piece('a')]), A, APPROVE_ALL],
    ...{ more: ['--max-turns', '2'], code: 4, after: ['cancel'] },
  },
  'cancelled with work': {
    script: [plan([piece('a'), piece('b', { needs: ['a'] })]), A, B, APPROVE_ALL],
    ...{ more: ['--max-turns', '4'], code: 4, after: ['cancel'] },
  },
};

const TABLE = Object.keys(ENDS).flatMap((end) => Object.keys(STATES).map((state) => ({ end, state })));
/** Every third row: all of them take minutes. */
const FEW = TABLE.filter((_, index) => index % 3 === 0);

const TITLE = 'what follows a run that ends %s is never refused, whatever a person did with its branch';
it.each(Object.keys(ENDS))(TITLE, { timeout: 600_000 }, async (end) => expectNoRefusal(end, FEW));
it.each(Object.keys(ENDS))(`${TITLE}: all rows`, { ...NIGHT, timeout: 600_000 }, async (end) =>
  expectNoRefusal(end, TABLE),
);

async function expectNoRefusal(end: string, table: typeof TABLE): Promise<void> {
  const about = ENDS[end]!;
  const bench = openRunBench(about);
  const { root, repository } = bench;
  const template = `${root}.template`;
  onTestFinished(() => {
    rmSync(template, { recursive: true, force: true });
    rmSync(root, { recursive: true, force: true });
  });
  const ran = await bench.runAll(about.more);
  expect(ran.code, ran.stderr).toBe(about.code);
  if (about.after !== undefined) await bench.run(about.after);
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'what the person had not committed');
  copyWhole(root, template);
  const wrong: string[] = [];
  const rows = table.filter((row) => row.end === end);
  const hasBranch = git(repository, 'branch', '--list', BRANCH) !== '';
  for (const { state } of rows) {
    if (!hasBranch && state !== 'untouched') continue;
    const start = (): void => {
      rmSync(root, { recursive: true, force: true });
      copyWhole(template, root);
      STATES[state]?.(repository);
    };
    start();
    const { next, outcome } = await bench.status();
    const shown = (await bench.run(['watch', '--json'])).lines.at(-1) as { next?: readonly string[] };
    if (outcome !== null) expect(shown.next, `${end}, ${state}`).toEqual(next);
    if (state === 'untouched') expect([...next, `squad status ${RUN}`]).toEqual(expect.arrayContaining(inFiles(bench)));
    for (const command of next) {
      start();
      const refused = await refusalOf(bench, command);
      if (refused !== undefined) wrong.push(`${end}, ${state}: \`${command}\`: ${refused}`);
    }
  }
  expect(wrong).toEqual([]);
}

/** The commands that the files of the run name for what was not passed. */
function inFiles({ repository }: RunBench): string[] {
  const runs = join(stateOf(repository), 'runs');
  const files = readdirSync(runs, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /failures\/.*\.md$/.test(path),
  );
  return files.flatMap((path) => readFileSync(join(runs, path), 'utf8').match(/^squad .*$/gm) ?? []);
}

/** What a shell would do with this line. undefined: every command of it ended well. */
async function refusalOf(bench: RunBench, line: string): Promise<string | undefined> {
  for (const command of line.split(' && ')) {
    const [program = '', ...args] = words(command);
    if (program === 'git') git(bench.repository, ...args);
    else {
      const yes = args[0] === 'drop' ? ['--yes'] : [];
      const { code, stderr } = await bench.run([...args, ...yes]);
      // An engine may have a question, or fail again.
      const isFine = args[0] === 'resume' ? [0, 1, 3, 4].includes(code ?? -1) : code === 0;
      if (!isFine) return `exit ${code} ${stderr}`;
    }
  }
  return undefined;
}

function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, one, two, three]) => one ?? two ?? three ?? '');
}
