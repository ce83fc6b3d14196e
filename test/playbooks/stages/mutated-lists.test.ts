import { readdirSync, readFileSync } from 'node:fs';
import { fc, it } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { parse } from 'yaml';
import { createPlaybookOfList } from '../../../src/playbooks/registry.ts';
import { stageListSchema } from '../../../src/playbooks/stages/stage-schema.ts';
import { parseSettings } from '../../../src/squad/settings/parse-settings.ts';
import { plainJson, type Json } from '../../../src/text/json.ts';
import { problemText } from '../../../src/text/problem.ts';
import { holdsSettings } from '../../malformed/holds.ts';
import { mutated } from '../../malformed/mutate-json.ts';
import { KNOWN_NAMES } from '../../support/known-names.ts';
import { SPREAD, spread } from '../../support/lane.ts';
import { factsOf, member } from '../simulator.ts';

const FOLDER = new URL('../../../examples/stages/', import.meta.url);
const EXAMPLES = readdirSync(FOLDER).map((name) => readFileSync(new URL(name, FOLDER), 'utf8'));
const LISTS = EXAMPLES.map((text) => (parse(text) as { playbook: Json }).playbook);

/** One text of a list in place of another one: names that are there, where they do not belong. */
function swapped(list: Json, [from, to]: readonly [number, number]): Json {
  const texts: string[] = [];
  JSON.stringify(list, (_key, value: unknown) => (typeof value === 'string' && texts.push(value), value));
  let index = -1;
  const count = texts.length;
  return JSON.parse(
    JSON.stringify(list, (_key, value: unknown) => {
      if (typeof value !== 'string') return value;
      index += 1;
      return index === from % count ? texts[to % count] : value;
    }),
  ) as Json;
}

const lists = fc.oneof(
  mutated(...LISTS),
  fc
    .tuple(fc.constantFrom(...LISTS), fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 3 }))
    .map(([list, swaps]) => swaps.reduce(swapped, list)),
);
/** A file of an example with a part of it gone, or in another place. */
const files = fc
  .tuple(fc.constantFrom(...EXAMPLES), fc.nat(), fc.nat({ max: 60 }), fc.nat(), fc.boolean())
  .map(([text, at, length, to, moved]) => {
    const start = at % text.length;
    const rest = text.slice(0, start) + text.slice(start + length);
    const place = to % (rest.length + 1);
    return moved ? rest.slice(0, place) + text.slice(start, start + length) + rest.slice(place) : rest;
  });

/** A run can begin with it, or every problem has its place, its words and an example. */
function holdsList(text: string): void {
  holdsSettings(text);
  const parsed = parseSettings(text, 'squad.yaml', KNOWN_NAMES);
  if (!parsed.ok) {
    for (const problem of parsed.problems)
      expect(problemText(problem)).toMatch(/^squad\.yaml:[1-9]\d*(?::[1-9]\d*)?: \S/);
    return;
  }
  const list = stageListSchema.safeParse(parsed.value.playbook);
  if (!list.success) return expect(typeof parsed.value.playbook).not.toBe('object');
  const roles = new Set(
    list.data.stages.flatMap(({ by, review = [] }) => [...by, ...[review].flat().flatMap((one) => one.by)]),
  );
  const playbook = createPlaybookOfList(list.data);
  const facts = factsOf([...roles].map((role) => member(role, role)));
  const options = plainJson({ list: list.data, folder: 'docs/squad/a-run', reviewRounds: 4 });
  const input = playbook.parse({ ...facts, options });
  expect(input).toMatchObject({ ok: true });
  if (input.ok) expect(playbook.plan(input.input).length).toBeGreaterThan(0);
}

describe('T20: lists that are not as they were written', SPREAD, () => {
  it.prop([lists], { numRuns: spread(75, 600), seed: 16 })('by their parts', (list) => {
    holdsList(JSON.stringify({ playbook: list }, null, 1));
  });

  it.prop([files], { numRuns: spread(50, 250), seed: 16 })('by their text', holdsList);
});
