import type { ReadingAnswer } from '../../model/people/reading-answer.ts';
import type { ReadingOptions } from '../../model/people/reading-options.ts';
import { intentSchema, type Intent } from '../../model/people/verbs.ts';
import { noSuch } from '../../model/unknown-name.ts';
import { quotedName } from '../../text/plain-text.ts';

type Read = ReadingAnswer['messages'][number];
type Asked = ReadingOptions['messages'][number];

/** Reads an answer about each message, by its short id. It counts only if there is no problem with any of them. */
export function readIntents(
  options: ReadingOptions,
  { role, messages }: ReadingAnswer,
): { readonly intents: ReadonlyMap<string, Intent>; readonly problems: readonly string[] } {
  const intents = new Map<string, Intent>();
  const problems = role === 'orchestrator' ? [] : ['`role` must be orchestrator'];
  for (const asked of options.messages) {
    const [read, ...others] = messages.filter(({ message_id: id }) => id === asked.id);
    if (read === undefined || others.length > 0) {
      problems.push(`${asked.id} has ${read === undefined ? 0 : others.length + 1} answers; it needs one`);
      continue;
    }
    const found = readOne(options, asked, read);
    if (typeof found === 'string') problems.push(`${asked.id}: ${found}`);
    else intents.set(asked.id, found);
  }
  const known = new Set(options.messages.map(({ id }) => id));
  const unknown = new Set(messages.map(({ message_id: id }) => id).filter((id) => !known.has(id)));
  return { intents, problems: [...problems, ...[...unknown].map((id) => `there is no message ${quotedName(id)}`)] };
}

/** The intent, or what is wrong. */
function readOne(options: ReadingOptions, asked: Asked, read: Read): Intent | string {
  if (!asked.verbs.includes(read.verb))
    return `its sender may not have ${read.verb}; it is one of ${asked.verbs.join(', ')}`;
  const given = intentFrom(asked, read);
  const wrong = given.verb === 'none' ? undefined : (wrongName(options, given) ?? wrongWords(asked, given));
  if (wrong !== undefined) return wrong;
  const parsed = intentSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  return `${read.verb} needs ${NEEDS[read.verb] ?? 'other words'}`;
}

const NEEDS: Partial<Record<Read['verb'], string>> = {
  request: 'a message with a text',
  'sprint-start': 'the milestone as `text`, of 2,000 characters at most',
  cancel: 'the id of a request in `about`',
  action: 'the name of an action in `about`',
  answer: 'the answer as `text`',
};

function intentFrom({ text: own }: Asked, { verb, about, args, now, text }: Read): Intent {
  const name = about?.trim() ?? '';
  const words = text?.trim() ?? '';
  switch (verb) {
    case 'request':
      // In its sender's words, whatever a model would make of them.
      return { verb, text: own.trim() };
    case 'status':
      return name === '' ? { verb } : { verb, about: name };
    case 'cancel':
      return { verb, request: name };
    case 'sprint-start':
      return { verb, milestone: words };
    case 'sprint-stop':
      return { verb, now };
    case 'sprint-status':
      return { verb };
    case 'action':
      return { verb, name, args };
    case 'answer':
      return name === '' ? { verb, text: words } : { verb, run: name, text: words };
    case 'none':
      return { verb, reply: words.slice(0, 2_000) };
    default:
      return verb satisfies never;
  }
}

function wrongName({ requests, runs, actions }: ReadingOptions, intent: Intent): string | undefined {
  const among = (what: string, name: string, all: readonly string[]): string | undefined =>
    all.includes(name) ? undefined : noSuch(what, name, all);
  if (intent.verb === 'cancel')
    return among(
      'request',
      intent.request,
      requests.map(({ id }) => id),
    );
  if (intent.verb === 'action')
    return among(
      'action',
      intent.name,
      actions.map(({ name }) => name),
    );
  if (intent.verb !== 'answer') return undefined;
  const names = runs.map(({ name }) => name);
  if (names.length === 0) return 'no run asks anything';
  if (intent.run === undefined)
    return names.length === 1 ? undefined : `${names.length} runs ask: name one in \`about\``;
  return among('run', intent.run, names);
}

/** A recorded answer cannot be changed, so it is never a model's own. */
function wrongWords({ text }: Asked, intent: Intent): string | undefined {
  if (intent.verb !== 'answer' || spaced(text).includes(spaced(intent.text))) return undefined;
  return 'the answer is not in the message; repeat its sender’s own words';
}

function spaced(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().toLowerCase();
}
