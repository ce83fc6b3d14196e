import { findMarked, type Fingerprints, fingerprintsOf, NO_FINGERPRINTS, withoutKnown } from './fingerprints.ts';
import { formsOf, secretValues } from './secret-values.ts';

/** `sk-admin-panel-component` is a file name, not a key. */
const NO_NAME = String.raw`(?=[\w-]{0,80}[A-Z0-9])`;
/** `MembershipInvitations.delete.…` is code. */
const NO_CODE = String.raw`(?=[\w.-]{0,80}\d)`;
/** `postgres:postgres@localhost` protects nothing, and many test commands contain it. */
const NO_DEFAULT = String.raw`(?!(?<user>[^\s/:@"'<>]{1,100}):\k<user>@)`;

/** Shapes of well-known credentials. Each takes linear time on any text. The names are for tests and people. */
export const TOKEN_PATTERNS: Readonly<Record<string, string>> = {
  // OpenAI, Anthropic and others.
  'api key': String.raw`sk-(?:(?:ant|proj|svcacct|admin|or|lf)-${NO_NAME}[\w-]{20,}|[A-Za-z0-9]{20,})`,
  'github token': 'gh[pousr]_[A-Za-z0-9]{30,}',
  'github fine-grained token': String.raw`github_pat_\w{22,}`,
  'gitlab token': String.raw`gl(?:pat|ptt|rt|dt|cbt|ft|soat|imt|agent)-${NO_NAME}[\w-]{20,}`,
  'slack token': String.raw`xox[abeoprs]-${NO_CODE}[A-Za-z0-9-]{10,}`,
  'slack app token': 'xapp-[A-Za-z0-9-]{10,}',
  'slack webhook': String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{10,}`,
  'discord webhook': String.raw`discord(?:app)?\.com/api/webhooks/\d{5,25}/[\w-]{20,}`,
  'discord bot token': String.raw`[MNO]${NO_CODE}[\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}`,
  'telegram bot token': String.raw`\d{8,10}:AA[\w-]{32,}`,
  'aws access key': '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}',
  'google api key': String.raw`AIza[\w-]{35}`,
  'google access token': String.raw`ya29\.[\w-]{20,}`,
  'google client secret': String.raw`GOCSPX-[\w-]{20,}`,
  'azure storage key': 'AccountKey=[A-Za-z0-9+/]{40,}={0,2}',
  'stripe key': '[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}',
  'stripe webhook secret': 'whsec_[A-Za-z0-9+/]{24,}={0,2}',
  'twilio key': 'SK[0-9a-f]{32}',
  'sendgrid key': String.raw`SG\.${NO_CODE}[\w-]{16,100}\.[\w-]{16,}`,
  'npm token': 'npm_[A-Za-z0-9]{36}',
  'pypi token': String.raw`pypi-[\w-]{50,}`,
  'hugging face token': 'hf_[A-Za-z0-9]{30,}',
  'groq key': 'gsk_[A-Za-z0-9]{40,}',
  'xai key': 'xai-[A-Za-z0-9]{40,}',
  'replicate token': 'r8_[A-Za-z0-9]{30,}',
  'digitalocean token': 'do[opr]_v1_[0-9a-f]{64}',
  'databricks token': 'dapi[0-9a-f]{32}',
  'vault token': String.raw`hv[sbr]\.${NO_CODE}[\w-]{24,}`,
  'linear key': 'lin_(?:api|oauth)_[A-Za-z0-9]{32,}',
  'notion token': '(?:ntn|secret)_[A-Za-z0-9]{40,}',
  'shopify token': 'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
  'langsmith key': 'lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}',
  'atlassian token': String.raw`ATATT3[\w=-]{40,}`,
  'age key': 'AGE-SECRET-KEY-1[0-9A-Z]{58}',
  'json web token': String.raw`(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*`,
  'authorization header': String.raw`(?:Bearer|Authorization:[ \t]{0,4}Basic)[ \t]{1,4}(?=\S{0,160}\d)[\w.~+/-]{16,}={0,2}`,
  'password in an address': String.raw`://${NO_DEFAULT}[^\s/:@"'<>]{0,100}:(?!\$\{)[^\s/@"'<>]{3,200}@`,
  'private key': String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----)){0,32768}(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`,
};

export const REDACTED = '[redacted]';

/** A stream holds back at most this much text for a secret that may end in the next piece. */
const MOST_HELD = 64 * 1024;

/** Removes secrets from texts before they are stored or shown (bar S9), in linear time. */
export interface Redactor {
  text(text: string): string;
  /** Every text of a JSON value, keys too. */
  json<Value>(value: Value): Value;
  /** For a text that comes in pieces. */
  stream(): RedactingStream;
  /** With these another process finds the same values without having them. */
  fingerprints(): Fingerprints;
  /** A redactor that also removes the values behind these fingerprints. */
  with(marked: Fingerprints): Redactor;
}

interface RedactingStream {
  /** Returns the text so far that cannot be part of an unfinished secret. */
  push(piece: string): string;
  end(): string;
}

interface Known {
  readonly forms: readonly string[];
  readonly marked: readonly Fingerprints[];
}

/** Removes `secrets`, their usual encodings, the values behind `marked`, and texts that look like a credential. */
export function createRedactor(secrets: readonly string[], marked: Fingerprints = NO_FINGERPRINTS): Redactor {
  return redactorFor({ forms: [...new Set(secrets.flatMap(formsOf))], marked: [marked] });
}

function redactorFor(known: Known): Redactor {
  const { forms, marked } = known;
  const marks = marked.flatMap((one) => one.marks.map(([length]) => length));
  const longest = [...forms.map(({ length }) => length), ...marks].reduce(
    (most, length) => Math.max(most, length),
    MOST_OF_A_PATTERN,
  );
  const text = (value: string): string => replaceSpans(value, findSpans(value, known));
  return {
    text,
    json: (value) => redactJson(value, text),
    stream: () => createStream(known, longest),
    fingerprints: () => fingerprintsOf(forms),
    with: (more) => redactorFor({ forms, marked: [...marked, withoutKnown(more, forms)] }),
  };
}

/** Removes the secrets of an environment. `letThrough`: the variables that runtimes get by name. */
export function redactorOf(
  environment: Readonly<Record<string, string | undefined>>,
  letThrough: readonly string[],
): Redactor {
  return createRedactor(secretValues(environment, letThrough));
}

type Span = readonly [from: number, to: number];

/** The most characters that decide whether a pattern matches. A stream holds back the rest of the word with it. */
const MOST_OF_A_PATTERN = 400;

const PATTERN = new RegExp(
  Object.values(TOKEN_PATTERNS)
    .map((pattern) => (/^[A-Za-z0-9[(\\]/.test(pattern) ? `(?<![A-Za-z0-9])(?:${pattern})` : pattern))
    .join('|'),
  'g',
);

/** In order, without overlaps. */
function findSpans(text: string, { forms, marked }: Known): Span[] {
  const spans: Span[] = marked.flatMap((one) => findMarked(text, one));
  for (const form of forms) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) {
      spans.push([at, at + form.length]);
    }
  }
  for (const match of text.matchAll(PATTERN)) spans.push([match.index, match.index + match[0].length]);
  if (spans.length < 2) return spans;
  const merged: Span[] = [];
  for (const [from, to] of spans.sort(([left], [right]) => left - right)) {
    const last = merged.at(-1);
    if (last === undefined || from > last[1]) merged.push([from, to]);
    else if (to > last[1]) merged[merged.length - 1] = [last[0], to];
  }
  return merged;
}

function replaceSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let done = 0;
  for (const [from, to] of spans) {
    parts.push(text.slice(done, from), REDACTED);
    done = to;
  }
  parts.push(text.slice(done));
  return parts.join('');
}

function createStream(known: Known, longest: number): RedactingStream {
  let held = '';
  let due = 2 * longest;
  return {
    push: (piece) => {
      held += piece;
      if (held.length < due) return '';
      const spans = findSpans(held, known);
      const cut = cutWithin(held, held.length - longest, spans);
      const ready = replaceSpans(
        held.slice(0, cut),
        spans.filter(([, to]) => to <= cut),
      );
      held = held.slice(cut);
      // Searching at every piece would take quadratic time.
      due = 2 * (held.length + longest);
      return ready;
    },
    end: () => {
      const rest = replaceSpans(held, findSpans(held, known));
      held = '';
      due = 2 * longest;
      return rest;
    },
  };
}

/** Before a word, which may begin a token, and before a secret; failing that, at the last place that cuts no known value. */
function cutWithin(text: string, latest: number, spans: readonly Span[]): number {
  let word = latest;
  while (word > 0 && !/\s/.test(text.charAt(word - 1))) word -= 1;
  const cuts = [word, latest].map((cut) => spans.find(([from, to]) => from < cut && to > cut)?.[0] ?? cut);
  return cuts.find((cut) => text.length - cut <= MOST_HELD) ?? text.length;
}

/** Without recursion, because an answer may be nested deeper than the stack. */
function redactJson<Value>(value: Value, text: (value: string) => string): Value {
  const root: { value: unknown } = { value };
  const open: [holder: Record<string, unknown> | unknown[], key: string | number][] = [[root, 'value']];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [holder, key] = next;
    const found = Reflect.get(holder, key) as unknown;
    if (typeof found === 'string') Reflect.set(holder, key, text(found));
    else if (Array.isArray(found)) {
      const copy: unknown[] = [...(found as unknown[])];
      Reflect.set(holder, key, copy);
      for (const index of copy.keys()) open.push([copy, index]);
    } else if (typeof found === 'object' && found !== null) {
      // `fromEntries` keeps a key `__proto__`.
      const copy = Object.fromEntries(Object.entries(found).map(([name, item]) => [text(name), item as unknown]));
      Reflect.set(holder, key, copy);
      for (const name of Object.keys(copy)) open.push([copy, name]);
    }
  }
  return root.value as Value;
}
