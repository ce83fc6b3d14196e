import { answerRule, composeMessage, inputsOf, type Given } from '../../model/mail/compose.ts';
import type { MailDraft } from '../../model/mail/envelope.ts';
import { MAIL_KINDS, type MailKind } from '../../model/mail/kind.ts';
import { makersOf, type Made } from '../../model/mail/makers.ts';
import type { AskedMessage } from '../../model/mail/kind-entry.ts';
import { refuse } from '../../model/mail/refusal.ts';
import { findAsked } from '../mail/asked.ts';
import { inputOf } from './tool-input.ts';
import { defineTool, type MailTool, type ToolAnswer, type ToolContext } from './tool.ts';

/** Every tool that sends messages, as the table of kinds has them. */
export const SENDING_TOOLS: readonly MailTool[] = makersOf('tool').map(({ name, does, makes, inWords }) => {
  const kinds = makes.map(({ kind }) => kind);
  const answers = kinds.every((kind) => kind.answers !== null);
  return defineTool({
    name,
    description: does,
    verbs: inWords ? null : [...new Set(kinds.map(({ verb }) => verb))],
    input: inputOf(makes),
    run: (context, given, key) => (answers ? answer(context, makes, given, key) : begin(context, makes, given, key)),
  });
});

/** A message that answers none. */
function begin(context: ToolContext, makes: readonly Made[], given: Given, key: string): ToolAnswer {
  const { action, ...said } = given;
  const made = makes.find(({ maker }) => action === undefined || maker.action === action);
  return made === undefined ? refuse('invalid_format', 'action', 'is required') : compose(context, made, said, key);
}

/** An answer goes to the sender of the ask. The action of the ask decides which kind of answer it is. */
function answer(context: ToolContext, makes: readonly Made[], given: Given, key: string): ToolAnswer {
  const { mail, party } = context;
  const asked = findAsked(mail, party, given.corr, given.task_id);
  if (typeof asked === 'string') refuse('invalid_format', 'corr', `is required: ${asked}`);
  const [first] = makes;
  const made = makes.find(({ kind }) => kind.answers?.some((one) => one === asked.action)) ?? first;
  if (made === undefined) throw new Error('a tool makes no message');
  const wrong = answerRule(made.kind, asked.action);
  if (wrong !== undefined) refuse('invalid_format', 'corr', wrong);
  const answered = compose(context, made, given, key, asked);
  // Its sender has read the ask.
  if (answered.ok && asked.from !== undefined) mail.accept(party, [asked.id]);
  return answered;
}

function compose(context: ToolContext, made: Made, given: Given, key: string, asked?: AskedMessage): ToolAnswer {
  const { kind, maker, words } = made;
  const { body_encoding: encoding, ...said } = given;
  const isBase64 = encoding === 'base64';
  const fields = words === undefined ? said : inWords(kind, words, said);
  const { text, ...rest } = fields;
  const facts = { now: context.now(), from: context.party.address, ...(asked === undefined ? {} : { asked }) };
  const draft = isBase64 ? { ...rest, base64: String(text) } : fields;
  return post(context, composeMessage(kind, { ...maker.defaults, ...draft }, facts), key);
}

/** The fields of this kind only: a tool that takes words cannot know beforehand which kind the answer will be. */
function inWords(kind: MailKind, field: string, { text, ...given }: Given): Given {
  const all = MAIL_KINDS.filter(({ words }) => words?.tool !== undefined).flatMap((one) => Object.keys(inputsOf(one)));
  const foreign = all.filter((name) => !Object.hasOwn(inputsOf(kind), name));
  const own = Object.entries(given).filter(([name]) => !foreign.includes(name));
  return { ...Object.fromEntries(own), [field]: text };
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
