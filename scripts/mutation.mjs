// Mutation tests of the modules whose mistakes would cost most: each statement is broken in every way that stryker knows, and
// the tests named here have to notice. Prints survivors and one table; the full report is in test-results/mutation.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';

const ledgerTests = [
  ...['settle', 'late-result', 'leases', 'apply', 'spending', 'inputs'],
  ...['check-database', 'history-checker', 'mail/tick', 'mail/turns'],
];
const decisionTests = ['frontier', 'staff', 'next', 'caps', 'intervene', 'work', 'gate', 'onward'];

/** `bound`: percent of the mutants that have to be noticed. No property tests: the same mutants are to survive each time. */
const MODULES = {
  settlement: {
    files: ['src/substrate/ledger/settle.ts'],
    tests: ledgerTests.map((name) => `test/substrate/ledger/${name}.test.ts`),
    bound: 85,
  },
  lease: {
    files: ['src/substrate/ledger/leases.ts'],
    tests: ledgerTests.map((name) => `test/substrate/ledger/${name}.test.ts`),
    bound: 85,
  },
  frontier: {
    files: ['src/graph/decisions/frontier.ts', 'src/graph/decisions/staff.ts'],
    tests: decisionTests.map((name) => `test/graph/decisions/${name}.test.ts`),
    bound: 85,
  },
  'path-guard': {
    files: ['src/substrate/files/confine.ts'],
    tests: ['test/security/s2-paths.test.ts'],
    bound: 100,
  },
};
const NAMES = Object.keys(MODULES);
const HELP = `Breaks a module in every small way, and counts how often its tests notice.

  npm run test:mutation -- [module …]

  module     of ${NAMES.join(', ')}; none: all of them, which takes a while
  Example:   npm run test:mutation -- lease

Reports are written to test-results/mutation. Exit: 0 all bounds hold, 1 one does not, 2 unusable arguments.`;

const root = fileURLToPath(new URL('..', import.meta.url));
const results = join(root, 'test-results', 'mutation');

const asked = read(process.argv.slice(2));
if (asked === undefined) process.exitCode = 2;
else if (asked.help) console.log(HELP);
else process.exitCode = await run(asked.names);

function read(args) {
  try {
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { help: { type: 'boolean' } } });
    const unknown = positionals.find((name) => !NAMES.includes(name));
    if (unknown !== undefined) throw new Error(`${unknown} is no module: ${NAMES.join(', ')}`);
    return { help: values.help, names: positionals.length === 0 ? NAMES : positionals };
  } catch (error) {
    console.error(`${error.message}\nNext: npm run test:mutation -- --help`);
    return undefined;
  }
}

async function run(names) {
  process.chdir(root);
  mkdirSync(results, { recursive: true });
  const rows = [];
  for (const name of names) rows.push(await testModule(name, MODULES[name]));
  writeFileSync(join(results, 'mutation.json'), `${JSON.stringify({ at: new Date().toISOString(), rows }, null, 2)}\n`);
  console.table(rows);
  return rows.every(({ score, bound }) => score >= bound) ? 0 : 1;
}

async function testModule(name, { files, tests, bound }) {
  console.log(`${name}: ${files.join(', ')}`);
  const from = Date.now();
  process.env.SQUAD_MUTATION_TESTS = tests.join(',');
  const mutants = await new Stryker({ mutate: files }).runMutationTest();
  for (const ending of ['json', 'html']) {
    renameSync(join(results, `report.${ending}`), join(results, `${name}.${ending}`));
  }
  const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const killed = count('Killed', 'Timeout');
  const survivors = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  for (const { status, fileName, location, mutatorName, replacement } of survivors) {
    const { line, column } = location.start;
    console.log(
      `  ${status} ${relative(root, fileName)}:${line}:${column} ${mutatorName} → ${replacement.slice(0, 100)}`,
    );
  }
  const counted = killed + survivors.length;
  const minutes = Math.round((Date.now() - from) / 6_000) / 10;
  // Rounded down: 99.96 % is not 100 %.
  const score = counted === 0 ? 0 : Math.floor((killed / counted) * 1_000) / 10;
  return { module: name, mutants: counted, killed, excluded: count('Ignored'), score, bound, minutes };
}
