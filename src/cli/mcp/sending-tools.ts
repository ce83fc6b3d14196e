import { answerRule, composeMessage, type Given } from '../../model/mail/compose.ts';
import type { MailDraft } from '../../model/mail/envelope.ts';
import { makersOf, type Made } from '../../model/mail/makers.ts';
import type { AskedMessage } from '../../model/mail/kind-entry.ts';
import { refuse } from '../../model/mail/refusal.ts';
import { findAsked } from '../mail/asked.ts';
import { inputOf } from './tool-input.ts';
import { defineTool, type MailTool, type ToolAnswer, type ToolContext } from './tool.ts';

/** Every tool that sends messages, as the table of kinds has them. */
export const SENDING_TOOLS: readonly MailTool[] = makersOf('tool').map((made) => {
  const { kind, maker } = made;
  return defineTool({
    name: maker.name,
    description: maker.does ?? `Send a message of the kind ${kind.name}.`,
    verb: kind.verb,
    answers: kind.answers ?? [],
    input: inputOf(made),
    run: (context, given, key) =>
      kind.answers === null ? compose(context, made, given, key) : answer(context, made, given, key),
  });
});

/** An answer goes to the sender of the ask. */
function answer(context: ToolContext, made: Made, given: Given, key: string): ToolAnswer {
  const { mail, party } = context;
  const asked = findAsked(mail, party, given.corr, given.task_id);
  if (typeof asked === 'string') refuse('invalid_format', 'corr', `is required: ${asked}`);
  const wrong = answerRule(made.kind, asked.action);
  if (wrong !== undefined) refuse('invalid_format', 'corr', wrong);
  const answered = compose(context, made, given, key, asked);
  // Its sender has read the ask.
  if (answered.ok && asked.from !== undefined) mail.accept(party, [asked.id]);
  return answered;
}

function compose(context: ToolContext, made: Made, given: Given, key: string, asked?: AskedMessage): ToolAnswer {
  const { kind, maker, words } = made;
  const { text, ...rest } = given;
  const fields = words === undefined ? given : { ...rest, [words]: text };
  const facts = { now: context.now(), from: context.party.address, ...(asked === undefined ? {} : { asked }) };
  return post(context, composeMessage(kind, { ...maker.defaults, ...fields }, facts), key);
}

/** Sends a draft. The mailbox records its own refusals. */
function post({ mail, party }: ToolContext, draft: MailDraft, key: string): ToolAnswer {
  const answered = mail.send(party, draft, key);
  if (!answered.sent) {
    const { refusal } = answered;
    // The arguments of a tool have no body around them.
    return { ok: false, refusal: { ...refusal, field: refusal.field.replace(/^body\./, '') } };
  }
  const { id, seq, to: recipients, deadline } = answered.message;
  const waits = party.by === 'turn' && mail.deferredBy(party.attemptId).some((deferred) => deferred.id === id);
  const effect = waits ? 'when this turn is completed' : 'now';
  const until = deadline === undefined ? {} : { deadline };
  const content = { id, seq, to: [...recipients], takes_effect: effect, repeated: answered.repeated, ...until };
  return { ok: true, content };
}
