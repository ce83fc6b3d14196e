import { z } from 'zod';
import { ITEM_KINDS, itemSchema, PRIORITY, type BacklogEntry, type BacklogItem } from './item.ts';
import { quotedName } from '../../text/plain-text.ts';

const MOST_WRITES = 50;
const MOST_TITLE = 200;
const MOST_CRITERION = 500;
const MOST_CRITERIA = 20;
/** Leaves room for the number of a second one with the same title. */
const ID = /^b-[a-z0-9][a-z0-9-]{0,59}$/;

const line = (most: number): z.ZodString => z.string().max(most);

const writeSchema = z.object({
  op: z.enum(['add', 'update', 'dedupe', 'reprioritise', 'drop']),
  id: z.string().describe('of `add`: a new id, `b-` and a slug of the title; else the id of the item'),
  version: z.number().int().describe('0 of `add`; else the version that you read: another one is refused'),
  title: line(MOST_TITLE).nullable().describe('of `add`, and of `update` if it changes'),
  kind: z.enum(ITEM_KINDS).nullable().describe('of `add`, and of `update` if it changes'),
  acceptance: z
    .array(line(MOST_CRITERION))
    .max(MOST_CRITERIA)
    .nullable()
    .describe('what can be checked once it is done, one an entry; of `add`, and of `update` if it changes'),
  priority: z
    .number()
    .int()
    .min(PRIORITY.least)
    .max(PRIORITY.most)
    .nullable()
    .describe('higher ones come first; of `add`, `reprioritise`, and of `update` if it changes'),
  source: line(MOST_TITLE)
    .nullable()
    .describe('what it comes from, as the brief names it; null: the only one there is'),
  same_as: z.string().nullable().describe('of `dedupe`: the id of the item that stays'),
  reason: line(MOST_CRITERION).nullable().describe('of `dedupe` and `drop`: why, for people'),
});
type Write = z.infer<typeof writeSchema>;

export const backlogWritesSchema = z.array(writeSchema).max(MOST_WRITES);

interface Receipt {
  readonly op: Write['op'];
  readonly id: string;
  readonly version: number;
}

interface Taken {
  readonly problems?: never;
  /** The items that changed, as they are now. */
  readonly items: ReadonlyMap<string, BacklogItem>;
  readonly receipts: readonly Receipt[];
}
export type Written = { readonly problems: readonly string[] } | Taken;

interface Facts {
  readonly now: number;
  /** Where an item may come from. */
  readonly sources: readonly string[];
}

/** All of these writes on the backlog, or none: one problem refuses them all. */
export function writeBacklog(backlog: readonly BacklogEntry[], writes: readonly Write[], facts: Facts): Written {
  const known = new Map(backlog.map((item) => [item.id, item]));
  const added = new Set(writes.flatMap(({ op, id }) => (op === 'add' ? [id] : [])));
  const problems = writes.flatMap((write, index) => {
    const where = `write ${index + 1} (${write.op} ${quotedName(write.id)})`;
    const twice = writes.findIndex(({ id }) => id === write.id) < index;
    const found = [
      ...(twice ? ['writes an item that an earlier one of this answer writes'] : []),
      ...(write.op === 'add' ? newProblems(write, known) : knownProblems(write, known, added)),
      ...sourceProblems(write, facts),
    ];
    return found.map((problem) => `${where}: ${problem}`);
  });
  if (problems.length > 0) return { problems };
  const items = new Map(writes.map((write) => [write.id, after(write, known.get(write.id), facts)]));
  return { items, receipts: writes.map(({ op, id }) => ({ op, id, version: items.get(id)?.version ?? 0 })) };
}

function newProblems(
  { id, version, title, kind, acceptance, priority }: Write,
  known: ReadonlyMap<string, unknown>,
): string[] {
  return [
    ...(ID.test(id) ? [] : ['its id must be `b-` and lower-case letters, digits and dashes, at most 62 characters']),
    ...(known.has(id) ? ['there is an item with this id already; choose another id, or update that one'] : []),
    ...(version === 0 ? [] : ['the version of a new item is 0']),
    ...(isBlank(title) ? ['it needs a title'] : []),
    ...(kind === null ? ['it needs a kind'] : []),
    ...(priority === null ? ['it needs a priority'] : []),
    ...(acceptance === null || acceptance.every(isBlank) ? ['it needs at least one acceptance criterion'] : []),
  ];
}

function knownProblems(write: Write, known: ReadonlyMap<string, BacklogEntry>, added: ReadonlySet<string>): string[] {
  const item = known.get(write.id);
  if (item === undefined) return ['the backlog has no such item'];
  const { op, version, same_as: same, reason, title, acceptance, kind, priority } = write;
  const changes = [title, acceptance, kind, priority].some((value) => value !== null);
  return [
    ...(version === item.version
      ? []
      : [`its version is ${item.version}, and this write is of ${version}: read it again`]),
    ...(FIXED.has(item.state) ? [`it is ${item.state}, so it can no longer be written`] : []),
    ...(op === 'update' && !changes ? ['it changes nothing'] : []),
    ...(op === 'update' && title !== null && isBlank(title) ? ['its title is empty'] : []),
    ...(op === 'update' && acceptance?.every(isBlank) === true ? ['it needs at least one acceptance criterion'] : []),
    ...(op === 'reprioritise' && priority === null ? ['it names no priority'] : []),
    ...(op === 'drop' && isBlank(reason) ? ['it gives no reason'] : []),
    ...(op === 'dedupe' ? sameProblems(write.id, same, known, added) : []),
  ];
}

/** A sprint works on it, or it is over. */
const FIXED: ReadonlySet<string> = new Set(['selected', 'done', 'dropped']);

function sameProblems(
  id: string,
  same: string | null,
  known: ReadonlyMap<string, BacklogEntry>,
  added: ReadonlySet<string>,
): string[] {
  if (same === null) return ['it names no item in `same_as`'];
  if (same === id) return ['it is the same as itself'];
  const other = known.get(same);
  if (other === undefined) return added.has(same) ? [] : [`the backlog has no item ${quotedName(same)}`];
  return other.state === 'dropped' ? [`${quotedName(same)} is dropped`] : [];
}

function sourceProblems({ op, source }: Write, { sources }: Facts): string[] {
  if (op !== 'add') return [];
  if (source === null) return sources.length === 1 ? [] : [`it names no source; one of ${sources.join(', ')}`];
  return sources.includes(source) ? [] : [`its source must be one of ${sources.join(', ')}`];
}

function after(write: Write, before: BacklogEntry | undefined, { now, sources }: Facts): BacklogItem {
  const { op, title, kind, acceptance, priority, source, same_as: same, reason } = write;
  if (before === undefined) {
    return {
      ...{ title: (title ?? '').trim(), kind: kind ?? 'feature', acceptance: trimmed(acceptance ?? []) },
      ...{ priority: priority ?? PRIORITY.least, source: source ?? sources[0] ?? '' },
      ...{ version: 1, createdAt: now, updatedAt: now },
    };
  }
  const item = { ...itemSchema.parse(before), version: before.version + 1, updatedAt: now };
  if (op === 'drop') return { ...item, dropped: reason ?? '' };
  if (op === 'dedupe')
    return { ...item, dropped: [`the same as ${same}`, ...(isBlank(reason) ? [] : [reason])].join(': ') };
  if (op === 'reprioritise') return { ...item, priority: priority ?? item.priority };
  return {
    ...item,
    ...{ title: title?.trim() ?? item.title, kind: kind ?? item.kind, priority: priority ?? item.priority },
    acceptance: acceptance === null ? item.acceptance : trimmed(acceptance),
  };
}

function trimmed(lines: readonly string[]): string[] {
  return lines.map((one) => one.trim()).filter((one) => one !== '');
}

function isBlank(value: string | null): boolean {
  return value === null || value.trim() === '';
}
