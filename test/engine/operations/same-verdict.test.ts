// @module-tag all
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { compose } from '../../../src/engine/compose.ts';
import { createBoard } from '../../../src/rules/board.ts';
import { factsOf } from '../../../src/rules/run-facts.ts';
import type { OperationPorts } from '../../../src/engine/operations/operation-ports.ts';
import { checkGate } from '../../../src/engine/operations/check-gate.ts';
import { openChecksBench } from '../checks/checks-bench.ts';
import { definition } from '../../view/report/support.ts';
import { chaosSeed } from '../../support/chaos-row.ts';
import { SPREAD, spread } from '../../support/lane.ts';
import { git } from '../../support/git.ts';
import { createRandom } from '../../support/random.ts';
import { testHost } from '../../support/test-host.ts';
import { openBench, removeFolders } from '../../substrate/git/bench.ts';

afterEach(removeFolders);

const SETUP = 'mkdir -p made/deep && echo ok > made/lib && echo ok > made/deep/part && git config setup.was here';

/** What a check can do to the folder in which it runs, and what can see it. */
const EFFECTS: readonly (readonly [effect: string, ...probes: string[]])[] = [
  ['true', 'test -z "$(git status --porcelain)"'],
  ['echo right > a.txt', 'grep -q right a.txt'],
  ['rm -f a.txt', 'test -f a.txt'],
  ['rm -rf src', 'test -f src/b.txt'],
  ['mv src lib', 'test -e lib', 'test -f src/b.txt'],
  ['chmod +x a.txt', 'test -x a.txt'],
  ['chmod 000 a.txt', 'test -z "$(git status --porcelain)"'],
  ['ln -sf /etc/hostname a.txt', 'test -L a.txt', 'grep -q wrong a.txt'],
  ['rm -f a.txt; mkdir a.txt', 'test -d a.txt'],
  ['mkdir -p empty/er', 'test -d empty'],
  ['echo x > new.txt', 'test -e new.txt', 'test -z "$(git status --porcelain)"'],
  ['mkdir -p out && echo ok > out/ok', 'test -e out', 'test -e out/ok'],
  ['echo ok > out', 'test -e out', 'mkdir out'],
  ['mkfifo pipe', 'test -p pipe'],
  ['git commit -qam done --allow-empty --author="a <a@a>"', 'git log --format=%s | grep -q done'],
  ['git checkout -q -b other', 'git symbolic-ref HEAD | grep -q other', 'git rev-parse -q --verify refs/heads/other'],
  ['git checkout -q --orphan none', 'git rev-parse -q --verify HEAD'],
  ['git update-ref refs/heads/z HEAD', 'git rev-parse -q --verify refs/heads/z'],
  ['git tag t', 'git rev-parse -q --verify refs/tags/t'],
  ['git config user.nick z', 'git config user.nick'],
  ['git config --unset setup.was', 'git config setup.was'],
  ['git rm -q --cached a.txt', 'git ls-files --error-unmatch a.txt'],
  [
    'git update-index --assume-unchanged a.txt; echo right > a.txt',
    'git ls-files -v | grep -q "^h"',
    'grep -q right a.txt',
  ],
  ['rm -rf .git', 'git status'],
  ['rm -rf made', 'test -e made/lib'],
  ['echo broken > made/lib', 'grep -q ok made/lib'],
  ['rm made/deep/part; mkdir made/deep/part', 'test -f made/deep/part'],
  ['touch made/cache', 'test -e made/cache'],
  ['mkdir made/sub && echo 1 > made/sub/f', 'test -d made/sub'],
  [
    'git init -q nested && git -C nested -c user.name=a -c user.email=a@a commit -q --allow-empty -m x',
    'test -e nested',
  ],
  ['chmod 500 src; chmod 500 made', 'touch src/c.txt', 'touch made/more'],
  [
    'echo "*" > .git/info/exclude; echo x > hidden.txt',
    'test -e hidden.txt',
    'echo y > y.txt; git status --porcelain | grep -q y.txt',
  ],
];

const FILES = { 'a.txt': 'wrong\n', 'src/b.txt': 'b\n', '.gitignore': 'made/\nout\n' };

interface Case {
  readonly verify: readonly string[];
  readonly criteria: readonly string[];
}

function pick<T>(random: () => number, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!;
}

/** Each criterion looks first for what an earlier one can have left, and leaves something itself; at times the other way about. */
function newCase(random: () => number): Case {
  const left: (readonly string[])[] = [];
  const verify = random() < 0.5 ? [pick(random, EFFECTS)] : [];
  for (const [, ...probes] of verify) left.push(probes);
  const criteria = Array.from({ length: 6 }, () => {
    const [effect, ...own] = pick(random, EFFECTS);
    const probe = pick(random, random() < 0.8 && left.length > 0 ? pick(random, left) : own);
    left.push(own);
    return random() < 0.2
      ? `(${effect}) >/dev/null 2>&1; (${probe}) >/dev/null 2>&1`
      : `(${probe}) >/dev/null 2>&1; r=$?; (${effect}) >/dev/null 2>&1; exit $r`;
  });
  return { verify: verify.map(([effect]) => `(${effect}) >/dev/null 2>&1; true`), criteria };
}

/** The verdict in a fresh clone, in which only `setup` has run. */
function inClone(root: string, pristine: string, command: string): boolean {
  const place = join(root, 'clone');
  rmAll(place);
  cpSync(pristine, place, { recursive: true });
  const env = { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  return spawnSync('/bin/sh', ['-c', command], { cwd: place, env }).status === 0;
}

function rmAll(place: string): void {
  if (!existsSync(place)) return;
  execFileSync('chmod', ['-R', 'u+rwX', place]);
  rmSync(place, { recursive: true, force: true });
}

describe('a verdict', () => {
  it(
    'is that of a fresh clone, in any order of criteria, whatever they and earlier checks do to the folder',
    { ...SPREAD, timeout: 1_200_000 },
    async (test) => {
      const seed = chaosSeed();
      const random = createRandom(seed);
      const bench = await openBench(FILES);
      const checks = openChecksBench();
      test.onTestFinished(() => checks.close());
      const pristine = join(bench.root, 'pristine');
      for (let at = 0; at < spread(3, 85, 4); at += 1) {
        const { verify, criteria } = newCase(random);
        const name = `run-${at}`;
        // A check of a known commit keeps its result.
        git(bench.repository, 'commit', '-q', '--allow-empty', '-m', name);
        const head = git(bench.repository, 'rev-parse', 'HEAD').trim();
        rmAll(pristine);
        git(bench.root, 'clone', '-q', bench.repository, pristine);
        execFileSync('/bin/sh', ['-c', SETUP], { cwd: pristine });
        await bench.workspaces.createRunBranch(name, head);
        const site: OperationPorts = {
          ...checks.engine,
          definition: {
            ...definition(),
            name,
            setup: [{ run: SETUP, minutes: 1 }],
            verify: verify.map((run) => ({ run, minutes: 1 })),
            objective: {
              ...definition().objective,
              criteria: criteria.map((command, index) => ({
                text: `criterion ${index}`,
                done: false,
                line: 1,
                command,
              })),
            },
            repository: { root: bench.report.root, base: head, branch: 'main' },
          },
          workspaces: bench.workspaces,
          forge: compose(testHost(bench.root, {})).forge(bench.report),
          emptyFolder: join(bench.root, 'empty'),
          copies: { put: async () => undefined, takeOut: async () => undefined },
          pure: new Set(),
        };
        if (random() < 0.5) {
          const left = await bench.workspaces.integrationAt(name, head);
          spawnSync('/bin/sh', ['-c', pick(random, EFFECTS)[0]], { cwd: left.workspace.path });
        }
        const { facts } = await checkGate(site, createBoard(factsOf(site.definition)));
        const seen = new Map(
          facts.commands.flatMap((one) => (one.purpose === 'criterion' ? [[one.run, one.passed] as const] : [])),
        );
        for (const command of criteria) {
          const wanted = inClone(bench.root, pristine, command);
          expect({ seed, at, verify, command, passed: seen.get(command) }).toEqual({
            ...{ seed, at, verify, command },
            passed: wanted,
          });
        }
      }
    },
  );
});
