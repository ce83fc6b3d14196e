import type { Json } from './json.ts';

/** Deeper ones exhaust the stack where the value is written again. */
const MOST_DEPTH = 100;
/** How deep a value is whose place is kept. */
const PLACED_DEPTH = 5;

export type JsonPath = readonly (string | number)[];

/** A parsed JSON text, with the places of its values for error messages. */
interface JsonSource {
  readonly value: Json;
  /** Line of the value at this path, or of the nearest one around it, from 1. */
  readonly lineOf: (path: JsonPath) => number;
  /** The keys that an object has twice: of such a pair, programs read different ones. */
  readonly doubles: readonly { readonly key: string; readonly line: number }[];
}

export type JsonRead =
  | ({ readonly ok: true } & JsonSource)
  | { readonly ok: false; readonly line: number; readonly why: string };

/** Reads what `JSON.parse` reads, but for deep nesting, which it refuses. */
export function readJson(text: string): JsonRead {
  const reader = new Reader(text);
  try {
    const value = reader.read();
    let places: ReadonlyMap<string, number> | undefined;
    return {
      ok: true,
      value,
      // Few files are asked, and the places take more memory than the text.
      lineOf: (path) => lineAt(text, nearestPlace((places ??= placesIn(text)), path)),
      doubles: withLines(text, reader.doubles),
    };
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const { at, message } = error;
    return { ok: false, line: lineAt(text, at), why: message };
  }
}

function placesIn(text: string): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  new Reader(text, places).read();
  return places;
}

class NotJson extends Error {
  readonly at: number;
  constructor(at: number, why: string) {
    super(why);
    this.at = at;
  }
}

const SPACE = /[ \t\n\r]*/y;
const WORD = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MOST_DOUBLES = 50;

class Reader {
  readonly doubles: { key: string; at: number }[] = [];
  readonly #text: string;
  /** Gets the places of values by their paths; undefined: no one looks for them. */
  readonly #places: Map<string, number> | undefined;
  #at = 0;

  constructor(text: string, places?: Map<string, number>) {
    this.#text = text;
    this.#places = places;
  }

  read(): Json {
    const value = this.#value('', 0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected();
    return value;
  }

  #value(path: string, depth: number): Json {
    this.#space();
    if (depth > MOST_DEPTH) throw new NotJson(this.#at, `it is nested more than ${MOST_DEPTH} deep`);
    if (depth <= PLACED_DEPTH) this.#places?.set(path, this.#at);
    if (this.#takes('{')) return this.#object(path, depth + 1);
    if (this.#takes('[')) return this.#list(path, depth + 1);
    return this.#text.charCodeAt(this.#at) === QUOTE ? this.#string() : this.#word();
  }

  #object(path: string, depth: number): Json {
    const entries = new Map<string, Json>();
    this.#space();
    if (this.#takes('}')) return {};
    do {
      this.#space();
      const at = this.#at;
      if (this.#text.charCodeAt(at) !== QUOTE) throw this.#unexpected();
      const key = this.#string();
      if (entries.has(key) && this.doubles.length < MOST_DOUBLES) this.doubles.push({ key, at });
      this.#space();
      if (!this.#takes(':')) throw this.#unexpected();
      entries.set(key, this.#value(this.#step(path, key, depth), depth));
      this.#space();
    } while (this.#takes(','));
    if (!this.#takes('}')) throw this.#unexpected();
    return Object.fromEntries(entries);
  }

  #list(path: string, depth: number): Json {
    const items: Json[] = [];
    this.#space();
    if (this.#takes(']')) return items;
    do {
      items.push(this.#value(this.#step(path, items.length, depth), depth));
      this.#space();
    } while (this.#takes(','));
    if (!this.#takes(']')) throw this.#unexpected();
    return items;
  }

  #step(path: string, step: string | number, depth: number): string {
    return this.#places === undefined || depth > PLACED_DEPTH ? '' : stepTo(path, step);
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let end = start + 1;
    let isPlain = true;
    for (let code = text.charCodeAt(end); code !== QUOTE; code = text.charCodeAt(end)) {
      // Behind the end there is NaN.
      if (!(code >= 0x20)) throw this.#unexpected(Math.min(end, text.length));
      if (code === BACKSLASH) isPlain = false;
      end += code === BACKSLASH ? 2 : 1;
    }
    this.#at = end + 1;
    if (isPlain) return text.slice(start + 1, end);
    try {
      return JSON.parse(text.slice(start, end + 1)) as string;
    } catch {
      throw new NotJson(start, 'this text has a backslash before a character that JSON does not escape');
    }
  }

  #word(): Json {
    WORD.lastIndex = this.#at;
    const [word] = WORD.exec(this.#text) ?? [];
    if (word === undefined) throw this.#unexpected();
    this.#at += word.length;
    return JSON.parse(word) as Json;
  }

  #space(): void {
    SPACE.lastIndex = this.#at;
    this.#at += SPACE.exec(this.#text)?.[0].length ?? 0;
  }

  #takes(sign: string): boolean {
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #unexpected(at = this.#at): NotJson {
    if (at >= this.#text.length) return new NotJson(at, 'it ends too early');
    const found = String.fromCodePoint(this.#text.codePointAt(at) ?? 0);
    return new NotJson(at, `${JSON.stringify(found)} is not expected here`);
  }
}

/** Long keys with many values in them would take much memory. */
function stepTo(path: string, step: string | number): string {
  return `${path}\0${String(step).slice(0, 100)}`;
}

function nearestPlace(places: ReadonlyMap<string, number>, path: JsonPath): number {
  let known = path.reduce(stepTo, '');
  while (known !== '' && !places.has(known)) known = known.slice(0, known.lastIndexOf('\0'));
  return places.get(known) ?? 0;
}

/** `found`: in the order of the text, so that it is looked through once. */
function withLines(text: string, found: readonly { readonly key: string; readonly at: number }[]) {
  let line = 1;
  let end = text.indexOf('\n');
  return found.map(({ key, at }) => {
    for (; end >= 0 && end < at; end = text.indexOf('\n', end + 1)) line += 1;
    return { key, line };
  });
}

function lineAt(text: string, at: number): number {
  let line = 1;
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', end + 1)) line += 1;
  return line;
}
