import { isJsonObject, parseJson, plainJson, type Json } from '../../text/json.ts';
import { refuse } from './refusal.ts';
import { MOST_BODY_BYTES, MOST_BODY_DEPTH, MOST_BODY_PARTS } from './times.ts';

type Fields = Record<string, Json>;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Reads the text of a body. Text that would cost time or stack is refused before it is parsed. */
export function readBody(text: string): Fields {
  checkText(text);
  const { depth, parts } = measure(text);
  if (depth > MOST_BODY_DEPTH) wrong(`must not nest more than ${MOST_BODY_DEPTH} lists and objects`);
  if (parts > MOST_BODY_PARTS) wrong(`must not have more than ${MOST_BODY_PARTS} names and values`);
  const value = parseJson(text);
  if (!isJsonObject(value)) wrong('must be the text of one JSON object');
  refuseAmbiguity(value);
  // Written and read again, because -0 and 0 are the same number.
  return plainJson(value) as Fields;
}

/** Strict: no spaces, padded, and every character counts. */
export function checkBase64(text: string): void {
  checkText(text);
  if (!BASE64.test(text) || !endsClean(text)) wrong('must be strict base64: padded, and without any other character');
}

export function isTooLong(text: string): boolean {
  return text.length > MOST_BODY_BYTES || new TextEncoder().encode(text).length > MOST_BODY_BYTES;
}

export const TOO_LONG = `must not have more than ${MOST_BODY_BYTES} bytes; put the rest into a file of your folder, and name it`;

function checkText(text: string): void {
  if (isTooLong(text)) wrong(TOO_LONG);
  if (/[\r\n]/.test(text)) wrong('must be one line; write a new line in a text as \\n');
  if (!text.isWellFormed()) wrong('must not have half a character (a lone surrogate)');
}

function wrong(rule: string): never {
  return refuse('invalid_format', 'body', rule);
}

/** How deep brackets nest, and how many names and values there are, but for those within texts. It need not be JSON. */
function measure(text: string): { readonly depth: number; readonly parts: number } {
  let open = 0;
  let depth = 0;
  let parts = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (isQuoted && character === '\\') index += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === ',' || character === ':') parts += 1;
    else if (character === '[' || character === '{') {
      open += 1;
      parts += 1;
      depth = Math.max(depth, open);
    } else if (character === ']' || character === '}') open -= 1;
  }
  return { depth, parts };
}

/** Refuses a value that two readers of JSON could read differently, at any depth. */
function refuseAmbiguity(value: unknown): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    wrong('must not have a number that is too large for JSON readers');
  }
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) wrong('must not have a field __proto__ at any depth');
  for (const part of Object.values(value)) refuseAmbiguity(part);
}

/** No bits are left over in the last character before the padding. */
function endsClean(text: string): boolean {
  if (text.endsWith('==')) return 'AQgw'.includes(text.at(-3) ?? '-');
  return !text.endsWith('=') || 'AEIMQUYcgkosw048'.includes(text.at(-2) ?? '-');
}
