import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { errorText, usageError } from '../../model/errors.ts';
import { answerRule, composeMessage, type Given } from '../../model/mail/compose.ts';
import type { MailDraft, MailMessage } from '../../model/mail/envelope.ts';
import type { AskedMessage, ComposeFacts } from '../../model/mail/kind-entry.ts';
import type { MailParty } from '../../substrate/ports/mailbox.ts';
import { defined } from '../../text/defined.ts';
import { fieldsOf, isJsonObject, parseJson } from '../../text/json.ts';
import { findAsked } from './asked.ts';
import { messageLine } from './mail-text.ts';
import type { OpenedMail } from './open-mail.ts';
import type { SendOptions } from './options.ts';
import { flagNamed, givenBy, selectKind, SEND_COMMANDS } from './send-command.ts';
import { catchRefusal } from '../../model/mail/refusal.ts';

/** The draft that a command sends. Throws `usage` if a flag or the message to answer is missing. */
export function draftOf(
  opened: OpenedMail,
  party: MailParty,
  name: string,
  options: SendOptions,
  words?: string,
): MailDraft {
  const { kind } = madeBy(name, options).made;
  const answers = kind.answers !== null || options.corr !== undefined;
  const asked = answers ? askedBy(opened, party, name, options) : undefined;
  return composeFlags(name, options, {
    now: opened.clock.now(),
    from: party.address,
    person: party.by !== 'turn' && options.body === undefined,
    ...(asked === undefined ? {} : { asked }),
    words,
    known: name === 'say' ? workOf(opened, party.address) : {},
  });
}

interface FlagFacts extends ComposeFacts {
  /** The words of `say` and `reply`. */
  readonly words?: string | undefined;
  /** Values for fields without a flag. */
  readonly known?: Given;
}

/** Pure: the draft that the flags and words of a command say. Throws `usage` if one is missing, or of no use. */
export function composeFlags(
  name: string,
  options: SendOptions,
  { words, known = {}, ...facts }: FlagFacts,
): MailDraft {
  const { command, made } = madeBy(name, options);
  const wrong = answerRule(made.kind, facts.asked?.action);
  if (wrong !== undefined) throw usageError(`--corr ${wrong}`, 'See what waits for you: `squad mail status`.');
  const given = {
    ...givenBy(command, made, { options, known, now: facts.now }),
    ...(made.words === undefined ? {} : { [made.words]: words }),
    ...rawBody(options),
  };
  const draft = catchRefusal(() => composeMessage(made.kind, given, facts));
  if (draft.ok) return draft.value;
  const { field, rule } = draft.refusal;
  const flag = flagNamed(made, field);
  throw usageError(rule === 'is required' ? `squad mail ${name} needs ${flag}` : `${flag} ${rule}`, helpOf(name));
}

function madeBy(name: string, { action }: SendOptions) {
  const command = SEND_COMMANDS.find((one) => one.name === name);
  const made = command === undefined ? undefined : selectKind(command, action);
  if (command === undefined || made === undefined) throw usageError(`squad mail ${name} needs --action`, helpOf(name));
  return { command, made };
}

/** `--body`, as the fields that it holds or as base64. */
function rawBody({ body, bodyEncoding }: SendOptions): Given {
  if (body === undefined) return {};
  if (bodyEncoding === 'base64') return { base64: body };
  const more = parseJson(body);
  if (isJsonObject(more)) return { more };
  throw usageError('--body must be a JSON object', `For example: --body '{"summary":"as agreed"}'.`);
}

/** The options with the body of `--body-file`. A file that is sent as base64 is encoded. */
export function withBodyFile(folder: string, options: SendOptions): SendOptions {
  const { bodyFile, bodyEncoding } = options;
  if (bodyFile === undefined) return options;
  if (options.body !== undefined)
    throw usageError('--body and --body-file cannot be given together', 'Give one of them.');
  try {
    const encoding = bodyEncoding === 'base64' ? 'base64' : 'utf8';
    return { ...options, body: readFileSync(resolve(folder, bodyFile)).toString(encoding) };
  } catch (error) {
    throw usageError(`${bodyFile} cannot be read: ${errorText(error)}`, 'Name a file that holds one JSON object.');
  }
}

/**
 * The message that is answered: the one that `--corr` names (by its id, or by its number: `#12`), else the newest open ask
 * about that task. Throws `usage` if there is none, or several.
 */
function askedBy(opened: OpenedMail, party: MailParty, name: string, { corr, task }: SendOptions): AskedMessage {
  const id = corr === undefined ? undefined : (messageNamed(opened, corr)?.id ?? corr);
  const asked = findAsked(opened.mail, party, id, task);
  if (typeof asked !== 'string') return asked;
  const about = task === undefined ? '' : ` (task ${task})`;
  throw usageError(
    [`${asked}${about}`, ...openAsks(opened, party.address)].join('\n'),
    `Name the message that you answer: \`squad mail ${name} --corr '#<number>' …\`. See \`squad mail status\`.`,
  );
}

/** By its id, or by its number in the session; undefined: there is none. */
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

/** How many messages of the session are looked through. */
const MOST_LOOKED_AT = 500;

/**
 * The task, owner, place and context of what a member is working on: from the newest ask that it still has to answer, else
 * from the newest message to or from it about a task.
 */
function workOf({ mail, run }: OpenedMail, address: string): Given {
  const owed = mail
    .status(run.id)
    .unanswered.filter(({ recipient, message }) => recipient === address && message.action !== 'clarify')
    .at(-1)?.message;
  const message = owed ?? newestAbout({ mail, run }, address);
  return message === undefined ? {} : workFrom(message, fieldsOf(mail.bodyOf(message)));
}

function newestAbout({ mail, run }: Pick<OpenedMail, 'mail' | 'run'>, address: string): MailMessage | undefined {
  const afterSeq = Math.max(0, mail.session(run.id).lastSeq - MOST_LOOKED_AT);
  let newest: MailMessage | undefined;
  for (const entry of mail.trace({ runId: run.id, afterSeq })) {
    if (entry.event !== 'message' || entry.message.task_id === undefined) continue;
    const { from, to } = entry.message;
    if (from === address || to.includes(address)) newest = entry.message;
  }
  return newest;
}

/** Pure. */
export function workFrom({ task_id, owner, from, type }: MailMessage, body: Readonly<Record<string, unknown>>): Given {
  return defined({
    task_id,
    owner: owner ?? (type === 'ask' ? from : undefined),
    code_path: textOf(body['code_path']) ?? firstText(body['files']),
    doc_path: textOf(body['doc_path']),
    context: firstText(body['success_criteria']) ?? textOf(body['changes_summary']) ?? textOf(body['context']),
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function firstText(value: unknown): string | undefined {
  return Array.isArray(value) ? textOf(value[0]) : undefined;
}

function helpOf(name: string): string {
  return `See an example: \`squad mail ${name} --help\`.`;
}
