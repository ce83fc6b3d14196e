import type { Json } from './json.ts';
import { plainJsonText } from './plain-text.ts';

/** New values by their keys; in place of an object: of its own keys. */
export type JsonEdits = ReadonlyMap<string, Json | JsonEdits>;

/**
 * Writes the text of a JSON object with other values under some keys, and new keys at its end. All else stays as it is, to the
 * byte: what a parser reads back would lose the order of keys that are numbers, and long numbers. `text` is valid JSON.
 */
export function jsonEditor(text: string): (edits: JsonEdits) => string {
  const known = new Map<number, ObjectText>();
  const read = (start: number): ObjectText => {
    const object = known.get(start) ?? objectAt(text, start);
    known.set(start, object);
    return object;
  };
  const start = text.indexOf('{');
  const object = read(start);
  const source = { text, read, unit: indentOf(object) };
  return (edits) => text.slice(0, start) + edited(source, object, edits) + text.slice(object.end);
}

interface Source {
  readonly text: string;
  /** The object that begins there. */
  readonly read: (start: number) => ObjectText;
  /** Indentation of one level. */
  readonly unit: string;
}

interface Member {
  readonly key: string;
  /** Offset of the value in the text. */
  readonly from: number;
  readonly to: number;
}

interface ObjectText {
  readonly start: number;
  /** After its brace. */
  readonly end: number;
  readonly members: readonly Member[];
  /** The text before its first key; `colon` is the text between that key and its value. */
  readonly gap: string;
  readonly colon: string;
}

function edited(source: Source, object: ObjectText, edits: JsonEdits): string {
  const { text, unit } = source;
  const { members, gap, colon } = object;
  const last = members.at(-1);
  if (last === undefined) return written(plainOf(edits), unit, '');
  const indent = indentOf(object);
  let result = '';
  let at = object.start;
  for (const member of lastOfEach(members)) {
    const edit = edits.get(member.key);
    if (edit === undefined) continue;
    result += text.slice(at, member.from) + replaced(source, member, edit, indent);
    at = member.to;
  }
  result += text.slice(at, last.to);
  for (const [key, edit] of edits) {
    if (members.some((one) => one.key === key)) continue;
    result += `,${gap}${JSON.stringify(key)}${colon}${written(plainOf(edit), unit, indent)}`;
  }
  return result + text.slice(last.to, object.end);
}

/** A reader takes the last one of a key. In the order of the text. */
function lastOfEach(members: readonly Member[]): readonly Member[] {
  return [...new Map(members.map((one) => [one.key, one])).values()].toSorted((one, other) => one.from - other.from);
}

function replaced(source: Source, { from, to }: Member, edit: Json | JsonEdits, indent: string): string {
  const { text, unit } = source;
  const inside = edit instanceof Map && text[from] === '{' ? source.read(from) : undefined;
  if (inside !== undefined && inside.members.length > 0) return edited(source, inside, edit as JsonEdits);
  const isOnOneLine = to - from > 2 && !text.slice(from, to).includes('\n');
  return written(plainOf(edit), isOnOneLine && text[from] === '[' ? '' : unit, indent);
}

function written(value: Json, unit: string, indent: string): string {
  return plainJsonText(value, unit).replaceAll('\n', `\n${indent}`);
}

function plainOf(edit: Json | JsonEdits): Json {
  if (!(edit instanceof Map)) return edit as Json;
  return Object.fromEntries([...(edit as JsonEdits)].map(([key, value]) => [key, plainOf(value)]));
}

/** The white space before its keys; empty: they are on one line. */
function indentOf({ gap }: Pick<ObjectText, 'gap'>): string {
  const line = gap.lastIndexOf('\n');
  return line < 0 ? '' : gap.slice(line + 1);
}

function objectAt(text: string, start: number): ObjectText {
  const members: Member[] = [];
  const first = afterSpace(text, start + 1);
  const gap = text.slice(start + 1, first);
  let colon = ': ';
  let at = first;
  while (text[at] !== '}') {
    const keyEnd = afterString(text, at);
    const from = afterSpace(text, afterSpace(text, keyEnd) + 1);
    const to = afterValue(text, from);
    if (members.length === 0) colon = text.slice(keyEnd, from);
    members.push({ key: JSON.parse(text.slice(at, keyEnd)) as string, from, to });
    at = afterSpace(text, to);
    if (text[at] === ',') at = afterSpace(text, at + 1);
    else if (text[at] !== '}') throw new Error('this is no JSON object');
  }
  return { start, end: at + 1, members, gap, colon };
}

const SPACE = /[^ \t\r\n]/g;
const PLAIN_END = /[\s,\]}]|$/g;

function afterSpace(text: string, from: number): number {
  return indexOfMatch(SPACE, text, from);
}

function indexOfMatch(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

function afterString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function afterValue(text: string, from: number): number {
  if (text[from] === '"') return afterString(text, from);
  if (text[from] !== '{' && text[from] !== '[') return indexOfMatch(PLAIN_END, text, from);
  let depth = 0;
  let at = from;
  do {
    const sign = text[at] ?? '';
    if (sign === '{' || sign === '[') depth += 1;
    if (sign === '}' || sign === ']') depth -= 1;
    at = sign === '"' ? afterString(text, at) : at + 1;
  } while (depth > 0 && at < text.length);
  return at;
}
