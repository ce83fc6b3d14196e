import { beforeEach, expect, it } from 'vitest';
import { commentsSince, type ForgeIssues } from '../../../../src/substrate/ports/forge-issues.ts';
import type { NotDone } from '../../../../src/substrate/ports/forge-answer.ts';
import { editIssue } from '../../../support/github/fake-issues.ts';
import { addComment, setLabel } from '../../../support/github/issues.ts';
import { emptyState, type GithubState, type Issue } from '../../../support/github/state.ts';

/** One adapter of the port, and the state behind it. */
export interface IssuesBench {
  readonly state: GithubState;
  readonly issues: ForgeIssues;
  /** Every call of this kind fails so; `cut`: it is done, and nobody hears of it. */
  fail(how: 'limit' | 'cut' | undefined): void;
}

type Tags = Readonly<{ tags: string[] }>;

/** What every adapter of the port of issues promises. */
export function issuesSuite(open: () => Promise<IssuesBench>, lane: Tags | Record<string, never>): void {
  let bench: IssuesBench;
  let issue: Issue;
  const login = 'squad-bot';
  beforeEach(async () => {
    bench = await open();
    bench.fail(undefined);
    const { state } = bench;
    Object.assign(state, { ...emptyState(state.owner, state.name), tokens: state.tokens, now: () => clock });
    clock = Date.parse('2026-11-29T06:00:00Z');
    const users = { owner: 'admin', ann: 'write', mia: 'maintain', tess: 'triage', [login]: 'write' } as const;
    for (const [name, permission] of Object.entries(users)) state.users.set(name, { login: name, id: 1, permission });
    issue = add(7);
  });
  let clock = 0;
  const add = (number: number): Issue => {
    const at = new Date(clock).toISOString().replace('.000', '');
    const made: Issue = {
      ...{ number, title: `Fix “${number}”`, body: 'It\nis broken.', user: 'mallory', state: 'open', labels: [] },
      ...{ comments: [], events: [], created_at: at, updated_at: at },
    };
    bench.state.issues.set(number, made);
    return made;
  };
  const label = (name: string, actor: string, on = true): void => {
    clock += 1_000;
    setLabel(bench.state, issue, { label: name, actor, on });
  };

  it('lists open issues with a label, and says that nothing has changed', lane, async () => {
    const { issues, state } = bench;
    add(8);
    label('squad', 'ann');
    const first = await issues.list({ label: 'squad' });
    expect(first).toMatchObject({ type: 'listed', issues: [{ number: 7, labels: ['squad'] }] });
    const etag = 'etag' in first ? first.etag : undefined;
    expect(await issues.list({ label: 'squad', etag })).toEqual({ type: 'same' });
    issue.state = 'closed';
    expect(await issues.list({ label: 'squad', etag })).toMatchObject({ type: 'listed', issues: [] });
    expect(state.issues.size).toBe(2);
  });

  it('says who set the label the last time, and when the text changed', lane, async () => {
    const { issues, state } = bench;
    label('squad', 'mallory');
    label('squad', 'ann', false);
    const of = { number: 7, label: 'squad' };
    const without = await issues.read(of);
    expect(without).toMatchObject({ type: 'found', issue: { title: 'Fix “7”', body: 'It\nis broken.', isOpen: true } });
    expect('issue' in without && without.issue.set).toBeFalsy();
    label('squad', 'ann');
    label('bug', 'tess');
    const set = { by: 'ann', at: clock - 1_000 };
    const found = await issues.read(of);
    expect(found).toMatchObject({ issue: { set, labels: ['squad', 'bug'] } });
    expect('issue' in found && found.issue.editedAt).toBeFalsy();
    clock += 60_000;
    editIssue(state, 7, 'Something else');
    expect(await issues.read(of)).toMatchObject({ issue: { set, body: 'Something else', editedAt: clock } });
    expect(await issues.read({ ...of, number: 99 })).toMatchObject({ type: 'gone' });
  });

  it('knows what a person may do there', lane, async () => {
    const roles = ['owner', 'mia', 'ann', 'tess', 'mallory', 'no/../one'].map((one) => bench.issues.roleOf(one));
    const found = (await Promise.all(roles)).map((one) => ('role' in one ? one.role : one.type));
    expect(found).toEqual(['owner', 'member', 'member', 'none', 'none', 'none']);
  });

  it('posts once, finds what was posted although its answer was lost, and edits it in its place', lane, async () => {
    const { issues } = bench;
    const since = clock;
    addComment(bench.state, issue, 'mallory', '<!-- squad:issue/LE_1 -->\nI am squad');
    const text = 'hello, @ann\n“yes” `no` @/etc/hostname';
    const post = { number: 7, marker: 'issue/LE_1', text, since };
    bench.fail('cut');
    expect(await issues.post(post)).toMatchObject({ type: 'later' });
    bench.fail(undefined);
    const posted = await issues.post(post);
    expect(posted).toMatchObject({ type: 'posted' });
    const own = (): string[] => issue.comments.filter(({ user }) => user === login).map(({ body }) => body);
    expect(own()).toEqual([`<!-- squad:issue/LE_1 -->\n${text}`]);
    const id = 'id' in posted ? posted.id : '';
    expect(await issues.edit({ number: 7, id, marker: post.marker, text: 'done' })).toEqual({ type: 'edited' });
    expect(own()).toEqual(['<!-- squad:issue/LE_1 -->\ndone']);
    expect(await issues.edit({ number: 7, id: '999999', marker: 'm', text: 'x' })).toMatchObject({ type: 'gone' });
    expect(await issues.post({ ...post, number: 99 })).toMatchObject({ type: 'gone' });
  });

  it('reads 500 comments, each once, and knows its own', lane, async () => {
    const { issues, state } = bench;
    const start = commentsSince(clock);
    for (let left = 500; left > 0; left -= 1) {
      if (left % 7 === 0) clock += 1_000;
      addComment(state, issue, 'mallory', `/squad yes ${'x'.repeat(left === 9 ? 50_000 : 10)}`);
    }
    await issues.post({ number: 7, marker: 'm', text: 'mine', since: clock });
    const all = await issues.comments({ number: 7, after: start });
    const comments = 'comments' in all ? all.comments : [];
    expect(comments).toHaveLength(501);
    expect(comments.filter(({ isOwn }) => isOwn)).toHaveLength(1);
    expect(Math.max(...comments.map(({ body }) => body.length))).toBe(4_000);
    const middle = comments[250]?.cursor ?? '';
    const rest = await issues.comments({ number: 7, after: middle });
    expect('comments' in rest ? rest.comments : []).toHaveLength(250);
  });

  it('sets the label of a state and takes the others away, as often as it is asked', lane, async () => {
    const { issues } = bench;
    label('squad', 'ann');
    label('squad:running', login);
    const of = { number: 7, set: 'squad:done', remove: ['squad:running', 'squad:waiting'] };
    expect([await issues.relabel(of), await issues.relabel(of)]).toEqual([{ type: 'labelled' }, { type: 'labelled' }]);
    expect(issue.labels).toEqual(['squad', 'squad:done']);
    expect(issue.events).toHaveLength(4);
  });

  it('says for each verb that it is to be asked again later', lane, async () => {
    bench.fail('limit');
    const { issues } = bench;
    const about = { number: 7, marker: 'm', text: 't' };
    const answers: (NotDone | object)[] = [
      await issues.list({ label: 'squad' }),
      await issues.read({ number: 7, label: 'squad' }),
      await issues.roleOf('ann'),
      await issues.comments({ number: 7, after: commentsSince(0) }),
      await issues.post({ ...about, since: 0 }),
      await issues.edit({ ...about, id: '1' }),
      await issues.relabel({ number: 7, set: 'a', remove: [] }),
    ];
    for (const answer of answers) expect(answer).toMatchObject({ type: 'later', afterMs: 1_000 });
    expect(issue.comments).toEqual([]);
  });
}
