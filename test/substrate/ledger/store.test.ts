import { expect, test } from 'vitest';
import Database from 'better-sqlite3';
import { createRedactor } from '../../../src/model/redaction/redactor.ts';
import { createStore, digestOf, redactorOfRun, type Store } from '../../../src/substrate/ledger/store.ts';
import type { Json } from '../../../src/text/json.ts';
import { openBench, squadError } from './support.ts';

/** A store over a run with this definition, and the variables that its redactor was made with. */
function storeWith(definition: Json | undefined): { store: Store; asked: (readonly string[])[] } {
  const { path, ledger, lease } = openBench();
  if (definition !== undefined) ledger.note(lease, 'run-defined', definition);
  const asked: (readonly string[])[] = [];
  const store = createStore(new Database(path, { readonly: true }), { now: () => 0 }, (names) => {
    asked.push(names);
    return createRedactor([]);
  });
  return { store, asked };
}

test.each<[string, Json | undefined, readonly string[]]>([
  ['without a definition', undefined, []],
  ['with one that says nothing of it', { agents: 7 }, []],
  [
    'whose runtimes get variables',
    { runtimes: { a: { env: ['ONE', 'TWO'] }, b: { env: ['THREE'] } } },
    ['ONE', 'TWO', 'THREE'],
  ],
  ['whose agents get some too', { runtimes: { a: { env: ['ONE'] } }, agents: [{ env: ['TWO'] }, {}] }, ['ONE', 'TWO']],
])('a run %s lets these variables through: %j', (_, definition, names) => {
  const { store, asked } = storeWith(definition);
  const first = redactorOfRun(store, 'r');
  expect(asked).toEqual([names]);
  // A definition does not change, so it is read once; before it is there, each time.
  expect(redactorOfRun(store, 'r') === first).toBe(definition !== undefined);
  expect(redactorOfRun(store, 'other')).not.toBe(first);
  expect(asked.at(-1)).toEqual([]);
  store.db.close();
});

test('a store removes only what looks like a secret unless it is told more', () => {
  const store = createStore(new Database(':memory:'), { now: () => 5 });
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  expect(store.redactor(['PATH']).text(`well ${secret}`)).not.toContain(secret);
  expect(store.redactor([]).text('well')).toBe('well');
  expect(store.clock.now()).toBe(5);
});

test('a digest is the same for the same JSON in any order of its keys', () => {
  const own = JSON.parse('{"__proto__":1}') as Json;
  const all: Json[] = [{ a: 1, b: [1, 2] }, { a: 1, b: [2, 1] }, { a: 1 }, { a: null }, {}, null, 'a', 1, own];
  expect(new Set(all.map(digestOf)).size).toBe(all.length);
  expect(digestOf({ b: [1, { d: 1, c: 2 }], a: 1 })).toBe(digestOf({ a: 1, b: [1, { c: 2, d: 1 }] }));
  expect(digestOf('a')).toMatch(/^[0-9a-f]{64}$/);
});

test('a definition that cannot be read is damage', () => {
  const { path, ledger, lease } = openBench();
  ledger.note(lease, 'run-defined', {});
  const db = new Database(path);
  db.exec(
    "PRAGMA ignore_check_constraints = ON; DROP TRIGGER event_never_changes; UPDATE event SET data = '{' WHERE seq = 3",
  );
  const store = createStore(db, { now: () => 0 });
  expect(squadError(() => redactorOfRun(store, 'r')).message).toBe(`${path}: the definition of run r is damaged.`);
  db.close();
});
