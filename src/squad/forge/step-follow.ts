import { join } from 'node:path';
import { forgePortsOf } from '../../engine/machine.ts';
import type { FollowRecord } from '../../model/forge/follow-record.ts';
import { decideFollow, nextLook, type FollowAction, type FollowView } from '../../rules/forge/decide-follow.ts';
import { forgePulls } from '../../substrate/git/forge/issues.ts';
import { isNotDone, type NotDone } from '../../substrate/ports/forge-answer.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { briefly } from '../../substrate/system/process/brief-lock.ts';
import { plainLine } from '../../text/plain-text.ts';
import { bindWorkspace, type OpenedWorkspace } from '../open-workspace.ts';
import { isAgreed } from '../run-consent.ts';
import { askRework } from './ask-rework.ts';
import { actOnPull, sayThere } from './act-on-pull.ts';
import { followedNow, keepFollow, runOf, type FollowPorts } from './follow-ports.ts';
import { lookAtPull, type LookedAt } from './look-at-pull.ts';
import { waitFor } from './step-forge.ts';

/** More in one go would be a fault. */
const MOST_STEPS = 100;

/** The forge of a remote, with the person's login. */
async function connectPulls(workspace: OpenedWorkspace, remote: string) {
  const pulls = await forgePulls(forgePortsOf(workspace), workspace.repository, remote);
  if ('type' in pulls) return pulls;
  const forge = workspace.composition.forge(workspace.repository);
  return { pulls, fetch: async (name: string) => forge.fetch(name) };
}

interface FollowDoers extends Pick<FollowPorts, 'rework'> {
  readonly connect: typeof connectPulls;
}

/**
 * Does what followed pull requests need, until it has to wait. Returns when to look again (epoch ms); undefined: none is followed. Safe to repeat,
 * and after a kill at any place.
 */
export async function stepFollow(
  opened: OpenedWorkspace,
  say: (text: string) => void,
  { connect, rework }: FollowDoers = { connect: connectPulls, rework: askRework },
): Promise<number | undefined> {
  const workspace = bindWorkspace(opened);
  if (followedNow(workspace).length === 0) return undefined;
  return briefly(join(workspace.directory, 'forge.lock'), async () => {
    let until = Infinity;
    for (const record of followedNow(workspace)) {
      const { next, state } = await follow(workspace, record, { say, connect, rework });
      if (state === 'follows' || state === 'held') until = Math.min(until, next);
    }
    return until === Infinity ? undefined : until;
  });
}

async function follow(
  workspace: OpenedWorkspace,
  record: FollowRecord,
  { say, connect, rework }: FollowDoers & Pick<FollowPorts, 'say'>,
): Promise<FollowRecord> {
  const { composition } = workspace;
  const now = composition.clock.now();
  const found = runOf(workspace, record);
  // Its answers are due once it is over, and not at the next look.
  const isBack = record.round?.asked === true && found?.run.at !== 'work' && record.state === 'follows';
  if (now < record.next && !(isBack && record.failures === 0)) return record;
  if (found === undefined) return keepFollow(workspace, { ...record, state: 'over', why: 'its run was removed' });
  const redactor = composition.redactor([]);
  const fail = async (before: FollowRecord, answer: NotDone): Promise<FollowRecord> => {
    const { until, why } = waitFor(answer, before.failures, now);
    say(`${before.name}: ${plainLine(redactor.text(why), 300)}`);
    return keepFollow(workspace, { ...before, next: until, failures: before.failures + 1 });
  };
  if (!(await isAgreed(workspace, record.run))) return fail(record, NOT_AGREED);
  const forge = await connect(workspace, record.remote);
  if ('type' in forge) return fail(record, forge);
  const ports = { workspace, forge: forge.pulls, fetch: forge.fetch, rework, redactor, say };
  const looked = await lookAtPull(forge.pulls, record, found);
  if (isNotDone(looked)) return fail(record, looked);
  const isNews = looked.changed !== undefined && looked.changed !== record.seen;
  const fresh = { ...record, failures: 0, changed: isNews ? now : record.changed };
  return act(ports, { ...fresh, handled: [...record.handled, ...looked.strangers] }, { ...found, looked, now, fail });
}

const NOT_AGREED: NotDone = {
  type: 'refused',
  why: 'no person has agreed to its run on this machine, and so its pull request is not followed',
};

interface Seen extends Pick<FollowView, 'run' | 'settings' | 'now'> {
  readonly looked: LookedAt;
  readonly fail: (record: FollowRecord, answer: NotDone) => Promise<FollowRecord>;
}

/** One thing after the other. Each is written down before the next. */
async function act(ports: FollowPorts, before: FollowRecord, seen: Seen): Promise<FollowRecord> {
  const { workspace } = ports;
  const { settings, looked, now, fail } = seen;
  const { pull } = looked;
  let record = before;
  for (let left = MOST_STEPS; left > 0; left -= 1) {
    const run = runOf(workspace, record)?.run ?? { at: 'gone' as const, head: record.head };
    const seenNow = pull === 'gone' ? pull : { ...pull, comments: open(pull.comments, record) };
    const action = decideFollow({ now, record, settings, run, pull: seenNow });
    failpoint('follow.decided');
    if (action.do === 'wait') return wait(ports, record, action, seen);
    if (action.do === 'end' || action.do === 'hold') return rest(ports, record, action, seen);
    // Without a pull request there is nothing else to do.
    if (pull === 'gone') return record;
    const done = await actOnPull(ports, { record, looked: { ...looked, pull }, now }, action);
    if (isNotDone(done)) return fail(record, done);
    record = await keepFollow(workspace, { ...done, changed: now });
  }
  return record;
}

function open<Comment extends { readonly id: string }>(
  comments: readonly Comment[],
  { handled, round }: FollowRecord,
): Comment[] {
  return comments.filter(({ id }) => !handled.includes(id) && !round?.comments.some((one) => one.id === id));
}

async function wait(
  { workspace }: FollowPorts,
  record: FollowRecord,
  { why, soon }: Extract<FollowAction, { do: 'wait' }>,
  { looked, now }: Seen,
): Promise<FollowRecord> {
  const isRead = record.round === undefined && looked.changed !== undefined && looked.pull !== 'gone';
  const hasOpen = looked.pull !== 'gone' && open(looked.pull.comments, record).length > 0;
  const seen = isRead && !hasOpen ? { seen: looked.changed } : {};
  const next = nextLook(now, record.changed, soon);
  return keepFollow(workspace, { ...record, ...seen, next, state: 'follows', why });
}

/** It is over, or waits for a person, who may put it right at any time. */
async function rest(
  ports: FollowPorts,
  record: FollowRecord,
  action: Extract<FollowAction, { do: 'end' | 'hold' }>,
  { looked: { pull, ...looked }, now, fail }: Seen,
): Promise<FollowRecord> {
  const { why } = action;
  if (record.why !== why)
    ports.say(`${record.name}: ${action.do === 'end' ? 'not followed any more' : 'held'}: ${why}`);
  const said = pull === 'gone' ? record : await sayThere(ports, { record, looked: { ...looked, pull }, now }, action);
  if (isNotDone(said)) return fail(record, said);
  const state = action.do === 'end' ? action.state : 'held';
  // Its comments are read each time, so not often.
  return keepFollow(ports.workspace, { ...said, state, why, next: nextLook(now, 0, false) });
}
