import { type Node, parseTree, printParseErrorCode, visit } from 'jsonc-parser';
import { type Json, parseJson } from './json.ts';

/** Deeper ones exhaust the stack where the value is written again. */
const MOST_DEPTH = 100;
const MOST_DOUBLES = 50;

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
  try {
    const doubles = doublesIn(text);
    let tree: Node | undefined;
    return {
      ok: true,
      value: parseJson(text) as Json,
      // Few files are asked, and the places take more memory than the text.
      lineOf: (path) => lineAt(text, nearest((tree ??= parseTree(text)), path)?.offset ?? 0),
      doubles: withLines(text, doubles),
    };
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const { at, message } = error;
    return { ok: false, line: lineAt(text, at), why: message };
  }
}

class NotJson extends Error {
  readonly at: number;
  constructor(at: number, why: string) {
    super(why);
    this.at = at;
  }
}

/** Reads the text to its end, or to its first mistake. */
function doublesIn(text: string): readonly { readonly key: string; readonly at: number }[] {
  const doubles: { key: string; at: number }[] = [];
  const around: Set<string>[] = [];
  const begin = (at: number): void => {
    if (around.length === MOST_DEPTH) throw new NotJson(at, `it is nested more than ${MOST_DEPTH} deep`);
    around.push(new Set());
  };
  const end = (): unknown => around.pop();
  visit(
    text,
    {
      onObjectBegin: begin,
      onArrayBegin: begin,
      onObjectEnd: end,
      onArrayEnd: end,
      onObjectProperty: (key, at) => {
        const keys = around.at(-1);
        if (keys?.has(key) === true && doubles.length < MOST_DOUBLES) doubles.push({ key, at });
        keys?.add(key);
      },
      onError: (code, at, length) => {
        throw mistake(text, printParseErrorCode(code), at, length);
      },
    },
    { disallowComments: true },
  );
  return doubles;
}

function mistake(text: string, error: string, from: number, length: number): NotJson {
  // A value that is wrong in itself may also be one too many, which comes first.
  const isDue = '[{,:'.includes(text.slice(0, from).trimEnd().at(-1) ?? ',');
  switch (isDue ? error : '') {
    case 'InvalidEscapeCharacter':
    case 'InvalidUnicode':
      return new NotJson(from, 'this text has a backslash before a character that JSON does not escape');
    case 'InvalidCharacter':
    case 'UnexpectedEndOfString':
      return unexpected(text, from + `${text.slice(from)}\n`.search(/[^ -\uffff]/));
    case 'UnexpectedEndOfNumber':
      return unexpected(text, from + length);
    default:
      return unexpected(text, from);
  }
}

function unexpected(text: string, at: number): NotJson {
  const found = text.codePointAt(at);
  const why =
    found === undefined ? 'it ends too early' : `${JSON.stringify(String.fromCodePoint(found))} is not expected here`;
  return new NotJson(at, why);
}

function nearest(tree: Node | undefined, path: JsonPath): Node | undefined {
  const [step, ...rest] = path;
  const next = tree === undefined || step === undefined ? undefined : childAt(tree, step);
  return next === undefined ? tree : nearest(next, rest);
}

/** The value in a list at this place, or in an object under this key. Readers take the last one of a key, as this does. */
export function childAt({ type, children }: Node, step: string | number): Node | undefined {
  if (typeof step === 'number') return type === 'array' ? children?.[step] : undefined;
  return children?.findLast((member) => member.children?.[0]?.value === step)?.children?.[1];
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
  return withLines(text, [{ key: '', at }])[0]?.line ?? 1;
}
