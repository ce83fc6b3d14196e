import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addCheck, addLine, addReview, checksOf, headOf } from '../support/github/pulls.ts';
import { git } from '../support/git.ts';
import { ALL } from '../support/lane.ts';
import { CANARY, GH, openFollowBench } from './follow-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

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
      const { bench, github, state, record, environment, step, drive, whole } = await openFollowBench(test, script);
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
      const { bench, state, record, environment, step, drive, whole } = await openFollowBench(test, script);
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
