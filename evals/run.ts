// npm run evals -- --runtime claude --max-usd 5: measures roles with known answers, on your own login. See docs/evals.md.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readSet, SETS, type Item, type SetName } from './items.ts';
import { playItem, type Measured, type Played } from './play.ts';
import { markdownOf, summaryOf } from './report.ts';

/** No figure of a real model is known: it only serves to stop in time, until turns have told what they cost. */
const ASSUMED_USD = 0.25;

export interface Asked {
  readonly sets: readonly SetName[];
  readonly maxUsd: number;
  /** Items of each set, the first ones; absent: all. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Assumed of an item while nothing is known. */
  readonly assumedUsd?: number;
  readonly say: (line: string) => void;
  readonly stopped?: () => boolean;
}

export interface Result {
  readonly all: readonly Played[];
  readonly stopped: string | null;
}

/** Plays the sets, an item after another, until they are through or the next item could go beyond the cap. */
export async function playSets(
  measured: Measured,
  { sets, maxUsd, only, assumedUsd = ASSUMED_USD, say, stopped }: Asked,
): Promise<Result> {
  const all: Played[] = [];
  const items = sets.flatMap((set) => readSet(set).map((item) => ({ set, item: item as Item<SetName> })));
  for (const { set, item } of items.filter((one) => only?.has(one.item.id) ?? true)) {
    if (stopped?.() === true) return { all, stopped: 'a person ended it' };
    const known = all.flatMap(({ usd }) => usd ?? []);
    // What a runtime does not tell counts as assumed.
    const spent = all.reduce((total, { usd }) => total + (usd ?? assumedUsd), 0);
    const next = known.length === 0 ? assumedUsd : Math.max(...known);
    if (spent + next > maxUsd) {
      return { all, stopped: `the next item could go beyond USD ${maxUsd} (spent: about USD ${spent.toFixed(2)})` };
    }
    try {
      const played = await playItem(measured, set, item, maxUsd - spent);
      all.push(played);
      say(`${set.padEnd(10)} ${item.id.padEnd(16)} ${played.right ? 'right' : 'wrong'}  ${played.why}`);
    } catch (error) {
      return { all, stopped: error instanceof Error ? error.message : String(error) };
    }
  }
  return { all, stopped: null };
}

/** In words, before anything starts. */
export function expectation(sets: readonly SetName[], maxUsd: number): string {
  const items = sets.map((set) => `${readSet(set).length} of ${set}`).join(', ');
  const count = sets.reduce((total, set) => total + readSet(set).length, 0);
  const assumed = (count * ASSUMED_USD).toFixed(2);
  return (
    `${count} items (${items}), one turn each and more where an answer is not in the form. No figure of a real model is known; ` +
    `at an assumed USD ${ASSUMED_USD} an item they cost about USD ${assumed}. It stops before USD ${maxUsd}.`
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      ...{ runtime: { type: 'string' }, model: { type: 'string' }, 'max-usd': { type: 'string' } },
      ...{ set: { type: 'string', multiple: true }, prompts: { type: 'string' }, yes: { type: 'boolean' } },
      out: { type: 'string', default: 'evals-results' },
    },
  });
  const { runtime, model, prompts, out, set: named } = values;
  const maxUsd = Number(values['max-usd']);
  const sets = SETS.filter((set) => named?.includes(set) ?? true);
  const isKnown = named?.every((set) => SETS.some((one) => one === set)) ?? true;
  if (runtime === undefined || !(maxUsd > 0) || !isKnown) {
    const flags = `[--model NAME] [--set ${SETS.join('|')}]… [--prompts FOLDER] [--out FOLDER] [--yes]`;
    console.error(`usage: npm run evals -- --runtime claude --max-usd 5 ${flags}`);
    process.exitCode = 2;
    return;
  }
  console.log(expectation(sets, maxUsd));
  if (values.yes !== true && !(await agrees())) return;
  let ended = false;
  process.once('SIGINT', () => {
    ended = true;
    console.log('The item that is played ends first. Press Ctrl-C again to leave at once.');
  });
  // As an application has it: what was built.
  const built = new URL('../dist/index.mjs', import.meta.url).href;
  const { createSquad } = (await import(built)) as Pick<Measured, 'createSquad'>;
  const measured: Measured = {
    ...{ createSquad, runtime, model, environment: process.env },
    prompts: prompts === undefined ? undefined : resolve(prompts),
    cli: fileURLToPath(new URL('../bin/squad.cjs', import.meta.url)),
  };
  const { all, stopped } = await playSets(measured, { sets, maxUsd, say: console.log, stopped: () => ended });
  const at = new Date().toISOString();
  const facts = { runtime, model: model ?? null, prompts: prompts ?? 'shipped', at, stopped };
  const summaries = sets.map((set) => summaryOf(set, all));
  const path = join(out, `${at.replaceAll(':', '-').slice(0, 19)}-${runtime.replaceAll('/', '-')}`);
  mkdirSync(out, { recursive: true });
  writeFileSync(`${path}.json`, `${JSON.stringify({ ...facts, summaries, items: all }, null, 2)}\n`);
  const text = markdownOf(facts, summaries, all);
  writeFileSync(`${path}.md`, `${text}\n`);
  console.log(`\n${text}\n\nWrote ${path}.md and ${path}.json`);
  if (stopped !== null) process.exitCode = 1;
}

async function agrees(): Promise<boolean> {
  if (!process.stdin.isTTY) {
    console.error('Give your consent with --yes.');
    process.exitCode = 2;
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question('Start? [y/N] ');
  terminal.close();
  return /^y(?:es)?$/i.test(answer.trim());
}

if (import.meta.main) await main();
