import { errorText } from '../../model/errors.ts';
import { PEOPLE_KINDS } from '../../model/people/kinds.ts';
import type { Delivery } from '../../model/people/reply.ts';
import { afterPost, nextPost, type DueReply, type Elsewhere, type PostResult } from '../../rules/people/next-post.ts';
import type { Channel, Post } from '../../substrate/ports/channel.ts';
import { plainJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { FollowPeople } from './follow-people.ts';
import type { PeoplePorts } from './people-ports.ts';

export interface Posting extends PeoplePorts {
  readonly name: string;
  readonly channel: Pick<Channel, 'longest' | 'send' | 'directPlace'>;
  readonly report: string | undefined;
  readonly follow: FollowPeople;
  readonly stopped: AbortSignal;
}

/** Posts what is due in one channel, one after the other. Resolves with when the next is due (epoch ms); undefined: once something changes. */
export async function postDue(ports: Posting): Promise<number | undefined> {
  const { name, channel, clock, read, write, follow, stopped, say } = ports;
  const { longest } = channel;
  while (!stopped.aborted) {
    const due = read((ledger) => [...follow(ledger).due.values()].filter(({ reply }) => reply.channel === name)) ?? [];
    const next = nextPost({ now: clock.now(), due, longest });
    if (next.do === 'wait') return next.until;
    const first = due[0];
    if (first === undefined) return undefined;
    const { id, begun } = next;
    const keep = (delivery: Delivery): Promise<void> =>
      write((ledger) => {
        ledger.writeRecord({ kind: PEOPLE_KINDS.delivery, id, value: plainJson(delivery) });
      });
    // Before the try: after a kill it is known that this one may have come through.
    if (next.post.triedAt === undefined) await keep(begun);
    const result = await trySend(ports, next.post);
    const elsewhere = result.did === 'refused' ? await elsewhereOf(ports, first) : {};
    const after = afterPost({ reply: first.reply, delivery: begun }, result, {
      now: clock.now(),
      longest,
      ...elsewhere,
    });
    await keep(after);
    if (result.did !== 'posted') say(wordsOf(ports, id, after, result.why));
  }
  return undefined;
}

async function trySend({ channel }: Posting, post: Post): Promise<PostResult> {
  try {
    return await channel.send(post);
  } catch (error) {
    return { did: 'later', why: errorText(error) };
  }
}

async function elsewhereOf({ channel, report }: Posting, { reply }: DueReply): Promise<Elsewhere> {
  const { sender } = reply;
  const direct = sender === undefined ? undefined : await channel.directPlace(sender).catch(() => undefined);
  return { direct, report };
}

function wordsOf({ name, redactor }: Posting, id: string, { state, instead, tries }: Delivery, why: string): string {
  const next =
    state === 'refused'
      ? 'is not posted'
      : tries === 0
        ? `goes to ${instead ?? 'another place'}`
        : `is tried again (${tries} so far)`;
  return `${name}: the reply ${plainLine(id, 80)} ${next}: ${plainLine(redactor.text(why), 200)}`;
}
