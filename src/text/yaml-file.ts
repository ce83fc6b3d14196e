import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  stringify,
  type Document,
  type YAMLError,
} from 'yaml';
import type { z } from 'zod';
import { defined } from './defined.ts';
import type { Json } from './json.ts';
import { orderProblems, quote, type Problem } from './problem.ts';
import { explainIssue, type Finding, type Path } from './explain-issue.ts';

/** A hundred stages with briefs of two thousand characters. */
const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 32;

export interface YamlSource {
  readonly file: string;
  readonly text: string;
  /** Line of the file on which `text` starts, from 1. */
  readonly firstLine: number;
  /** Correct examples by top-level key; `''` for everything else. */
  readonly examples: Readonly<Record<string, string>>;
  /** Messages for keys that belong elsewhere. */
  readonly hints?: Readonly<Record<string, string>>;
}

export type YamlResult<T> = { ok: true; value: T } | { ok: false; problems: Problem[] };

/**
 * Refuses tags, aliases, directives, second documents and duplicate keys; a top-level key without a value is absent. `also` checks the raw
 * value for rules that a schema cannot express, and may give a better example.
 */
export function parseYaml<T>(
  source: YamlSource,
  schema: z.ZodType<T>,
  also: (raw: Record<string, Json>) => Finding[] = () => [],
): YamlResult<T> {
  const read = readYaml(source);
  if (!read.ok) return { ok: false, problems: orderProblems(read.problems) };
  const { raw, placeOf } = read;
  const checked = schema.safeParse(raw);
  const issues = checked.error?.issues ?? [];
  const found: Finding[] = [
    ...also(raw),
    ...issues.flatMap((issue) => explainIssue(issue, raw, schema, source.hints ?? {})),
  ];
  if (checked.success && found.length === 0) return { ok: true, value: checked.data };
  const problems = found.map(({ path, message, atKey = false, example: own }) => {
    const key = String(path[0] ?? '');
    const example = own ?? source.examples[Object.hasOwn(source.examples, key) ? key : ''];
    return { file: source.file, ...placeOf(path, atKey), message, ...defined({ example }) };
  });
  return { ok: false, problems: orderProblems(problems) };
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/** The offsets of a key and its value. */
interface Position {
  readonly key: number;
  readonly value: number;
  readonly children: Map<string, Position>;
}

type Read =
  | { ok: false; problems: Problem[] }
  | { ok: true; raw: Record<string, Json>; placeOf: (path: Path, atKey: boolean) => Place };

/** Where a value is in a text that was parsed before; the nearest that is there. */
export function placeIn(text: string, path: Path): { readonly line: number; readonly column: number } {
  const read = readYaml({ file: '', text, firstLine: 1, examples: {} });
  return read.ok ? read.placeOf(path, false) : { line: 1, column: 1 };
}

function readYaml({ file, text, firstLine, examples }: YamlSource): Read {
  const example = examples[''] === undefined ? {} : { example: examples[''] };
  const refuse = (line: number, message: string): Read => ({
    ok: false,
    problems: [{ file, line, message, ...example }],
  });
  if (text.length > MAX_BYTES || new TextEncoder().encode(text).byteLength > MAX_BYTES) {
    return refuse(firstLine, `larger than ${MAX_BYTES / 1024} KiB; only settings belong in this file`);
  }
  const clean = text.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n');
  const control = clean.search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/);
  if (control >= 0)
    return refuse(
      firstLine + clean.slice(0, control).split('\n').length - 1,
      'contains a control character; is it a text file?',
    );

  const counter = new LineCounter();
  const document = compose(clean, counter);
  const placeAt = (offset: number): Place => {
    const { line, col } = counter.linePos(offset);
    return { line: firstLine + Math.max(line, 1) - 1, column: Math.max(col, 1) };
  };
  if (document === undefined) return refuse(firstLine, 'nested too deeply');
  const error = document.errors[0] ?? document.warnings[0];
  if (error !== undefined) {
    return { ok: false, problems: [{ file, ...placeAt(error.pos[0]), message: syntaxMessage(error), ...example }] };
  }
  if (document.directives?.yaml.explicit === true) return refuse(firstLine, 'a “%” directive is not supported');

  const problems: Problem[] = [];
  const report = (offset: number, message: string) => problems.push({ file, ...placeAt(offset), message });
  const root: Position = { key: 0, value: 0, children: new Map() };
  const value = toPlain(document.contents, root, 0, report) ?? {};
  if (problems.length > 0) return { ok: false, problems };
  if (typeof value !== 'object' || Array.isArray(value))
    return refuse(firstLine, 'must contain settings by name: “key: value”');
  const raw = Object.fromEntries(Object.entries(value).filter((entry) => entry[1] !== null));
  return { ok: true, raw, placeOf: (path, atKey) => placeAt(offsetOf(root, path, atKey)) };
}

function compose(text: string, lineCounter: LineCounter): Document.Parsed | undefined {
  try {
    // `toPlain` finds duplicate keys, because the library's own check takes quadratic time.
    return parseDocument(text, {
      version: '1.2',
      schema: 'core',
      strict: true,
      uniqueKeys: false,
      resolveKnownTags: false,
      merge: false,
      prettyErrors: false,
      // `silent` drops the error about a second document.
      logLevel: 'error',
      lineCounter,
    });
  } catch (error) {
    // Deep nesting overflows the stack. Any other error is a bug.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function syntaxMessage(error: YAMLError): string {
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return 'indented by a tab; YAML takes spaces only';
    case 'MULTIPLE_DOCS':
      return 'a second document starts here; only one is read';
    case 'RESOURCE_EXHAUSTION':
      return 'nested too deeply';
    case 'TAG_RESOLVE_FAILED':
      return 'a tag (“!…”) is not supported';
    default:
      return `is not YAML: ${quote(error.message).slice(1, -1)}`;
  }
}

type Report = (offset: number, message: string) => void;

/** The node as plain JSON. Reports values that JSON cannot express or that could surprise. */
function toPlain(node: unknown, position: Position, depth: number, report: Report): Json {
  if (node === null || node === undefined) return null;
  if (depth > MAX_DEPTH) {
    report(position.value, 'nested too deeply');
    return null;
  }
  if (isAlias(node)) {
    report(position.value, 'an alias (“*…”) is not supported; write the value out');
    return null;
  }
  if (isSeq(node)) {
    return node.items.map((item, index) => {
      const child = { key: startOf(item, position.value), value: startOf(item, position.value), children: new Map() };
      position.children.set(String(index), child);
      return toPlain(item, child, depth + 1, report);
    });
  }
  if (isMap(node)) return mapToPlain(node.items, position, depth, report);
  const value: unknown = isScalar(node) ? node.value : undefined;
  if (typeof value === 'string') {
    if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(value) || !value.isWellFormed()) {
      report(position.value, 'the text contains a control character');
    }
    return value;
  }
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value;
  if (value !== null) report(position.value, 'a finite number is needed here');
  return null;
}

function mapToPlain(items: readonly unknown[], position: Position, depth: number, report: Report): Json {
  const entries: [string, Json][] = [];
  for (const pair of items) {
    if (!isPair(pair)) continue;
    const at = startOf(pair.key, position.value);
    const name = isScalar(pair.key) ? pair.key.value : null;
    if (typeof name !== 'string' && typeof name !== 'number' && typeof name !== 'boolean') {
      report(at, 'a name is needed before the colon');
      continue;
    }
    if (typeof name === 'number' && !Number.isSafeInteger(name)) report(at, 'a name of so many digits needs quotes');
    const key = String(name);
    const child: Position = { key: at, value: startOf(pair.value, at), children: new Map() };
    if (key === '__proto__') report(at, 'the key “__proto__” is not allowed');
    else if (position.children.has(key)) report(at, `duplicate key ${quote(key)}`);
    else entries.push([key, toPlain(pair.value, child, depth + 1, report)]);
    position.children.set(key, child);
  }
  return Object.fromEntries(entries);
}

function startOf(node: unknown, otherwise: number): number {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
  const start: unknown = Array.isArray(range) ? range[0] : undefined;
  return typeof start === 'number' ? start : otherwise;
}

/** The offset of the value, or of the nearest existing parent. */
function offsetOf(root: Position, path: Path, atKey: boolean): number {
  let position = root;
  for (const [index, step] of path.entries()) {
    const child = position.children.get(String(step));
    if (child === undefined) return position === root ? 0 : position.key;
    position = child;
    if (atKey && index === path.length - 1) return child.key;
  }
  return position.value;
}

/** A value as YAML, long texts as blocks. */
export function writeYaml(value: Json): string {
  return stringify(value, { lineWidth: 100, blockQuote: 'literal' });
}
