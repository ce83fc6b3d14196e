import { applyEdits, type Edit, type Node, parseTree } from 'jsonc-parser';
import { childAt } from './json-source.ts';
import type { Json } from './json.ts';
import { plainJsonText } from './plain-text.ts';

/** New values by their keys; in place of an object: of its own keys. */
export type JsonEdits = ReadonlyMap<string, Json | JsonEdits>;

/**
 * Writes the text of a JSON object with other values under some keys, and new keys at its end. All else stays as it is, to the
 * byte: what a parser reads back would lose the order of keys that are numbers, and long numbers. `text` is valid JSON.
 */
export function jsonEditor(text: string): (edits: JsonEdits) => string {
  const object = parseTree(text);
  if (object?.type !== 'object') throw new Error('this is no JSON object');
  const source = { text, unit: indentOf(styleOf(text, object).gap) };
  return (edits) => applyEdits(text, changes(source, object, edits, ''));
}

interface Source {
  readonly text: string;
  /** Indentation of one level. */
  readonly unit: string;
}

/** `around`: how far the object's own line is indented. */
function changes(source: Source, object: Node, edits: JsonEdits, around: string): Edit[] {
  const { text, unit } = source;
  const last = object.children?.at(-1);
  if (last === undefined) return [put(object, written(plainOf(edits), unit, around))];
  const { gap, colon } = styleOf(text, object);
  const indent = indentOf(gap);
  const end = { offset: last.offset + last.length, length: 0 };
  return [...edits].flatMap(([key, edit]) => {
    const value = childAt(object, key);
    if (value?.type === 'object' && edit instanceof Map) return changes(source, value, edit as JsonEdits, indent);
    const isOnOneLine = value?.type === 'array' && value.length > 2 && !textOf(text, value).includes('\n');
    const content = written(plainOf(edit), isOnOneLine ? '' : unit, indent);
    return put(value ?? end, value === undefined ? `,${gap}${JSON.stringify(key)}${colon}${content}` : content);
  });
}

function put({ offset, length }: Pick<Node, 'offset' | 'length'>, content: string): Edit {
  return { offset, length, content };
}

function written(value: Json, unit: string, indent: string): string {
  return plainJsonText(value, unit).replaceAll('\n', `\n${indent}`);
}

function plainOf(edit: Json | JsonEdits): Json {
  if (!(edit instanceof Map)) return edit as Json;
  return Object.fromEntries([...(edit as JsonEdits)].map(([key, value]) => [key, plainOf(value)]));
}

/** The text before the object's first key, and the text between that key and its value. */
function styleOf(text: string, { offset, children }: Node): { readonly gap: string; readonly colon: string } {
  const [key, value] = children?.[0]?.children ?? [];
  if (key === undefined || value === undefined) return { gap: '', colon: ': ' };
  return { gap: text.slice(offset + 1, key.offset), colon: text.slice(key.offset + key.length, value.offset) };
}

function textOf(text: string, { offset, length }: Node): string {
  return text.slice(offset, offset + length);
}

/** The white space before its keys; empty: they are on one line. */
function indentOf(gap: string): string {
  const line = gap.lastIndexOf('\n');
  return line < 0 ? '' : gap.slice(line + 1);
}
