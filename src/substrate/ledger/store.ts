import { dirname } from 'node:path';
import { sha256Of } from '../../model/sha256.ts';
import { equipmentSchema } from '../../model/armory.ts';
import { variablesOf } from '../../model/equip.ts';
import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { badInput } from '../../model/errors.ts';
import type { Json } from '../../text/json.ts';
import { createRedactor, type Redactor } from '../../model/redaction/redactor.ts';
import type { Clock } from '../ports/clock.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import type { Totals } from '../ports/ledger.ts';
import { corruptDatabase } from './sqlite-errors.ts';
import { refuseMoved } from './moved-mark.ts';
import { createQueries, type Queries } from './query.ts';
import { write } from './transactions.ts';

/** The turns of a run, an agent or a task, added up. */
export type Tally = { -readonly [Name in Exclude<keyof Totals, 'costUsd'>]: number } & {
  microUsd: number;
  ms: number;
  /** By runtime: turns that may have cost something and did not say what. */
  readonly unknown: Map<string, { tokens: number; microUsd: number }>;
};

/** The turns of a run, or of a day, whose claims and settlements lie up to `seq`, added up. */
export interface Spent {
  seq: number;
  readonly all: Tally;
  readonly agents: Map<string, Tally>;
  readonly tasks: Map<string, Tally>;
  /** By runtime: the most that one turn is known to have used. */
  readonly largest: Map<string, { tokens: number | null; microUsd: number | null }>;
}

export interface Store extends Queries {
  readonly db: Database;
  readonly clock: Pick<Clock, 'now'>;
  /** Removes secrets from outside texts before they are stored. `letThrough`: the variables that the run's agents get. */
  redactor(letThrough: readonly string[]): Redactor;
  readonly redactors: Map<string, Redactor>;
  /** By run; the day's under a key of its own. */
  readonly spent: Map<string, Spent>;
  /** When this process took the workspace (epoch ms); 0: it has not. */
  readonly engineSince: number;
}

export function createStore(
  db: Database,
  clock: Pick<Clock, 'now'>,
  redactor: Store['redactor'] = () => NOTHING_KNOWN,
  engineSince = 0,
): Store {
  return { ...createQueries(db), db, clock, redactor, redactors: new Map(), spent: new Map(), engineSince };
}

/** Removes only texts that look like a credential. */
const NOTHING_KNOWN = createRedactor([]);

/** SQLite's JSON check fails above 1,000 levels, and an agent can send more. */
const MOST_LEVELS = 500;

/** JSON as stored text. Throws `bad-input` for a value that SQLite refuses. */
export function storedJson(value: Json): string {
  refuseDepth(value);
  return JSON.stringify(value);
}

export function refuseDepth(value: Json): void {
  if (!isTooDeep(value)) return;
  throw badInput(
    `JSON nested more than ${MOST_LEVELS} levels deep cannot be stored.`,
    'Send it as a file, and store the file name.',
  );
}

/** The only write transaction on the ledger's rows. If it fails, what was added up from them is forgotten. */
export function change<T>(store: Store, work: () => T): T {
  // In the transaction, so that a move which has marked the runs has what was written before. An engine's lock keeps a move away.
  const here = (): T => {
    refuseMoved(dirname(store.db.name));
    return work();
  };
  try {
    return write(store.db, store.engineSince === 0 ? here : work);
  } catch (error) {
    store.spent.clear();
    throw error;
  }
}

/** Stored text as plain JSON. */
export function parseStored(store: Store, text: string, where: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw corruptDatabase(store.db.name, `${where} is damaged.`, error);
  }
}

/** Parses a stored row with a schema; a row that does not pass it is damage. */
export function parseRow<T>(store: Store, schema: z.ZodType<T>, text: string, where: string): T {
  const parsed = schema.safeParse(parseStored(store, text, where));
  if (parsed.success) return parsed.data;
  throw corruptDatabase(store.db.name, `${where} is damaged.`, parsed.error);
}

/** Equal for two values that are equal as JSON, in any order of keys. */
export function digestOf(value: Json): string {
  return sha256Of(JSON.stringify(sorted(value)));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  // Assigning a key named `__proto__` would lose it; an entry keeps it.
  const keys = Object.keys(value).sort();
  return keys.map((key) => [key, sorted(value[key] ?? null)]);
}

function isTooDeep(value: Json): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MOST_LEVELS) return true;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

const letThroughSchema = z.object({
  runtimes: z.record(z.string(), z.object({ env: z.array(z.string()) })),
  agents: z.array(z.object({ env: equipmentSchema.env, mcp: equipmentSchema.mcp })).optional(),
});

/** The redactor for texts that people, agents and operations send to a run (bar S9). */
export function redactorOfRun(store: Store, runId: string): Redactor {
  const known = store.redactors.get(runId);
  if (known !== undefined) return known;
  const sql = 'SELECT data FROM event WHERE stream = ? AND type = ? LIMIT 1';
  const data = store.value<string>(sql, runId, RUN_EVENTS.defined);
  // A single turn has no definition.
  if (data === undefined) return store.redactor([]);
  // This does not validate the definition. A reader that needs a valid one refuses it.
  const defined = letThroughSchema.safeParse(parseStored(store, data, `the definition of run ${runId}`)).data;
  const { runtimes = {}, agents = [] } = defined ?? {};
  const names = [...Object.values(runtimes).flatMap(({ env }) => env), ...agents.flatMap(variablesOf)];
  const redactor = store.redactor(names);
  store.redactors.set(runId, redactor);
  return redactor;
}
