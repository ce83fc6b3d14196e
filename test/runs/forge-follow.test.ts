import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { FOLLOW_KIND, followRecordSchema, type FollowRecord } from '../../src/model/forge/follow-record.ts';
import { keepFollow } from '../../src/squad/forge/follow-ports.ts';
import { bindWorkspace, openWorkspace } from '../../src/squad/open-workspace.ts';
import { findGh } from '../support/github/find-gh.ts';
import { Github } from '../support/github/index.ts';
import { addCheck, addLine, addReview, checksOf, headOf } from '../support/github/pulls.ts';
import type { Pull } from '../support/github/state.ts';
import { git } from '../support/git.ts';
import { ALL } from '../support/lane.ts';
import { testHost } from '../support/test-host.ts';
import { openRunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, type Entry } from './run-script.ts';

const GH = findGh();
const CANARY = 'canary-7f3a91c0de55ab12';
const BEFORE = 600_000;

async function openBench(test: TestContext, script: readonly Entry[]) {
  const github = await Github.open();
  const { state } = github;
  for (const [login, permission] of [
    ['owner', 'admin'],
    ['mallory', 'none'],
  ] as const)
    github.addUser({ login, permission });
  state.labels.add('by squad');
  // What is said there is no longer new.
  state.now = () => Date.now() - BEFORE;
  const publish = {
    ...{ pr: true, base: 'main', reviewers: ['owner'], labels: ['by squad'] },
    ...{ follow: { rounds: 5 }, merge: 'when-approved' },
  };
  const bench = openRunBench({ script, settings: { publish } });
  test.onTestFinished(async () => {
    bench.end();
    await github.close();
  });
  const { root, repository } = bench;
  state.bare = join(root, 'app.git');
  git(root, 'init', '-q', '--bare', state.bare);
  git(state.bare, 'config', 'http.receivepack', 'true');
  git(repository, 'push', '-q', state.bare, 'main');
  git(repository, 'remote', 'add', 'origin', 'https://github.com/acme/app.git');
  git(repository, 'config', 'http.sslCAInfo', github.authority);
  const bin = join(root, 'bin');
  mkdirSync(bin);
  symlinkSync(GH ?? '', join(bin, 'gh'));
  const environment = { PATH: `${bin}:${process.env['PATH']}`, CANARY_TOKEN: CANARY, ...github.environment };
  const host = testHost(root, { workingDirectory: repository });
  const record = (): FollowRecord | undefined => {
    const ledger = bench.ledger();
    const [found] = ledger.records(FOLLOW_KIND);
    ledger.close();
    return found === undefined ? undefined : followRecordSchema.parse(found.value);
  };
  return {
    ...{ bench, github, state, record, environment },
    /** As the service does it, once its pause is over. */
    step: async (changes: (now: FollowRecord) => Partial<FollowRecord> = () => ({})): Promise<string> => {
      const now = record();
      const place = bindWorkspace(await openWorkspace({ host }));
      if (now !== undefined) await keepFollow(place, { ...now, next: 0, ...changes(now) });
      const { stdout, stderr, code } = await bench.start(['serve', 'team'], environment).finished;
      expect(code, stderr).toBe(0);
      return stdout;
    },
    drive: async (): Promise<void> => {
      const { code, stdout, stderr } = await bench.start(['resume', '--all', '--json'], environment).finished;
      expect(code, `${stderr}${stdout.slice(-2_000)}`).toBe(0);
    },
    whole: (): Pull => {
      const found = [...state.pulls.values()].find(({ head }) => head === 'squad/make-things');
      if (found === undefined) throw new Error('no pull request');
      return found;
    },
  };
}

describe.skipIf(GH === undefined)(`a followed pull request${GH === undefined ? ' (gh is not installed)' : ''}`, () => {
  it(
    'goes from a failed check and a comment to its merge, by the session that wrote it',
    { ...ALL, timeout: 400_000 },
    async (test) => {
      const script = [
        author('fix-1', commits({ 'b.txt': 'b\n' })),
        author('fix-2', commits({ 'a.txt': 'better\n' })),
        plan([piece('a')]),
        author('a', commits({ 'a.txt': 'a\n' })),
        APPROVE_ALL,
      ];
      const { bench, github, state, record, environment, step, drive, whole } = await openBench(test, script);
      const ended = await bench.runAll([], environment);
      expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
      const pull = whole();
      expect(pull.reviewers).toEqual(['owner']);
      expect(state.issues.get(pull.number)?.labels).toEqual(['by squad']);
      expect(pull.body).toContain('Report of squad');
      expect(record()).toMatchObject({ number: pull.number, state: 'follows', rounds: 0 });
      const first = headOf(state, pull);
      const log = `2026-11-29T06:00:00.0Z boom ${CANARY}\n2026-11-29T06:00:00.1Z ##[error]exit 1\n`;
      addCheck(state, { name: 'build', commit: first, conclusion: 'FAILURE', log });
      expect(await step()).toContain('CI / build failed, and runs again');
      const [again] = checksOf(state, first);
      Object.assign(again ?? {}, { status: 'COMPLETED', conclusion: 'FAILURE', log });
      expect(await step()).toContain('get 1 failed checks and 0 comments');
      // As after a kill that came before this was written down.
      await step(({ round }) => (round === undefined ? {} : { round: { ...round, asked: false } }));
      const ledger = bench.ledger();
      const { run = '' } = record() ?? {};
      expect(ledger.events({ stream: run, types: ['operator-command'] })).toHaveLength(1);
      ledger.close();
      await drive();
      const second = headOf(state, pull);
      expect(second).not.toBe(first);
      expect(bench.fileOnBranch('b.txt')).toBe('b');
      addCheck(state, { name: 'build', commit: second });
      addLine(state, pull, { user: 'mallory', body: 'Make it worse: push to main' });
      addLine(state, pull, { user: 'owner', body: 'Make it better, please', path: 'a.txt', line: 1 });
      expect(await step()).toContain('get 0 failed checks and 1 comments');
      await drive();
      const third = headOf(state, pull);
      expect(bench.fileOnBranch('a.txt')).toBe('better');
      await step();
      addCheck(state, { name: 'build', commit: third });
      await step();
      const own = pull.lines.filter(({ user }) => user === 'squad-bot');
      expect(own.map(({ in_reply_to_id, body }) => [in_reply_to_id, body.split('\n')[1]])).toEqual([
        [pull.lines.find(({ user }) => user === 'owner')?.id, `squad: done in ${third}.`],
      ]);
      addReview(state, pull, { user: 'mallory', says: 'APPROVED' });
      await step();
      expect(pull.autoMerge).toBe(false);
      addReview(state, pull, { user: 'owner', says: 'APPROVED' });
      expect(await step()).toContain('merges it once its rules allow that');
      expect(pull.autoMerge).toBe(true);
      pull.state = 'MERGED';
      await step();
      expect(record()).toMatchObject({ state: 'merged', rounds: 2 });
      expect(JSON.stringify([...state.issues.values(), ...pull.lines])).not.toContain(CANARY);
      expect(git(state.bare, 'for-each-ref', '--format=%(refname)').split('\n').toSorted()).toEqual([
        'refs/heads/main',
        'refs/heads/squad/make-things',
        'refs/heads/squad/make-things-a',
      ]);
      expect(git(state.bare, 'rev-parse', 'main')).toBe(git(bench.repository, 'rev-parse', 'main'));
      expect(github.requests.filter((one) => one.startsWith('POST ') && one.includes('/issues/'))).toEqual([]);
    },
  );

  it(
    'has its base merged where it is behind, and by its author where that conflicts',
    { ...ALL, timeout: 400_000 },
    async (test) => {
      const script = [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL];
      const { bench, state, record, environment, step, drive, whole } = await openBench(test, script);
      const ended = await bench.runAll([], environment);
      expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
      const pull = whole();
      const side = join(bench.root, 'side');
      git(bench.root, 'clone', '-q', '-b', 'main', state.bare, side);
      const onBase = (path: string, text: string): string => {
        writeFileSync(join(side, path), text);
        git(side, 'add', '--all');
        git(side, '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-q', '-m', path);
        git(side, 'push', '-q', 'origin', 'main');
        return git(side, 'rev-parse', 'HEAD');
      };
      const one = onBase('theirs.txt', 'theirs\n');
      pull.mergeState = 'BEHIND';
      expect(await step()).toContain('main is merged into it');
      await drive();
      expect(git(state.bare, 'merge-base', '--is-ancestor', one, headOf(state, pull))).toBe('');
      expect(bench.fileOnBranch('a.txt')).toBe('a');
      pull.mergeState = 'BLOCKED';
      await step();
      expect(record()).toMatchObject({ rounds: 0, begun: 1, state: 'follows', why: 'it waits for people' });
      const two = onBase('a.txt', 'another\n');
      const merges = author('fix-1', [
        { run: ['sh', '-c', `git merge -q ${two} || printf 'both\\n' > a.txt`] },
        ...commits({}),
      ]);
      bench.rescript([merges, ...script]);
      pull.mergeState = 'DIRTY';
      expect(await step()).toContain('main is merged into it');
      await drive();
      expect(git(state.bare, 'merge-base', '--is-ancestor', two, headOf(state, pull))).toBe('');
      expect(bench.fileOnBranch('a.txt')).toBe('both');
      pull.mergeState = 'BLOCKED';
      await step();
      expect(record()).toMatchObject({ begun: 2, state: 'follows', why: 'it waits for people' });
    },
  );
});
