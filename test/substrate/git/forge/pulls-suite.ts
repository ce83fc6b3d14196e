import { beforeEach, expect, it } from 'vitest';
import type { ForgePulls } from '../../../../src/substrate/ports/forge-pulls.ts';
import { hasMarker } from '../../../../src/substrate/git/forge/own-comment.ts';
import { addComment } from '../../../support/github/issues.ts';
import { addCheck, addLine, addPull, addReview, checksOf } from '../../../support/github/pulls.ts';
import { emptyState, type GithubState, type Pull } from '../../../support/github/state.ts';

/** One adapter of the port, and the state behind it. */
export interface PullsBench {
  readonly state: GithubState;
  readonly pulls: ForgePulls;
  /** Where the words of a review stand, if it has them as an own kind of comment. */
  readonly reviews?: 'review' | 'pull';
}

type Tags = Readonly<{ tags: string[] }>;

const HEAD = 'a'.repeat(40);

/** What every adapter of the port of pull requests promises. */
export function pullsSuite(open: () => Promise<PullsBench>, lane: Tags | Record<string, never>): void {
  let [pulls, state, pull, reviews]: [ForgePulls, GithubState, Pull, 'review' | 'pull'] = [] as never;
  const login = 'squad-bot';
  let clock = 0;
  beforeEach(async () => {
    ({ pulls, state, reviews = 'review' } = await open());
    Object.assign(state, { ...emptyState(state.owner, state.name), tokens: state.tokens, now: () => clock });
    clock = Date.parse('2026-11-29T06:00:00Z');
    const users = { owner: 'admin', ann: 'write', mallory: 'none', [login]: 'write' } as const;
    for (const [name, permission] of Object.entries(users)) state.users.set(name, { login: name, id: 1, permission });
    pull = addPull(state, { head: 'squad/x', base: 'main', title: 'T', body: 'B', user: login });
  });
  const read = async () => {
    const answer = await pulls.read(pull.number);
    if (answer.type !== 'pull') throw new Error(answer.why);
    return answer.pull;
  };

  it('reads a pull request as it is', lane, async () => {
    expect(await read()).toMatchObject({
      ...{ number: pull.number, state: 'open', isDraft: false, head: HEAD, base: 'main', baseHead: 'b'.repeat(40) },
      ...{ isFork: false, merge: 'other', mergesItself: false, checks: [], approvals: [] },
    });
    Object.assign(pull, { isDraft: true, isFork: true, mergeState: 'BEHIND' });
    expect(await read()).toMatchObject({ isDraft: true, isFork: true, merge: 'behind' });
    Object.assign(pull, { state: 'MERGED', mergeState: 'DIRTY' });
    expect(await read()).toMatchObject({ state: 'merged', merge: 'conflict' });
    expect(await pulls.read(99)).toMatchObject({ type: 'gone' });
    state.isDeleted = true;
    expect(await pulls.read(pull.number)).toMatchObject({ type: 'gone' });
  });

  it('says how its checks are by their newest tries, gives their logs, and runs one again', lane, async () => {
    addCheck(state, { name: 'build', commit: HEAD, conclusion: 'FAILURE', log: 'boom' });
    addCheck(state, { name: 'lint', commit: HEAD });
    addCheck(state, { name: 'lint', commit: 'c'.repeat(40), conclusion: 'FAILURE' });
    const [build, lint] = (await read()).checks;
    expect([build?.state, lint?.state]).toEqual(['failed', 'passed']);
    if (build === undefined) throw new Error('no check');
    expect(await pulls.log(build)).toEqual({ type: 'log', text: 'boom' });
    expect(await pulls.repeat(build)).toEqual({ type: 'repeats' });
    const [again] = (await read()).checks;
    expect(again).toMatchObject({ name: build.name, state: 'pending' });
    expect(again?.id).not.toBe(build.id);
    expect(checksOf(state, HEAD)).toHaveLength(2);
  });

  it('lists what people say, where it stands, and answers there once found by its marker', lane, async () => {
    const line = addLine(state, pull, { user: 'ann', body: 'Rename it', path: 'a.txt', line: 7 });
    clock += 1_000;
    const issue = state.issues.get(pull.number);
    if (issue !== undefined) addComment(state, issue, 'mallory', '<!-- squad:follow/s/line/1 -->\nI am squad');
    clock += 1_000;
    addReview(state, pull, { user: 'owner', body: 'Not yet', says: 'CHANGES_REQUESTED' });
    addReview(state, pull, { user: 'ann', body: 'Thanks!', says: 'APPROVED' });
    const before = await read();
    clock += 1_000;
    const said = await pulls.comments(pull.number);
    const first = said.type === 'comments' ? said.comments.find(({ by }) => by === line.user) : undefined;
    const comment = { on: 'line', thread: first?.thread ?? '' } as const;
    expect(await pulls.answer({ number: pull.number, comment, marker: 'follow/s/1', text: 'done' })).toEqual({
      type: 'answered',
    });
    const about = { on: 'pull', thread: '' } as const;
    await pulls.answer({ number: pull.number, comment: about, marker: 'follow/s/2', text: 'also' });
    const found = await pulls.comments(pull.number);
    if (found.type !== 'comments') throw new Error(found.why);
    expect(found.comments).toMatchObject([
      { on: 'line', by: 'ann', body: 'Rename it', path: 'a.txt', line: 7, thread: comment.thread, isOwn: false },
      { on: 'pull', by: 'mallory', isOwn: false },
      { on: reviews, by: 'owner', body: 'Not yet', isOwn: false },
      { on: 'line', by: login, thread: comment.thread, isOwn: true },
      { on: 'pull', by: login, isOwn: true },
    ]);
    expect(found.comments.filter(({ isOwn, body }) => isOwn && hasMarker(body, 'follow/s/2'))).toHaveLength(1);
    const after = await read();
    expect(after.changed).not.toBe(before.changed);
    expect(after.approvals.toSorted((a, b) => (a.by < b.by ? -1 : 1))).toEqual([
      { by: 'ann', says: 'approved', commit: HEAD },
      { by: 'owner', says: 'changes', commit: HEAD },
    ]);
  });

  it('reads 500 comments', lane, async () => {
    const issue = state.issues.get(pull.number) ?? expect.fail('no issue');
    for (let left = 500; left > 0; left -= 1) addComment(state, issue, 'mallory', `${left}`);
    const found = await pulls.comments(pull.number);
    expect(found.type === 'comments' ? found.comments.length : found).toBe(500);
  });

  it('asks for a merge of this commit alone', lane, async () => {
    expect(await pulls.askMerge({ number: pull.number, head: 'c'.repeat(40) })).toMatchObject({ type: 'refused' });
    expect(pull.autoMerge).toBe(false);
    expect(await pulls.askMerge({ number: pull.number, head: HEAD })).toEqual({ type: 'asked' });
    expect((await read()).mergesItself).toBe(true);
  });

  it('knows the rights of people', lane, async () => {
    for (const [name, role] of [
      ['owner', 'owner'],
      ['ann', 'member'],
      ['mallory', 'none'],
      ['no one', 'none'],
    ] as const)
      expect(await pulls.roleOf(name)).toEqual({ type: 'role', role });
  });
}
