import { isMarked, markedText } from '../../../src/substrate/git/forge/own-comment.ts';
import type { NotDone } from '../../../src/substrate/ports/forge-answer.ts';
import type { ForgePulls, PullComment } from '../../../src/substrate/ports/forge-pulls.ts';
import { addComment } from './issues.ts';
import { addLine, checksOf, headOf, rerun, touch } from './pulls.ts';
import type { Comment, GithubState, Pull } from './state.ts';

/** The port without a forge: the same state as that of GitHub on loopback, without programs and network. */
export class FakePulls implements ForgePulls {
  /** How often each verb was called. */
  readonly calls = new Map<string, number>();
  /** Asked before each call: what it fails with; `cut`: it is done, and no one hears of it. */
  fault: (verb: string) => NotDone | 'cut' | undefined = () => undefined;
  private readonly state: GithubState;
  private readonly login: string;

  constructor(state: GithubState, login: string) {
    this.state = state;
    this.login = login;
  }

  private async called<Value extends object>(
    verb: string,
    number: number | undefined,
    work: (pull: Pull) => Value | NotDone,
  ): Promise<Value | NotDone> {
    this.calls.set(verb, (this.calls.get(verb) ?? 0) + 1);
    const fault = this.fault(verb);
    if (fault !== undefined && fault !== 'cut') return fault;
    const pull = number === undefined ? undefined : this.state.pulls.get(number);
    if (this.state.isDeleted || (number !== undefined && pull === undefined))
      return { type: 'gone', why: 'there is no such pull request' };
    const done = work(pull as Pull);
    return fault === 'cut' ? { type: 'later', why: 'the connection was cut', afterMs: 60_000 } : done;
  }

  read: ForgePulls['read'] = (number) =>
    this.called('read', number, (pull) => {
      const commit = headOf(this.state, pull);
      const said = pull.reviews.filter((one) => one.state !== 'COMMENTED');
      const latest = [...new Map(said.map((one) => [one.user, one])).values()];
      return {
        type: 'pull' as const,
        pull: {
          ...{ number: pull.number, isDraft: pull.isDraft, head: commit, base: pull.base, baseHead: 'b'.repeat(40) },
          ...{ isFork: pull.isFork, mergesItself: pull.autoMerge },
          state: pull.state === 'OPEN' ? 'open' : pull.state === 'MERGED' ? 'merged' : 'closed',
          merge: pull.mergeState === 'BEHIND' ? 'behind' : pull.mergeState === 'DIRTY' ? 'conflict' : 'other',
          checks: checksOf(this.state, commit).map(({ id, name, status, conclusion }) => ({
            ...{ id: String(id), name: `CI / ${name}`, canRepeat: true },
            state: status !== 'COMPLETED' ? 'pending' : conclusion === 'SUCCESS' ? 'passed' : 'failed',
          })),
          approvals: latest.map((one) => ({
            ...{ by: one.user, commit: one.commit },
            says: one.state === 'APPROVED' ? 'approved' : 'changes',
          })),
          changed: this.state.issues.get(pull.number)?.updated_at ?? '',
        },
      };
    });

  comments: ForgePulls['comments'] = (number) =>
    this.called('comments', number, (pull) => {
      const of = (on: PullComment['on'], { id, user, body, created_at }: Omit<Comment, 'updated_at'>): PullComment => ({
        ...{ id: `${on}/${id}`, on, by: user, body: body.slice(0, 4_000), at: Date.parse(created_at) },
        ...{ thread: String(id), isOwn: user === this.login && isMarked(body) },
      });
      const lines = pull.lines.map((one) => ({
        ...of('line', one),
        ...{ path: one.path, line: one.line, thread: String(one.in_reply_to_id ?? one.id) },
      }));
      const others = (this.state.issues.get(pull.number)?.comments ?? []).map((one) => of('pull', one));
      const written = pull.reviews.filter((one) => one.body !== '' && one.state !== 'APPROVED');
      const reviews = written.map((one) => of('review', { ...one, created_at: one.submitted_at }));
      const comments = [...lines, ...others, ...reviews].toSorted((a, b) => a.at - b.at);
      return { type: 'comments' as const, comments };
    });

  log: ForgePulls['log'] = ({ id }) =>
    this.called('log', undefined, () => ({
      type: 'log' as const,
      text: this.state.checks.find((one) => String(one.id) === id)?.log ?? '',
    }));

  repeat: ForgePulls['repeat'] = ({ id }) =>
    this.called('repeat', undefined, () => {
      const job = this.state.checks.find((one) => String(one.id) === id);
      if (job === undefined) return { type: 'gone' as const, why: 'there is no such job' };
      rerun(this.state, job);
      return { type: 'repeats' as const };
    });

  answer: ForgePulls['answer'] = ({ number, comment, marker, text }) =>
    this.called('answer', number, (pull) => {
      const body = markedText(marker, text);
      const issue = this.state.issues.get(number);
      if (comment.on === 'line') addLine(this.state, pull, { user: this.login, body, to: Number(comment.thread) });
      else if (issue !== undefined) addComment(this.state, issue, this.login, body);
      touch(this.state, pull);
      return { type: 'answered' as const };
    });

  askMerge: ForgePulls['askMerge'] = ({ number, head }) =>
    this.called('askMerge', number, (pull) => {
      if (headOf(this.state, pull) !== head) return { type: 'refused' as const, why: 'the head has moved' };
      pull.autoMerge = true;
      return { type: 'asked' as const };
    });

  roleOf: ForgePulls['roleOf'] = (login) =>
    this.called('roleOf', undefined, () => {
      const { permission = 'none' } = this.state.users.get(login) ?? {};
      const isMember = permission === 'write' || permission === 'maintain';
      return { type: 'role' as const, role: permission === 'admin' ? 'owner' : isMember ? 'member' : 'none' };
    });
}
