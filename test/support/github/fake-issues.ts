import { hasMarker, isMarked, markedText } from '../../../src/substrate/git/forge/own-comment.ts';
import type { NotDone } from '../../../src/substrate/ports/forge-answer.ts';
import type { ForgeComment, ForgeIssues } from '../../../src/substrate/ports/forge-issues.ts';
import { addComment, setLabel } from './issues.ts';
import { nextId, stamp, type GithubState, type Issue } from './state.ts';

/** The port without a forge: the same state as that of GitHub on loopback, without programs and network. */
export class FakeIssues implements ForgeIssues {
  readonly place: string;
  /** How often each verb was called. */
  readonly calls = new Map<string, number>();
  /** Asked before each call: what it fails with; `cut`: it is done, and nobody hears of it. */
  fault: (verb: string) => NotDone | 'cut' | undefined = () => undefined;
  private readonly state: GithubState;
  private readonly login: string;

  constructor(state: GithubState, login: string) {
    this.state = state;
    this.login = login;
    this.place = `github.com/${state.owner}/${state.name}`;
  }

  private async answer<Value extends object>(
    verb: string,
    number: number | undefined,
    work: (issue: Issue) => Value | NotDone,
  ): Promise<Value | NotDone> {
    this.calls.set(verb, (this.calls.get(verb) ?? 0) + 1);
    const fault = this.fault(verb);
    if (fault !== undefined && fault !== 'cut') return fault;
    const issue = number === undefined ? undefined : this.state.issues.get(number);
    if (number !== undefined && issue === undefined) return { type: 'gone', why: `there is no issue ${number}` };
    const done = work(issue as Issue);
    return fault === 'cut' ? { type: 'later', why: 'the connection was cut', afterMs: 60_000 } : done;
  }

  list: ForgeIssues['list'] = ({ label, etag }) =>
    this.answer('list', undefined, () => {
      const open = [...this.state.issues.values()].filter((one) => one.state === 'open' && one.labels.includes(label));
      const issues = open.map(({ number, labels, updated_at }) => ({
        number,
        labels: [...labels],
        changed: updated_at,
      }));
      const now = JSON.stringify(issues);
      return now === etag ? { type: 'same' as const } : { type: 'listed' as const, issues, etag: now };
    });

  read: ForgeIssues['read'] = ({ number, label }) =>
    this.answer('read', number, ({ title, body, state, labels, events, edited_at }) => {
      const set = events.findLast((event) => event.event === 'labeled' && event.label === label);
      const about = { number, title, body, url: `https://${this.place}/issues/${number}` };
      const issue = {
        ...{ ...about, isOpen: state === 'open', labels: [...labels] },
        ...(set === undefined || !labels.includes(label)
          ? {}
          : { set: { id: `LE_${set.id}`, by: set.actor, at: Date.parse(set.created_at) } }),
        ...(edited_at === undefined ? {} : { editedAt: Date.parse(edited_at) }),
      };
      return { type: 'found' as const, issue };
    });

  roleOf: ForgeIssues['roleOf'] = (login) =>
    this.answer('roleOf', undefined, () => {
      const { permission = 'none' } = this.state.users.get(login) ?? {};
      const isMember = permission === 'write' || permission === 'maintain';
      return { type: 'role' as const, role: permission === 'admin' ? 'owner' : isMember ? 'member' : 'none' };
    });

  comments: ForgeIssues['comments'] = ({ number, after }) =>
    this.answer('comments', number, (issue) => {
      const [since = '', last = '0'] = after.split('/');
      const found = issue.comments.filter(({ id, created_at }) => id > Number(last) && created_at >= since);
      const comments = found.map(({ id, created_at, user, body }): ForgeComment => {
        const isOwn = user === this.login && isMarked(body);
        return { id: String(id), cursor: `${created_at}/${id}`, by: user, body: body.slice(0, 4_000), isOwn };
      });
      return { type: 'comments' as const, comments };
    });

  post: ForgeIssues['post'] = ({ number, marker, text }) =>
    this.answer('post', number, (issue) => {
      const there = issue.comments.find(({ user, body }) => user === this.login && hasMarker(body, marker));
      if (there !== undefined) return { type: 'posted' as const, id: String(there.id) };
      addComment(this.state, issue, this.login, markedText(marker, text));
      return { type: 'posted' as const, id: String(issue.comments.at(-1)?.id) };
    });

  edit: ForgeIssues['edit'] = ({ number, id, marker, text }) =>
    this.answer('edit', number, (issue) => {
      const comment = issue.comments.find((one) => String(one.id) === id);
      if (comment === undefined) return { type: 'gone' as const, why: 'there is no such comment' };
      comment.body = markedText(marker, text);
      comment.updated_at = stamp(this.state);
      return { type: 'edited' as const };
    });

  relabel: ForgeIssues['relabel'] = ({ number, set, remove }) =>
    this.answer('relabel', number, (issue) => {
      setLabel(this.state, issue, { label: set, actor: this.login, on: true });
      for (const label of remove) setLabel(this.state, issue, { label, actor: this.login, on: false });
      return { type: 'labelled' as const };
    });
}

/** The author or a member changes the text. */
export function editIssue(state: GithubState, number: number, body: string): void {
  const issue = state.issues.get(number);
  if (issue === undefined) throw new Error(`no issue ${number}`);
  nextId(state);
  issue.body = body;
  issue.edited_at = stamp(state);
  issue.updated_at = issue.edited_at;
}
