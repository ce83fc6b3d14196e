import { isSquadError } from '../../model/errors.ts';
import type { Json } from '../../text/json.ts';
import { ACK_TIMEOUT_MS } from '../../model/mail/times.ts';
import type { Delivery, MailStatus } from '../../substrate/ports/mailbox.ts';
import { acceptInput, inboxInput, statusInput } from './arguments.ts';
import { INFORMATION, longLetter, moment, shortLetter } from './letters.ts';
import { defineTool, invalid, type MailTool, type ToolAnswer, type ToolDesk } from './tool.ts';

/** Of anything that is listed by its id only. */
const MOST_LISTED = 50;

/** One's own mail and what there is: nobody needs a permission for that. */
export const READING_TOOLS: readonly MailTool[] = [
  defineTool({
    name: 'inbox',
    description:
      'Read your mail, oldest first; call `accept` with the ids of what you have read, or it comes again. With `id`: one ' +
      'message as a whole.',
    verbs: null,
    input: inboxInput,
    run: (desk, { id, offset, limit }) => (id === undefined ? readNew(desk, limit) : readOne(desk, id, offset)),
  }),
  defineTool({
    name: 'accept',
    description: 'Say that you have read these messages.',
    verbs: null,
    repeatable: true,
    input: acceptInput,
    run: accept,
  }),
  defineTool({
    name: 'status',
    description:
      'Who you are in the mailbox, who else there is, what you may send to whom, and what waits for an answer.',
    verbs: null,
    reads: true,
    repeatable: true,
    input: statusInput,
    run: status,
  }),
];

function readNew({ mail, party }: ToolDesk, limit: number): ToolAnswer {
  const claimed = mail.claim(party, { limit, leaseMs: ACK_TIMEOUT_MS });
  const open = mail.inbox(party);
  const now = new Set(claimed.map(({ message }) => message.id));
  const before = open.filter(({ state, message }) => state === 'leased' && !now.has(message.id));
  return {
    ok: true,
    content: {
      note: INFORMATION,
      letters: claimed.map((delivery) => shortLetter(mail, delivery)),
      more: open.filter(({ state }) => state === 'waiting').length,
      read_but_not_accepted: idsOf(before),
    },
  };
}

/** Only of one's own: whatever else the id is of, the answer is the same. */
function readOne({ mail, party }: ToolDesk, id: string, offset: number): ToolAnswer {
  const found = mail.messageFor(party, id);
  if (found === undefined) {
    const wrong = invalid('id', 'is the id of a message to you or from you');
    mail.refuse(party, wrong.refusal);
    return wrong;
  }
  const letter = longLetter(mail, found, offset);
  return { ok: true, content: { note: INFORMATION, letter } };
}

function accept({ mail, party }: ToolDesk, { ids }: { readonly ids: readonly string[] }): ToolAnswer {
  try {
    const accepted = mail.accept(party, ids);
    return { ok: true, content: { accepted: [...accepted], known_before: ids.filter((id) => !accepted.includes(id)) } };
  } catch (error) {
    if (!isSquadError(error) || error.code !== 'usage') throw error;
    const wrong = invalid('ids', 'holds only ids of messages to you');
    mail.refuse(party, wrong.refusal);
    return wrong;
  }
}

function status(desk: ToolDesk): ToolAnswer {
  const { mail, party } = desk;
  const found = mail.status(party.runId);
  const me = mail.policy(party.runId)?.members.find(({ address }) => address === party.address);
  const unread = found.members.find(({ address }) => address === party.address)?.unread ?? 0;
  return {
    ok: true,
    content: {
      you: {
        address: party.address,
        role: me?.role ?? '',
        may: [...(me?.verbs ?? [])],
        writes_to: [...(me?.writesTo ?? [])],
      },
      now: moment(desk.now()),
      unread,
      members: found.members.map(({ address, role, online }) => ({ address, role, online })),
      you_owe_an_answer: asks(found, ({ recipient }) => recipient === party.address),
      others_owe_you_an_answer: asks(found, ({ message }) => message.from === party.address),
      tasks: found.tasks.slice(-MOST_LISTED).map(({ id, status: state, owner, deadline }) => ({
        id,
        status: state,
        owner,
        ...(deadline === null ? {} : { deadline: moment(deadline) }),
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
      ...(action === undefined ? {} : { action }),
      ...(task_id === undefined ? {} : { task_id }),
      ...(answerDue === null ? {} : { answer_until: moment(answerDue) }),
    }));
}

function idsOf(deliveries: readonly Delivery[]): Json[] {
  return deliveries.slice(0, MOST_LISTED).map(({ message }) => message.id);
}
