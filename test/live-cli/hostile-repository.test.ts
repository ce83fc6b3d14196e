import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { poison, program, RAN } from '../security/poison.ts';
import { git } from '../support/git.ts';
import { planted } from '../support/runtime-bench.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY } from './codex-harness.ts';
import type { Gate, ScriptedTurn } from './turn-scripts.ts';
import { openWholeRunRoom, snapshotOf, turnsTaken, type Cli, type WholeRunRoom } from './whole-run-room.ts';
import { PRODUCT, RIGHT_SUM, turnsOf } from './whole-run-script.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);
const BRANCH = 'squad/sums-and-products';

/** Ways in which an agent's git comes upon what is planted. A reviewer may write nothing: half of them fail there. */
const LINES = [
  'git status; git diff HEAD; git log -p -1 --ext-diff; git show --textconv HEAD; git included; git ls-remote origin',
  'echo more >> readme.md; echo new > new.plain; git status; git add readme.md new.plain; git diff --cached; git checkout -q -f HEAD -- readme.md; git stash; git stash pop; git reset -q --hard',
  'BASE=$(git rev-parse HEAD); echo one > try.txt; git add try.txt; git commit -m one; git commit --amend',
  'ONE=$(git rev-parse HEAD); git checkout -q -f --detach $BASE',
  'echo two > try.txt; git add try.txt; git commit -S -m two; git merge -m both $ONE; git merge --abort',
  'git rebase -i $BASE; git rebase --abort; git stash; git stash pop; git gc --auto; git interpret-trailers readme.md',
  'git checkout -q -f --detach $BASE; git status --short',
].join('\n');

const CLIS: { planner: Cli; reviewer: Cli }[] = [
  { planner: 'claude', reviewer: 'codex' },
  { planner: 'codex', reviewer: 'claude' },
];

let room: WholeRunRoom;
afterEach(() => room.close());

describe('S6: a hostile repository on the real claude and codex', () => {
  test.each(CLIS)('S6: runs nothing of its own, reviewed by $reviewer, and the work is delivered', async (clis) => {
    room = await openWholeRunRoom(clis, (gate) => curious(gate, () => join(room.engine.root, 'programs', 'control')));
    const { engine, model, anthropic, openai } = room;
    plantEverything(engine);
    const before = snapshotOf(engine.repository);
    void room.gate.reached.then(() => room.gate.open());
    const end = await engine.run(['run', 'objective.md', '--json', '--yes'], room.environment);
    expect(end.lines.at(-1), end.stderr).toMatchObject({ type: 'run-ended', outcome: 'done', exitCode: 0 });
    expect(model.strange).toEqual([]);
    // Unconfined, a program leaves its mark here; in a sandbox it can still speak, and the model hears it.
    expect(marksIn(engine.root)).toEqual([]);
    const heard = {
      claude: anthropic.requests.map(({ raw }) => raw),
      codex: openai.requests.map(({ body }) => JSON.stringify(body)),
    };
    for (const [cli, said] of Object.entries(heard)) {
      const ran = new Set([...said.join('\n').matchAll(new RegExp(`${RAN}([a-z-]+)`, 'g'))].map(([, name]) => name));
      expect([...ran], cli).toEqual(['control']);
    }
    expectDelivered(room);
    expect(snapshotOf(engine.repository)).toEqual(before);
    // What was planted does bite: without this the test could not fail.
    expect(bitten(engine)).toEqual(expect.arrayContaining(['core-fsmonitor', 'filter-evil-process', 'pre-commit']));
  });
});

/** The same run as always, where each turn but the planner's first does all of the above, and runs one program by its path. */
function curious(gate: Gate, control: () => string): readonly ScriptedTurn[] {
  const look = () => ({ act: 'shell', command: `${LINES}\n${control()}; rm mark-control` }) as const;
  return turnsOf(gate).map((turn) => (turn.name === 'plan' ? turn : { ...turn, acts: [look, ...turn.acts] }));
}

function plantEverything({ root, repository }: WholeRunRoom['engine']): void {
  mkdirSync(join(root, 'marks'));
  const files = { '.gitattributes': '* filter=evil diff=evil merge=evil\n', ...planted(join(root, 'marks')) };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repository, name)), { recursive: true });
    writeFileSync(join(repository, name), text);
  }
  git(repository, 'add', '-f', ...Object.keys(files));
  git(repository, 'commit', '-qm', 'What a stranger brings');
  const remote = git(repository, 'config', 'remote.origin.url');
  poison({ root, repository });
  git(repository, 'config', 'remote.origin.url', remote);
  git(repository, 'config', 'commit.gpgSign', 'true');
  program(join(root, 'programs'), 'control', root);
}

function marksIn(root: string): string[] {
  const own = readdirSync(root).filter((name) => name.startsWith('mark-') && name !== 'mark-control');
  return [...own, ...readdirSync(join(root, 'marks'))];
}

/** The user's own git, which obeys its configuration; the second time without the filter, which breaks all. */
function bitten({ root, repository }: WholeRunRoom['engine']): string[] {
  const quiet = ['clean', 'smudge', 'process'].flatMap((part) => ['-c', `filter.evil.${part}=`]);
  for (const args of [
    ['add', 'readme.md'],
    [...quiet, 'commit', '--no-gpg-sign', '--allow-empty', '-m', 'mine'],
  ]) {
    try {
      execFileSync('git', args, { cwd: repository, env: { PATH: process.env['PATH'], HOME: root }, stdio: 'ignore' });
    } catch {
      // A filter that breaks is one that ran.
    }
  }
  return marksIn(root).map((name) => name.replace('mark-', ''));
}

function expectDelivered({ engine, remote }: WholeRunRoom): void {
  const changed = ['A\tlib/product.mjs', 'A\tlib/sum.mjs'].join('\n');
  expect(git(remote, 'diff', '--name-status', git(engine.repository, 'rev-parse', 'main'), BRANCH)).toBe(changed);
  expect(`${git(remote, 'show', `${BRANCH}:lib/sum.mjs`)}\n`).toBe(RIGHT_SUM);
  expect(`${git(remote, 'show', `${BRANCH}:lib/product.mjs`)}\n`).toBe(PRODUCT);
  const outcomes = turnsTaken(engine).map(({ result }) => result?.outcome);
  expect(new Set(outcomes)).toEqual(new Set(['completed']));
}
