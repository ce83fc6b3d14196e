// Mutation tests of the areas whose mistakes would cost most: statements are broken in every way that stryker knows, and the tests
// that scripts/mutation/areas.mjs names have to notice. Prints survivors and one table; full reports are in test-results/mutation.
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { AREAS, testsOf } from './mutation/areas.mjs';

/** Knows of the sample and the equivalent mutants. */
const DRAWN = { plugins: ['@stryker-mutator/vitest-runner', './scripts/mutation/sample.mjs'], checkers: ['sample'] };
const NAMES = Object.keys(AREAS);
const HELP = `Breaks an area of the source in small ways, one at a time, and counts how often its tests notice.

  npm run test:mutation -- [area …] [--sample N|all] [--seed N] [--file PATH] [--tests GLOB]

  area       of ${NAMES.join(', ')}; none: all of them, which takes a while
  --sample   how many mutants of each area are tried (${NAMES.map((name) => `${name}: ${AREAS[name].sample ?? 'all'}`).join(', ')})
  --seed     which ones; 1 if absent. The same seed tries the same mutants as long as the source is the same
  --file     only those of this file
  --tests    tried by these tests only
  Example:   npm run test:mutation -- ledger --sample 50 --seed 7

Reports are written to test-results/mutation, and each score is added to test-results/mutation/scores.jsonl. Mutants that change
no behaviour are listed, with reasons, in scripts/mutation/equivalent.json, and do not count.
Exit: 0 all bounds hold, 1 one does not, 2 unusable arguments.`;

const root = fileURLToPath(new URL('..', import.meta.url));
const results = join(root, 'test-results', 'mutation');

const asked = read(process.argv.slice(2));
if (asked === undefined) process.exitCode = 2;
else if (asked.help) console.log(HELP);
else process.exitCode = await run(asked);

function read(args) {
  try {
    const { values, positionals } = parseArgs({
      ...{ args, allowPositionals: true },
      options: {
        ...{ help: { type: 'boolean' }, sample: { type: 'string' } },
        ...{ seed: { type: 'string', default: '1' }, file: { type: 'string' }, tests: { type: 'string' } },
        tests: { type: 'string' },
      },
    });
    const { help, ...how } = values;
    const { sample, seed } = how;
    const unknown = positionals.find((name) => !NAMES.includes(name));
    if (unknown !== undefined) throw new Error(`${unknown} is no area: ${NAMES.join(', ')}`);
    if (sample !== undefined && !/^(all|[1-9]\d{0,5})$/.test(sample))
      throw new Error(`--sample ${sample}: not a number or all`);
    if (!/^\d{1,9}$/.test(seed)) throw new Error(`--seed ${seed}: not a number`);
    return { help, ...how, names: positionals.length === 0 ? NAMES : positionals };
  } catch (error) {
    console.error(`${error.message}\nNext: npm run test:mutation -- --help`);
    return undefined;
  }
}

async function run({ names, ...how }) {
  process.chdir(root);
  mkdirSync(results, { recursive: true });
  const rows = [];
  for (const name of names) rows.push(await tryArea(name, AREAS[name], how));
  const at = new Date().toISOString();
  writeFileSync(join(results, 'mutation.json'), `${JSON.stringify({ at, rows }, null, 2)}\n`);
  appendFileSync(join(results, 'scores.jsonl'), rows.map((row) => `${JSON.stringify({ at, ...row })}\n`).join(''));
  console.table(rows);
  return rows.every(({ score, bound }) => score >= bound) ? 0 : 1;
}

async function tryArea(name, area, { sample = area.sample ?? 'all', seed, file, tests: glob }) {
  const { files, bound } = area;
  const tests = testsOf(glob === undefined ? area : { tests: [glob] });
  console.log(`${name}: ${files.join(', ')}`);
  const from = Date.now();
  process.env.SQUAD_MUTATION_TESTS = tests.join(',');
  process.env.SQUAD_MUTATION_TAGS = area.tags ?? '!all && !night';
  process.env.SQUAD_MUTATION_ROOT = root;
  process.env.SQUAD_MUTATION_SEED = seed;
  process.env.SQUAD_MUTATION_SAMPLE = sample === 'all' ? 'Infinity' : sample;
  const mutants = await new Stryker({ mutate: file === undefined ? files : [file], ...DRAWN }).runMutationTest();
  for (const ending of ['json', 'html']) {
    renameSync(join(results, `report.${ending}`), join(results, `${name}.${ending}`));
  }
  const killed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
  const survivors = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  for (const mutant of survivors) console.log(`  ${lineOf(mutant)}`);
  const equivalent = mutants.filter(({ statusReason = '' }) => statusReason.startsWith('equivalent: ')).length;
  const counted = killed + survivors.length;
  const minutes = Math.round((Date.now() - from) / 6_000) / 10;
  // Rounded down: 99.96 % is not 100 %.
  const score = counted === 0 ? 0 : Math.floor((killed / counted) * 1_000) / 10;
  return { area: name, mutants: mutants.length, tried: counted, killed, equivalent, score, bound, seed, minutes };
}

function lineOf({ status, fileName, location, mutatorName, replacement }) {
  const { line, column } = location.start;
  return `${status} ${relative(root, fileName)}:${line}:${column} ${mutatorName} → ${replacement.slice(0, 100)}`;
}
