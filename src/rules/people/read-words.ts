import { isSlug } from '../../model/slug.ts';
import { intentSchema, type Intent } from '../../model/people/verbs.ts';
import { COMMANDS, formsOf, MEANINGS, SHORT_FORMS, type Meaning } from './forms.ts';

/** An exact command or a listed short form. `wrong`: a text is one, and cannot be used. */
export type Words =
  | { readonly says: 'intent'; readonly intent: Intent }
  | { readonly says: 'yes' | 'no' }
  | { readonly says: 'wrong'; readonly why: string };

/** Reads a text without a model; undefined: it is free text. */
export function readWords(text: string): Words | undefined {
  const own = text.normalize('NFC').trim();
  const given = own.replaceAll(WIDE, narrow).replaceAll(/[\u2018\u2019\u00b4`]/g, "'");
  const isLong = given.length > LONGEST_PHRASE;
  const fixed = isLong ? undefined : phrases().get(phraseKey(given));
  if (fixed !== undefined) return wordsOf(fixed, '', '');
  for (const { meaning, pattern, isOpen } of patterns()) {
    const found = isLong && !isOpen ? undefined : pattern.exec(given)?.groups;
    // Its own spelling: each replaced character is one of the same length.
    const rest = found?.['text'] === undefined ? '' : own.slice(-found['text'].length);
    if (found !== undefined) return wordsOf(meaning, found['id'] ?? '', unquoted(rest));
  }
  return undefined;
}

const LONGEST_PHRASE = 200;
/** White space and signs that keyboards for Chinese and Korean write. */
const WIDE = /[\u3000\uff01-\uff5e]/g;

function narrow(wide: string): string {
  return wide === '\u3000' ? ' ' : String.fromCharCode(wide.charCodeAt(0) - 0xfee0);
}

function wordsOf(meaning: Meaning, id: string, text: string): Words | undefined {
  if (meaning === 'yes' || meaning === 'no') return { says: meaning };
  const given = intentOf(meaning, id, text);
  if (given === undefined) return undefined;
  const read = intentSchema.safeParse(given);
  if (read.success) return { says: 'intent', intent: read.data };
  return { says: 'wrong', why: given.verb === 'action' ? MANY_ARGUMENTS : 'The text after the command is too long.' };
}

const MANY_ARGUMENTS = 'An action takes at most 20 arguments of 200 characters each.';

function intentOf(meaning: Exclude<Meaning, 'yes' | 'no'>, id: string, text: string): Intent | undefined {
  switch (meaning) {
    case 'request':
      return { verb: 'request', text };
    case 'status':
      return { verb: 'status' };
    case 'status-of':
      return { verb: 'status', about: id };
    case 'cancel':
      return { verb: 'cancel', request: id.toLowerCase() };
    case 'sprint-start':
      return { verb: 'sprint-start', milestone: text };
    case 'sprint-stop':
      return { verb: 'sprint-stop', now: false };
    case 'sprint-stop-now':
      return { verb: 'sprint-stop', now: true };
    case 'sprint-status':
      return { verb: 'sprint-status' };
    case 'answer':
      return { verb: 'answer', text };
    case 'answer-to':
      return { verb: 'answer', run: id.toLowerCase(), text };
    case 'action': {
      const [name = '', ...args] = argumentsIn(text);
      return isSlug(name) ? { verb: 'action', name, args } : undefined;
    }
    default:
      return meaning satisfies never;
  }
}

/** Words between white space; quotes keep some together. */
function argumentsIn(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
}

/** As a person quotes it for a shell. */
function unquoted(text: string): string {
  const inner = /^"([^"]+)"$|^'([^']+)'$|^[“„]([^“”„]+)[”“]$/su.exec(text.trim());
  return (inner?.slice(1).find((one) => one !== undefined) ?? text).trim();
}

const AT_THE_END = /[\s.!?。…~]+$/u;
/** White space that many leave out: next to a letter that is no Latin one. */
const LOOSE = /(?<=[^\u0000-\u024f]) | (?=[^\u0000-\u024f])/gu;

function phraseKey(text: string): string {
  return text.toLowerCase().replaceAll('ß', 'ss').replace(AT_THE_END, '').replaceAll(/\s+/g, ' ').replaceAll(LOOSE, '');
}

interface Row {
  readonly meaning: Meaning;
  readonly form: string;
}

/** Each listed form. Commands come twice: alone, and after `squad`. */
export function listedForms(): readonly Row[] {
  const commands = MEANINGS.flatMap((meaning) =>
    formsOf(COMMANDS[meaning]).flatMap((form): Row[] => {
      const isSpoken = meaning === 'yes' || meaning === 'no';
      return (isSpoken ? [form] : [form, `squad ${form}`]).map((one) => ({ meaning, form: one }));
    }),
  );
  const short = Object.values(SHORT_FORMS).flatMap((forms) =>
    MEANINGS.flatMap((meaning) => formsOf(forms[meaning]).map((form): Row => ({ meaning, form }))),
  );
  return [...commands, ...short];
}

let known: ReadonlyMap<string, Meaning> | undefined;

function phrases(): ReadonlyMap<string, Meaning> {
  known ??= new Map(
    listedForms()
      .filter(({ form }) => !form.includes('{'))
      .map(({ meaning, form }) => [phraseKey(form), meaning]),
  );
  return known;
}

interface Pattern {
  readonly meaning: Meaning;
  readonly pattern: RegExp;
  /** It ends with any text. */
  readonly isOpen: boolean;
}

let compiled: readonly Pattern[] | undefined;

/** The most telling form first: `answer to x: …` before `answer …`. */
function patterns(): readonly Pattern[] {
  compiled ??= listedForms()
    .filter(({ form }) => form.includes('{'))
    .toSorted((a, b) => placesIn(b.form) - placesIn(a.form))
    .map(({ meaning, form }) => ({ meaning, ...patternOf(form) }));
  return compiled;
}

function placesIn(form: string): number {
  return form.split('{').length;
}

const PLACES: Readonly<Record<string, string>> = {
  text: '(?<text>.*\\S.*)',
  name: '(?<text>[a-z][a-z0-9-]*(?: [^\\n]*)?)',
  request: '(?<id>r-[0-9a-z-]{1,40})',
  id: '(?<id>(?=\\S*[-0-9])[a-z0-9](?:[a-z0-9._:-]{0,80}[a-z0-9])?)',
  run: '(?<id>[a-z][a-z0-9-]{0,80})',
};

function patternOf(form: string): Pick<Pattern, 'pattern' | 'isOpen'> {
  const source = form
    .split(/(\{\w+\})/)
    .map((part, index) => (index % 2 === 0 ? literal(part) : (PLACES[part.slice(1, -1)] ?? '')))
    .join('');
  const isOpen = /\{(?:text|name)\}$/.test(form);
  return { pattern: new RegExp(`^${source}${isOpen ? '$' : '[\\s.!?。…~]*$'}`, 'isu'), isOpen };
}

/** White space is any, and may be left out next to a letter that is no Latin one. Where a text follows, a colon does as well. */
function literal(part: string): string {
  return part
    .replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/: ?$/g, '\\s*:\\s*')
    .replaceAll(LOOSE, '\\s*')
    .replaceAll(/(?<=request|start) $/g, '(?:\\s*:\\s*|\\s+)')
    .replaceAll(' ', '\\s+');
}
