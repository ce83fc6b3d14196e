import { fc } from '@fast-check/vitest';
import type { Json } from '../../src/text/json.ts';

type Path = readonly (string | number)[];

interface Edit {
  /** Which of all its parts, counted round. */
  readonly part: number;
  readonly do: 'replace' | 'remove' | 'repeat' | 'add';
  readonly value: Json;
}

const HOSTILE: readonly Json[] = [
  ...['', ' ', '\0', '\ud800', '\u202e', '..', '../../x', '-x', '--help', 'a/b', 'A', 'ä', 'x'.repeat(300), 'a\nb'],
  ...['__proto__', 'constructor', 'toString', 'run', 'task/', 'agent/bob', 'task/a', 'plan', 'verify', 'a', 'b'],
  ...[0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER + 1, 2 ** 31, true, false, null],
  ...[[], {}, [[]], [null], JSON.parse('{"__proto__":{"polluted":true}}') as Json, nested(200)],
];
const NAMES = ['__proto__', 'constructor', 'toString', 'id', 'type', 'then', '', 'toJSON'];

const edit: fc.Arbitrary<Edit> = fc.record({
  part: fc.nat(),
  do: fc.constantFrom('replace', 'replace', 'remove', 'repeat', 'add'),
  value: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...HOSTILE) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }).map((value) => value as Json) },
  ),
});

/** One of the samples, with up to six of its parts replaced, removed, repeated or added to. */
export function mutated(...samples: readonly Json[]): fc.Arbitrary<Json> {
  return fc
    .tuple(fc.constantFrom(...samples), fc.array(edit, { minLength: 1, maxLength: 6 }))
    .map(([sample, edits]) => edits.reduce(apply, sample));
}

/** Lists within lists, so deep. */
export function nested(depth: number): Json {
  let value: Json = [];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
}

function apply(value: Json, change: Edit): Json {
  const paths = [...pathsOf(value, [])];
  return editAt(value, paths[change.part % paths.length] ?? [], change);
}

/** Of the parts that are not too deep to edit. */
function* pathsOf(value: Json, path: Path): Generator<Path> {
  yield path;
  if (typeof value !== 'object' || value === null || path.length > 8) return;
  for (const [key, part] of Object.entries(value))
    yield* pathsOf(part, [...path, Array.isArray(value) ? Number(key) : key]);
}

function editAt(value: Json, [step, ...rest]: Path, change: Edit): Json {
  if (step === undefined) return edited(value, change);
  if (Array.isArray(value)) {
    return value.flatMap((item, index): Json[] => {
      if (index !== step) return [item];
      if (rest.length > 0 || change.do === 'replace' || change.do === 'add') return [editAt(item, rest, change)];
      return change.do === 'remove' ? [] : [item, item];
    });
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]): [string, Json][] => {
      if (key !== step) return [[key, item]];
      return rest.length === 0 && change.do === 'remove' ? [] : [[key, editAt(item, rest, change)]];
    }),
  );
}

function edited(value: Json, { do: what, part, value: other }: Edit): Json {
  if (what !== 'add') return what === 'repeat' ? value : other;
  if (Array.isArray(value)) return [...value, other];
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries([...Object.entries(value), [NAMES[part % NAMES.length] ?? '', other]]);
  }
  return typeof value === 'string' && typeof other === 'string' ? value + other : other;
}
