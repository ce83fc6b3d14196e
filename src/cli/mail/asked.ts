import { SquadError } from '../../model/errors.ts';
import { isJsonObject } from '../../text/json.ts';
import type { MailMessage } from '../../model/mail/envelope.ts';
import type { MailParty } from '../../substrate/ports/mailbox.ts';
import { messageLine } from './mail-text.ts';
import type { OpenedMail } from './open-mail.ts';
import type { SendOptions } from './options.ts';
import type { Body, DraftFacts, Sending } from './sending.ts';

/**
 * The message that is answered: the one that `--corr` names (by its id or its number, `#12`), else the newest open ask of that
 * task. Throws `usage` where none or several fit. undefined: the id is nobody's, which the router refuses and records.
 */
export function askedBy(
  opened: OpenedMail,
  party: MailParty,
  verb: Sending,
  { corr, task }: Pick<SendOptions, 'corr' | 'task'>,
): Required<Pick<DraftFacts, 'asked' | 'askedBody'>> | undefined {
  const { mail } = opened;
  if (corr !== undefined) {
    const named = messageNamed(opened, corr);
    return named === undefined ? undefined : { asked: named, askedBody: bodyObject(mail.bodyOf(named)) };
  }
  const open = mail.openAsk(party, task);
  if (typeof open !== 'string') return { asked: open.message, askedBody: bodyObject(mail.bodyOf(open.message)) };
  throw new SquadError({
    code: 'usage',
    message: [`${open}${task === undefined ? '' : ` (task ${task})`}`, ...openAsks(opened, party.address)].join('\n'),
    next: `Name the message that is answered: \`squad mail ${verb} --corr '#<number>' …\`; see \`squad mail status\`.`,
  });
}

/** By its whole id, or by its number in the session; undefined: there is none. */
export function messageNamed({ mail, run }: OpenedMail, name: string): MailMessage | undefined {
  const seq = /^#?(\d{1,15})$/.exec(name)?.[1];
  if (seq === undefined) return mail.message(name);
  for (const entry of mail.trace({ runId: run.id, afterSeq: Number(seq) - 1 })) {
    if (entry.event === 'message') return entry.message.seq === Number(seq) ? entry.message : undefined;
  }
  return undefined;
}

const MOST_LISTED = 10;

function openAsks({ mail, run }: OpenedMail, address: string): readonly string[] {
  const own = mail.status(run.id).unanswered.filter(({ recipient }) => recipient === address);
  return own.slice(-MOST_LISTED).map(({ message }) => `${message.task_id ?? '-'}  ${messageLine(mail, message, 'en')}`);
}

/** Empty where the body is none. */
export function bodyObject(text: string): Body {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    // Base64, or nothing that has fields.
    return {};
  }
}
