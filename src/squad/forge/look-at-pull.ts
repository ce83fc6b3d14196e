import type { FollowRecord } from '../../model/forge/follow-record.ts';
import type { FollowView, SeenPull } from '../../rules/forge/decide-follow.ts';
import { mayDecide } from '../../rules/forge/judge-issue.ts';
import { isNotDone, type NotDone } from '../../substrate/ports/forge-answer.ts';
import type { ForgePulls, PullComment } from '../../substrate/ports/forge-pulls.ts';

/** More are looked up in the next look. */
const MOST_ROLES = 20;

export interface LookedAt {
  readonly pull: SeenPull | 'gone';
  readonly comments: readonly PullComment[];
  /** Comments of people who may not decide. */
  readonly strangers: readonly string[];
  /** Comments until then were read; undefined: not all. */
  readonly changed: string | undefined;
}

const NOTHING = { comments: [], strangers: [], changed: undefined };

/** One request where nothing is new; comments are read where the forge says that there was something, and to find what was posted. */
export async function lookAtPull(
  forge: ForgePulls,
  record: FollowRecord,
  { settings: { by, merges }, run }: Pick<FollowView, 'settings' | 'run'>,
): Promise<LookedAt | NotDone> {
  const read = await forge.read(record.number);
  if (isNotDone(read)) return read.type === 'gone' ? { pull: 'gone', ...NOTHING } : read;
  const { pull } = read;
  const isNews = pull.changed !== record.seen || record.round !== undefined;
  const found =
    isNews && pull.state === 'open' && run.at !== 'work'
      ? await forge.comments(record.number)
      : ({ type: 'comments', comments: [] } as const);
  if (isNotDone(found)) return found;
  const fresh = found.comments.filter(({ id, isOwn }) => !isOwn && !record.handled.includes(id));
  const approvers = merges && record.mergeAsked !== pull.head ? pull.approvals.map((one) => one.by) : [];
  const people = [...new Set([...approvers, ...fresh.map((one) => one.by)])];
  const roles = new Map<string, 'owner' | 'member' | 'none'>();
  for (const login of people.slice(0, MOST_ROLES)) {
    const answer = await forge.roleOf(login);
    if (isNotDone(answer)) return answer;
    roles.set(login, answer.role);
  }
  const known = fresh.filter((one) => roles.has(one.by));
  const isAllowed = (one: PullComment): boolean => mayDecide(roles.get(one.by), by);
  return {
    pull: { ...pull, comments: known.filter(isAllowed), roles },
    comments: found.comments,
    strangers: known.filter((one) => !isAllowed(one)).map(({ id }) => id),
    changed: known.length === fresh.length && run.at !== 'work' ? pull.changed : undefined,
  };
}
