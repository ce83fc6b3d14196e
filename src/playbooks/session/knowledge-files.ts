import type { FolderFile } from '../../model/folder.ts';
import { defined } from '../../text/defined.ts';
import type { Json } from '../../text/json.ts';
import { markdownLine } from '../../text/markdown-line.ts';
import { plainJsonText, plainLine } from '../../text/plain-text.ts';
import { WISDOM } from './answer.ts';
import { INDEX_FILE, MEMORY_FILE } from './finding.ts';
import { startIndexFile, startMemory } from './start-json.ts';
import type { Knowledge, Left } from './knowledge.ts';
import {
  MOST_OF_FILE,
  newestLines,
  newestTexts,
  ownFiles,
  readable,
  sharedRoom,
  type NewestLines,
  type NewestTexts,
  type OwnFiles,
} from './knowledge-room.ts';
import type { Session } from './session.ts';

const LEFT_OUT = 'left_out';

type Kind = (typeof WISDOM)[number];

/** Running total over ended tasks, in the order of their ends. Not shared, so the next task is added in place. */
interface Sum {
  /** The tasks that are in it. */
  left: readonly Left[];
  readonly own: OwnFiles;
  readonly memory: NewestLines;
  readonly wisdom: Readonly<Record<Kind, NewestTexts>>;
  readonly index: Index;
}

interface Index {
  /** The line of each key but `entries`, as the start had them. */
  readonly others: ReadonlyMap<string, string>;
  /** How many of the entries the start had. */
  readonly held: number;
  /** With a comma after each. */
  readonly entries: string[];
  room: number;
}

/** The last of each session: another task adds to it. */
const SUMS = new WeakMap<Session, Sum>();
const FILES = new WeakMap<Knowledge, readonly FolderFile[]>();

/**
 * The files that hold what tasks have left, as far as squad can read them again; none where they have left nothing. What a file held
 * at the start stays in it. The same objects as before for the same knowledge.
 */
export function knowledgeFiles(knowledge: Knowledge): readonly FolderFile[] {
  const known = FILES.get(knowledge);
  if (known !== undefined) return known;
  const { start } = knowledge.session;
  const { own, memory, wisdom, index } = sumOf(knowledge);
  const shared = [
    ...(memory.isChanged() ? readable(MEMORY_FILE, objectText([...memory.lines.values()])) : []),
    ...WISDOM.flatMap((kind) => wisdomFile(kind, start.wisdom[kind], wisdom[kind])),
    ...indexFile(index, own.leftOut),
  ];
  const files = [
    ...own.files,
    ...shared.map(({ path, text }) => ({ path, text, ...defined({ held: start.hashes[path] }) })),
  ];
  FILES.set(knowledge, files);
  return files;
}

function sumOf({ session, left }: Knowledge): Sum {
  const last = SUMS.get(session);
  const isOn = last !== undefined && last.left.at(-1) === left[last.left.length - 1];
  const sum = isOn ? last : emptySum(session);
  for (const one of left.slice(sum.left.length)) add(sum, one);
  sum.left = left;
  SUMS.set(session, sum);
  return sum;
}

function emptySum({ start }: Session): Sum {
  const { wisdom } = start;
  const memory = startMemory(start);
  const room = sharedRoom(start);
  const indent = indentOf(memory, room);
  const lines = Object.entries(memory).map(([key, value]) => [key, memoryLine(key, value, indent)] as const);
  return {
    left: [],
    own: ownFiles(start),
    memory: newestLines(lines, room),
    wisdom: {
      learnings: newestTexts(wisdom.learnings, room),
      decisions: newestTexts(wisdom.decisions, room),
      issues: newestTexts(wisdom.issues, room),
    },
    index: startIndex(startIndexFile(start), room),
  };
}

function add({ own, memory, wisdom, index }: Sum, left: Left): void {
  const { task, role, artifact, discussion } = left;
  const by = { task: task.id, role: role.name };
  if (artifact !== null) own.add({ folder: 'artifacts', name: artifact.name, text: `${artifact.text}\n` });
  for (const { name, text } of discussion) own.add({ folder: 'discussions', name, text: `${text}\n` });
  for (const { key, value } of left.memory) memory.put(key, memoryLine(key, value));
  for (const kind of WISDOM) for (const text of left.wisdom[kind]) wisdom[kind].add(wisdomEntry(by, text));
  for (const { name, angle, keywords, findings } of left.explorations) {
    const entry = entryText({ angle, keywords: [...keywords], file: name, ...by });
    const bytes = Buffer.byteLength(entry);
    const text = `${plainJsonText({ angle, keywords, findings, ...by }, 2)}\n`;
    if (!own.add({ folder: 'explorations', name, text }, bytes <= index.room)) continue;
    index.entries.push(entry);
    index.room -= bytes;
  }
}

/** A list item whose text is a code block: an indent holds whatever is in it, and no reader takes any of it for markup. */
function wisdomEntry({ task, role }: { task: string; role: string }, text: string): string {
  const line = (name: string): string => markdownLine(plainLine(name, 120));
  return `- ${line(task)} (${line(role)})\n\n${indented(text, '      ')}\n\n`;
}

function wisdomFile(kind: Kind, before: string, { texts, leftOut }: NewestTexts): FolderFile[] {
  const older = leftOut();
  if (texts.length === 0 && older === 0) return [];
  const gap = before === '' || before.endsWith('\n\n') ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  const note =
    older === 0 ? '' : `Older entries that squad has left out, because there is no room for them: ${older}\n\n`;
  return readable(`wisdom/${kind}.md`, `${before}${gap}${`${note}${texts.join('')}`.slice(0, -1)}`);
}

function objectText(lines: readonly string[]): string {
  return `{\n${lines.join(',\n')}\n}\n`;
}

function memoryLine(key: string, value: Json, indent = 2): string {
  return `  ${plainJsonText(key)}: ${plainJsonText(value, indent).replaceAll('\n', '\n  ')}`;
}

/** A large value has as few line breaks as can be. `most`: bytes that they may add. */
function indentOf(value: Json, most: number): number {
  const bytes = Buffer.byteLength(plainJsonText(value));
  return Buffer.byteLength(plainJsonText(value, 2)) > Math.min(MOST_OF_FILE, bytes + most) ? 0 : 2;
}

/** Other keys, other entries and their order stay. An index of another form moves to `before`. */
function startIndex(before: Json, most: number): Index {
  const { entries = [], ...rest } = indexFields(before);
  const indent = indentOf(before, most);
  const known = (Array.isArray(entries) ? entries : [entries]).map((entry) => entryText(entry, indent));
  const others = new Map(Object.entries(rest).map(([key, value]) => [key, memoryLine(key, value, indent)]));
  const room = MOST_OF_FILE - Buffer.byteLength([...others.values(), ...known].join(',\n'));
  return { others, held: known.length, entries: known, room: Math.min(room, most) };
}

/** Counts what there was no room for. */
function indexFile({ others, held, entries }: Index, leftOut: OwnFiles['leftOut']): FolderFile[] {
  if (entries.length === held && leftOut.size === 0) return [];
  const lines = new Map(others);
  if (leftOut.size > 0) lines.set(LEFT_OUT, memoryLine(LEFT_OUT, Object.fromEntries(leftOut)));
  const list = entries.length === 0 ? '[]' : `[\n${entries.join('').slice(0, -2)}\n  ]`;
  return readable(INDEX_FILE, objectText([...lines.values(), `  "entries": ${list}`]));
}

function entryText(entry: Json, indent = 2): string {
  return `${indented(plainJsonText(entry, indent), '    ')},\n`;
}

function indexFields(before: Json): Readonly<Record<string, Json>> {
  if (before === null) return {};
  if (Array.isArray(before)) return { entries: before };
  return typeof before === 'object' ? before : { before };
}

function indented(text: string, by: string): string {
  return text.replaceAll(/^(?=.)/gm, by);
}
