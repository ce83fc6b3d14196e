import type { Json } from './json.ts';

/** Parts of `JSON` that TypeScript's types lack so far. */
interface ExactJson {
  parse(this: void, text: string, revive: (key: string, value: Json, context: { source?: string }) => Json): Json;
  /** `JSON.stringify` writes this text. */
  rawJSON(this: void, text: string): Json;
}

/**
 * The object or list that a text holds, with numbers that `JSON.stringify` writes as they stand there: `JSON.parse` makes
 * 9007199254740992 of 9007199254740993. Only to be written again. undefined: no number changes. `text` is valid JSON.
 */
export function exactJson(text: string): Json | undefined {
  const { parse, rawJSON } = JSON as unknown as ExactJson;
  let isOther = false;
  const value = parse(text, (_key, read, { source }) => {
    if (typeof read !== 'number' || source === undefined || source === String(read)) return read;
    isOther = true;
    return rawJSON(source);
  });
  const isPart = /^\s*[[{]/.test(text);
  return isOther && isPart ? value : undefined;
}
