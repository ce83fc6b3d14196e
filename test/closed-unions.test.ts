import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RUN_EVENTS } from '../src/model/run.ts';
import { tagsIn, unusedTags, type ClosedUnion, type Source } from './support/closed-unions.ts';

const SOURCE = join(import.meta.dirname, '../src');
const sources: readonly Source[] = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(join(SOURCE, name), 'utf8') }));

function textOf(file: string): string {
  const found = sources.find(({ name }) => name === file);
  if (found === undefined) throw new Error(`there is no ${file}`);
  return found.text;
}

/** `between`: where the definition begins and ends in its file. */
function union(
  name: string,
  file: string,
  key: string,
  words: RegExp,
  between: [string, string] = ['', ''],
): ClosedUnion {
  return { name, key, file, words, tags: tagsIn(textOf(file), key, ...between) };
}

const UNIONS: readonly ClosedUnion[] = [
  union('PlanEffect', 'model/plan/effect.ts', 'effect', /PlanEffect|WorkEffect|effects|Draft\b/),
  union('PlanNews', 'model/plan/event.ts', 'type', /PlanNews|PlanEvent|PlaybookEvent|PlanInput|news|Draft\b/),
  union('PlanEntry', 'model/plan/entry.ts', 'entry', /PlanEntry|planEntrySchema/, ['const planEntrySchema', ']);']),
  union('PlanChange', 'model/plan/change.ts', 'do', /PlanChange/),
  union('WorkEvent', 'model/plan/work.ts', 'type', /WorkEvent|workOn|WorkStep|PlanInput/, [
    'workEventSchema =',
    'export type WorkEvent ',
  ]),
  { ...union('RunEvent', 'model/run-event.ts', 'type', /RunEvent/, ['runEventSchema =', '']), passedOn: true },
  union('Decision', 'substrate/ports/ledger.ts', 'do', /Decision\b/, [
    'export type Decision',
    'export interface ApplyInput',
  ]),
];

describe('every tag of a closed union is produced and acted on', () => {
  it.each(UNIONS)('$name', (one) => {
    expect(one.tags.length).toBeGreaterThan(1);
    expect(unusedTags(one, sources)).toEqual([]);
  });
});

describe('every input of a run', () => {
  const reader = textOf('rules/read-input.ts');
  const list = /const INPUTS[^]*?\]\)/.exec(reader)?.[0] ?? '';
  const own = [...list.matchAll(/'([^']+)'/g)].map(([, type = '']) => type);
  const others = [...list.matchAll(/RUN_EVENTS\.(\w+)/g)].map(([, name = '']) => name);
  const writers = sources.filter(({ name }) => name !== 'rules/read-input.ts' && name !== 'model/run.ts');

  it('is listed', () => expect([own.length, others.length].every((count) => count > 4)).toBe(true));

  it.each(own)('%s is written by the ledger', (type) => {
    const ledger = writers.filter(({ name }) => name.startsWith('substrate/ledger/') && !name.endsWith('/events.ts'));
    expect(ledger.some(({ text }) => text.includes(`'${type}'`))).toBe(true);
  });

  it.each(others)('RUN_EVENTS.%s is written by the engine', (name) => {
    const value = RUN_EVENTS[name as keyof typeof RUN_EVENTS];
    const written = new RegExp(String.raw`note\([^;]*RUN_EVENTS\.${name}\b|type: (?:RUN_EVENTS\.${name}\b|'${value}')`);
    const engine = writers.filter(({ name: file }) => /^(?:engine|graph|operations)[/.]/.test(file));
    expect(engine.some(({ text }) => written.test(text))).toBe(true);
  });
});

describe('the rule', () => {
  const about = { name: 'Wave', key: 'is', tags: ['high'], file: 'wave.ts', words: /Wave/ };
  const judge = (...texts: readonly string[]): string[] =>
    unusedTags(
      about,
      texts.map((text, index) => ({ name: `${index}.ts`, text: `// of a Wave\n${text.replaceAll('Wave', '')}Wave` })),
    );
  const PRODUCED = "const wave = { is: 'high' };";
  const ACTED_ON = "if (wave.is === 'high') surf();";
  const [NOT_PRODUCED, NOT_ACTED_ON] = ['Wave high: nothing produces it', 'Wave high: nothing acts on it'];

  it('is content with a tag that one file produces and another acts on', () => {
    expect(judge(PRODUCED, ACTED_ON)).toEqual([]);
  });

  it.each([
    ['a type', "type High = Extract<Wave, { is: 'high' }>;"],
    ['a field of an interface', "interface High { readonly is: 'high'; }"],
    ['a comment', "// as in { is: 'high' }"],
    ['another key', "const wave = { was: 'high' };"],
    ['a longer tag', "const wave = { is: 'high-tide' };"],
  ])('says that %s produces nothing', (_what, text) => expect(judge(text, ACTED_ON)).toEqual([NOT_PRODUCED]));

  it.each([
    ['one side of a condition', "const wave = { is: tide ? 'high' : 'low' };"],
    ['the other side', "const wave = { is: ebb ? 'low' : 'high' };"],
    ['a constant', "const wave = { is: 'high' as const, at: 1 };"],
    ['several lines', "const wave = {\n  is: 'high',\n  at: 1,\n};"],
  ])('takes %s for a producer', (_what, text) => expect(judge(text, ACTED_ON)).toEqual([]));

  it.each([
    ['a case that leaves the switch', "switch (wave.is) { case 'high':\n break; }"],
    ['a case that returns nothing', "switch (wave.is) { case 'high':\n return []; }"],
    ['one of several such cases', "switch (wave.is) { case 'high':\n case 'low':\n return undefined; }"],
    ['nothing', ''],
  ])('says that %s does not act on it', (_what, text) => expect(judge(PRODUCED, text)).toEqual([NOT_ACTED_ON]));

  it.each([
    ['a case', "switch (wave.is) { case 'high':\n surf();\n break; }"],
    ['one of several cases', "switch (wave.is) { case 'high':\n case 'low':\n return surf(); }"],
    ['a table', 'const HEIGHTS = {\n  high: 3,\n};'],
    ['a comparison', "const calm = wave.is !== 'high';"],
  ])('takes %s for something that acts on it', (_what, text) => expect(judge(PRODUCED, text)).toEqual([]));

  it('looks only at files that speak of the union, and not at its definition', () => {
    expect(unusedTags(about, [{ name: 'tide.ts', text: PRODUCED + ACTED_ON }])).toEqual([NOT_PRODUCED, NOT_ACTED_ON]);
    expect(unusedTags(about, [{ name: 'wave.ts', text: `Wave ${PRODUCED}${ACTED_ON}` }])).toHaveLength(2);
  });
});
