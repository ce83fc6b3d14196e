import { memberAt } from '../../model/mail/policy.ts';
import { z } from 'zod';
import { isSquadError } from '../../model/errors.ts';
import { defined } from '../../text/defined.ts';
import { isoTime } from '../../text/time.ts';
import { refuse } from '../../model/mail/refusal.ts';
import type { Json } from '../../text/json.ts';
import { ACK_TIMEOUT_MS } from '../../model/mail/times.ts';
import type { Delivery, MailStatus } from '../../substrate/ports/mailbox.ts';
import { shownMessage } from './messages.ts';
import { defineTool, type MailTool, type ToolAnswer, type ToolContext } from './tool.ts';

/** Entries of one list. */
const MOST_LISTED = 50;

const inboxInput = z.strictObject({
  id: z.string().exactOptional().describe('Read only this message, completely.'),
  offset: z.int().nonnegative().default(0).describe('With `id`: start at this character.'),
  limit: z.int().positive().max(20).default(10).describe('The most messages to return.'),
});
const acceptInput = z.strictObject({
  ids: z.array(z.string()).min(1).max(200).describe('Ids of the messages that you have read.'),
});
const statusInput = z.strictObject({});

const OPEN = { verb: null, answers: [] } as const;

/** Tools for the caller's own mail and for the state of the mailbox. They need no permission. */
export const READING_TOOLS: readonly MailTool[] = [
  defineTool({
    name: 'inbox',
    description:
      'Read your mail, oldest first. Accept the ids of what you have read, or it arrives again. With `id`: read one message as a ' +
      'whole.',
    ...OPEN,
    input: inboxInput,
    run: (context, { id, offset, limit }) =>
      id === undefined ? readNew(context, limit) : readOne(context, id, offset),
  }),
  defineTool({
    name: 'accept',
    description: 'Say which messages you have read.',
    ...OPEN,
    repeatable: true,
    input: acceptInput,
    run: accept,
  }),
  defineTool({
    name: 'status',
    description: 'Say who you are, who the members are, whom you may write to, and what waits for an answer.',
    ...OPEN,
    reads: true,
    repeatable: true,
    input: statusInput,
    run: status,
  }),
];

function readNew({ mail, party, words }: ToolContext, limit: number): ToolAnswer {
  const claimed = mail.claim(party, { limit, leaseMs: ACK_TIMEOUT_MS });
  const open = mail.inbox(party);
  const now = new Set(claimed.map(({ message }) => message.id));
  const before = open.filter(({ state, message }) => state === 'leased' && !now.has(message.id));
  return {
    ok: true,
    content: {
      note: words.information,
      letters: claimed.map((delivery) => shownMessage(mail, delivery)),
      more: open.filter(({ state }) => state === 'waiting').length,
      read_but_not_accepted: idsOf(before),
    },
  };
}

/** Refuses every message of others in the same way, so that a caller learns nothing about it. */
function readOne({ mail, party, words }: ToolContext, id: string, offset: number): ToolAnswer {
  const found = mail.messageFor(party, id);
  if (found === undefined) refuse('invalid_format', 'id', 'must be the id of a message to you or from you');
  return { ok: true, content: { note: words.information, letter: shownMessage(mail, found, offset) } };
}

function accept({ mail, party }: ToolContext, { ids }: { readonly ids: readonly string[] }): ToolAnswer {
  try {
    const accepted = mail.accept(party, ids);
    return { ok: true, content: { accepted: [...accepted], known_before: ids.filter((id) => !accepted.includes(id)) } };
  } catch (error) {
    if (!isSquadError(error) || error.code !== 'usage') throw error;
    return refuse('invalid_format', 'ids', 'must hold only ids of messages to you');
  }
}

function status(context: ToolContext): ToolAnswer {
  const { mail, party } = context;
  const found = mail.status(party.runId);
  const policy = mail.policy(party.runId);
  const me = policy && memberAt(policy, party.address);
  const unread = memberAt(found, party.address)?.unread ?? 0;
  return {
    ok: true,
    content: {
      you: {
        address: party.address,
        role: me?.role ?? '',
        may: [...(me?.verbs ?? [])],
        writes_to: [...(me?.writesTo ?? [])],
      },
      now: isoTime(context.now()),
      unread,
      members: found.members.map(({ address, role, online }) => ({ address, role, online })),
      you_owe_an_answer: asks(found, ({ recipient }) => recipient === party.address),
      others_owe_you_an_answer: asks(found, ({ message }) => message.from === party.address),
      tasks: found.tasks.slice(-MOST_LISTED).map(({ id, status: state, owner, deadline }) => ({
        id,
        status: state,
        owner,
        ...(deadline === null ? {} : { deadline: isoTime(deadline) }),
      })),
    },
  };
}

function asks({ unanswered }: MailStatus, mine: (delivery: Delivery) => boolean): Json[] {
  return unanswered
    .filter(mine)
    .slice(0, MOST_LISTED)
    .map(({ message: { id, from, action, task_id }, recipient, answerDue }) => ({
      id,
      from,
      to: recipient,
      ...defined({ action, task_id }),
      ...(answerDue === null ? {} : { answer_until: isoTime(answerDue) }),
    }));
}

function idsOf(deliveries: readonly Delivery[]): Json[] {
  return deliveries.slice(0, MOST_LISTED).map(({ message }) => message.id);
}
