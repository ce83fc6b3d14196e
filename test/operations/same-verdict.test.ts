import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { compose } from '../../src/compose.ts';
import { createBoard } from '../../src/graph/decisions/board.ts';
import { factsOf } from '../../src/graph/decisions/run-facts.ts';
import type { OperationPorts } from '../../src/operations/operation-ports.ts';
import { checkGate } from '../../src/operations/check-gate.ts';
import { openChecksBench } from '../checks/checks-bench.ts';
import { definition } from '../report/support.ts';
import { chaosSeed } from '../support/chaos-row.ts';
import { spread, SPREAD } from '../support/lane.ts';
import { git } from '../support/git.ts';
import { createRandom } from '../support/random.ts';
import { testHost } from '../support/test-host.ts';
import { openBench, removeFolders } from '../substrate/git/bench.ts';

afterEach(removeFolders);

const SETUP = 'mkdir -p made/deep && echo ok > made/lib && echo ok > made/deep/part && git config setup.was here';

/** What a check can do to the folder in which it runs. */
const EFFECTS = [
  'true',
  'echo right > a.txt',
  'echo wrong > a.txt',
  'rm -f a.txt',
  'rm -rf src',
  'mv src lib',
  'chmod +x a.txt',
  'chmod 000 a.txt',
  'ln -sf /etc/hostname a.txt',
  'rm -f a.txt; mkdir a.txt',
  'mkdir -p empty/er',
  'echo x > new.txt',
  'mkdir -p out && echo ok > out/ok',
  'echo ok > out',
  'mkfifo pipe',
  'git commit -qam done --author="a <a@a>"',
  'git checkout -q -b other',
  'git checkout -q --orphan none',
  'git update-ref refs/heads/z HEAD',
  'git tag t',
  'git config user.nick z',
  'git config --unset setup.was',
  'git rm -q --cached a.txt',
  'git update-index --assume-unchanged a.txt; echo right > a.txt',
  'rm -rf .git',
  'rm -rf made',
  'echo broken > made/lib',
  'rm made/deep/part; mkdir made/deep/part',
  'touch made/cache',
  'mkdir made/sub && echo 1 > made/sub/f',
  'git init -q nested && git -C nested -c user.name=a -c user.email=a@a commit -q --allow-empty -m x',
  'chmod 500 src; chmod 500 made',
  'echo "*" > .git/info/exclude; echo x > hidden.txt',
];

/** What a check can see of it. */
const PROBES = [
  'grep -q right a.txt',
  'grep -q wrong a.txt',
  'test -f a.txt',
  'test -x a.txt',
  'test -L a.txt',
  'test -d empty',
  'test -e new.txt',
  'test -e out',
  'test -e out/ok',
  'test -p pipe',
  'test -f src/b.txt',
  'test -e lib',
  'test -e nested',
  'test -e hidden.txt',
  'test -e made/lib',
  'grep -q ok made/lib',
  'test -f made/deep/part',
  'test -e made/cache',
  'test -d made/sub',
  'touch src/c.txt',
  'git log --format=%s | grep -q done',
  'git rev-parse -q --verify refs/heads/z',
  'git rev-parse -q --verify refs/tags/t',
  'git config user.nick',
  'git config setup.was',
  'git ls-files --error-unmatch a.txt',
  'git ls-files -v | grep -q "^h"',
  'git symbolic-ref HEAD | grep -q other',
  'test -z "$(git status --porcelain)"',
];

const FILES = { 'a.txt': 'wrong\n', 'src/b.txt': 'b\n', '.gitignore': 'made/\nout\n' };

interface Case {
  readonly verify: readonly string[];
  readonly criteria: readonly string[];
}

/** A probe and an effect, in either order. */
function criterion(random: () => number): string {
  const [probe, effect] = [pick(random, PROBES), pick(random, EFFECTS)];
  if (random() < 0.3) return `(${effect}) >/dev/null 2>&1; ${probe} >/dev/null 2>&1`;
  return `${probe} >/dev/null 2>&1; r=$?; (${effect}) >/dev/null 2>&1; exit $r`;
}

function pick(random: () => number, from: readonly string[]): string {
  return from[Math.floor(random() * from.length)] ?? 'true';
}

function newCase(random: () => number): Case {
  const verify = random() < 0.5 ? [`(${pick(random, EFFECTS)}) >/dev/null 2>&1; true`] : [];
  return { verify, criteria: Array.from({ length: 6 }, () => criterion(random)) };
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
      for (let at = 0; at < spread(3, 85, 6); at += 1) {
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
          pure: new Set(),
        };
        if (random() < 0.5) {
          const left = await bench.workspaces.integrationAt(name, head);
          spawnSync('/bin/sh', ['-c', pick(random, EFFECTS)], { cwd: left.workspace.path });
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
