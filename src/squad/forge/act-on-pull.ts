import { isSquadError } from '../../model/errors.ts';
import type { Answered, FollowRecord } from '../../model/forge/follow-record.ts';
import { sha256Of } from '../../model/sha256.ts';
import type { FollowAction, SeenPull } from '../../rules/forge/decide-follow.ts';
import { answerText, needsPersonText, overText, problemsOf } from '../../rules/forge/follow-texts.ts';
import { hasMarker } from '../../substrate/git/forge/own-comment.ts';
import { isNotDone, type NotDone } from '../../substrate/ports/forge-answer.ts';
import type { ForgePulls } from '../../substrate/ports/forge-pulls.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { keepFollow, type FollowPorts } from './follow-ports.ts';
import { problemText } from './issue-ports.ts';
import type { LookedAt } from './look-at-pull.ts';

type Doing<Do extends FollowAction['do']> = Extract<FollowAction, { readonly do: Do }>;
type Acted = Promise<FollowRecord | NotDone>;

interface About {
  readonly record: FollowRecord;
  readonly looked: LookedAt & { readonly pull: SeenPull };
  readonly now: number;
}

/** Does one thing. Returns what is on record then; nothing of that is written yet. */
export async function actOnPull(
  ports: FollowPorts,
  about: About,
  action: Exclude<FollowAction, { do: 'wait' | 'end' | 'hold' }>,
): Acted {
  const { record, looked } = about;
  switch (action.do) {
    case 'repeat':
      return repeat(ports, about, action);
    case 'note-flaky':
      ports.say(`${record.name}: ${action.check.name} failed and passed on the same commit: it is flaky`);
      return { ...record, flaky: [...record.flaky, `${action.check.name}@${looked.pull.head}`] };
    case 'plan':
      return plan(ports, about, action);
    case 'catch-up':
      return catchUp(ports, about, action);
    case 'rework':
      return giveRound(ports, record);
    case 'answer':
      return answer(ports, about, action);
    case 'close-round': {
      const { round: _, ...rest } = record;
      return { ...rest, head: looked.pull.head };
    }
    case 'ask-merge':
      return askMerge(ports, about);
    default:
      return action satisfies never;
  }
}

/** Written down first, so that a kill does not make it run twice. A wait for the forge takes it back. */
async function repeat(ports: FollowPorts, { record, looked, now }: About, { check }: Doing<'repeat'>): Acted {
  const { workspace, forge, say } = ports;
  const asked = (at: number): FollowRecord => {
    const one = { check: `${check.name}@${looked.pull.head}`, id: check.id, at };
    return { ...record, repeated: [...record.repeated, one] };
  };
  await keepFollow(workspace, asked(now));
  const answered = await forge.repeat(check);
  // One that cannot run again is for an agent.
  const isRefused = isNotDone(answered) && answered.type !== 'later';
  if (isNotDone(answered) && !isRefused) return answered;
  failpoint('follow.repeated');
  say(`${record.name}: ${check.name} failed, and ${isRefused ? 'cannot run again' : 'runs again'}`);
  return asked(isRefused ? 0 : now);
}

/** Writes the round down with its texts, before anyone is asked. */
async function plan(
  { forge, redactor, say }: FollowPorts,
  { record, looked, now }: About,
  { checks, comments }: Doing<'plan'>,
): Acted {
  const { head } = looked.pull;
  const failed: Parameters<typeof problemsOf>[0][number][] = [];
  for (const check of checks) {
    const log = await forge.log(check);
    if (isNotDone(log) && log.type === 'later') return log;
    const key = `${check.name}@${head}`;
    const wasRepeated = record.repeated.some((one) => one.check === key && one.id !== check.id);
    failed.push({ name: check.name, commit: head, wasRepeated, log: isNotDone(log) ? '' : log.text });
  }
  const ids = new Set(comments.map(({ id }) => id));
  const given = looked.comments.filter(({ id }) => ids.has(id));
  const problems = problemsOf(failed, given).map((text) => redactor.text(text));
  const round = {
    ...{ number: record.begun + 1, at: now, head, asked: false, problems },
    comments: given.map(
      ({ id, on, thread, body }): Answered => ({
        ...{ id, on, thread },
        ...(on === 'line' ? {} : { about: redactor.text(body.slice(0, 300)) }),
      }),
    ),
  };
  failpoint('follow.planned');
  say(`${record.name}: its agents get ${checks.length} failed checks and ${comments.length} comments`);
  return {
    ...{ ...record, round, begun: record.begun + 1, rounds: record.rounds + 1 },
    given: [...record.given, ...checks.map(({ name }) => `${name}@${head}`)],
  };
}

async function catchUp(
  { fetch, say }: FollowPorts,
  { record, looked, now }: About,
  { branch, commit }: Doing<'catch-up'>,
): Acted {
  const fetched = await fetch(record.remote);
  if (fetched.type === 'refused') return fetched;
  const { head } = looked.pull;
  const round = { number: record.begun + 1, at: now, head, asked: false, problems: [], comments: [] };
  say(`${record.name}: ${branch} is merged into it`);
  return {
    ...{ ...record, round: { ...round, base: { branch, commit } }, begun: record.begun + 1 },
    caughtUp: [...record.caughtUp, `${head}+${commit}`],
  };
}

async function giveRound({ workspace, rework }: FollowPorts, record: FollowRecord): Acted {
  if (record.round === undefined) return record;
  try {
    await rework(workspace, record);
  } catch (error) {
    if (!isSquadError(error) || error.code !== 'usage') throw error;
    return { type: 'refused', why: `its run cannot be opened again: ${problemText(error)}` };
  }
  failpoint('follow.asked');
  // Its run has the texts.
  return { ...record, round: { ...record.round, asked: true, problems: [] } };
}

async function answer({ forge }: FollowPorts, about: About, { comment, commit }: Doing<'answer'>): Acted {
  const { record } = about;
  const { about: beginning } = comment;
  const done = await postOnce(forge, about, { comment, key: comment.id, text: answerText(commit, beginning) });
  return done ?? { ...record, handled: [...record.handled, comment.id] };
}

/** A try whose answer was lost, or that a kill has cut short, may have come through. */
async function postOnce(
  forge: ForgePulls,
  { record, looked }: About,
  {
    comment,
    key,
    text,
  }: { readonly comment: Pick<Answered, 'on' | 'thread'>; readonly key: string; readonly text: string },
): Promise<NotDone | undefined> {
  const marker = `follow/${record.secret}/${key}`;
  if (looked.comments.some(({ isOwn, body }) => isOwn && hasMarker(body, marker))) return undefined;
  const posted = await forge.answer({ number: record.number, comment, marker, text });
  // A comment that was removed needs no answer.
  if (isNotDone(posted) && posted.type !== 'gone') return posted;
  failpoint('follow.posted');
  return undefined;
}

async function askMerge({ forge, say }: FollowPorts, { record, looked }: About): Acted {
  const { head } = looked.pull;
  const answered = await forge.askMerge({ number: record.number, head });
  if (isNotDone(answered) && (answered.type !== 'refused' || answered.next !== undefined)) return answered;
  failpoint('follow.merge-asked');
  const said = isNotDone(answered) ? `does not merge it: ${answered.why}` : 'merges it once its rules allow that';
  say(`${record.name}: the forge ${said}`);
  return { ...record, mergeAsked: head };
}

/** Says at the pull request, once for each reason, why a person is needed, or why it is not followed any more. */
export async function sayThere({ forge }: FollowPorts, about: About, { do: what, why }: Doing<'end' | 'hold'>): Acted {
  const { record, looked } = about;
  if (record.said === why || looked.pull.state !== 'open') return record;
  const text = what === 'hold' ? needsPersonText(why) : overText(why);
  const comment = { on: 'pull', thread: '' } as const;
  const done = await postOnce(forge, about, { comment, key: `${what}/${sha256Of(why).slice(0, 12)}`, text });
  return done ?? { ...record, said: why };
}
