// The chaos lane: long repetitions of crash tests, as many as a tier asks for. Ends with one table (fault, trials, failures,
// bound), which is also written as JSON. Each test tells its trials through test/support/chaos-row.ts.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const TIERS = ['commit', 'nightly', 'release'];
const HELP = `Repeats crash tests, and prints how often each fault was tried and how often it did harm.

  npm run test:chaos -- [--tier commit|nightly|release] [--only <file>] [--test <name>] [--seed N] [--trials N]

  --tier     how many trials each test makes: a few (commit, the default), for a night, or for a release
  --only     only files whose name has this in it
  --test     only tests whose name has this in it
  --seed     repeats what was random in a run that printed this seed
  --trials   makes this many trials in each test, whatever its tier says

  Example:   npm run test:chaos -- --only run-kills --test T2 --trials 300 --seed 7

The table is written to test-results/chaos.json too. Exit: 0 all held, 1 something did not, 2 unusable arguments.`;

const root = fileURLToPath(new URL('..', import.meta.url));
const results = join(root, 'test-results');
const rowsFile = join(results, 'chaos-rows.jsonl');

const options = read(process.argv.slice(2));
if (options === undefined) process.exitCode = 2;
else if (options.help) console.log(HELP);
else process.exitCode = run(options);

function read(args) {
  try {
    const text = { type: 'string' };
    const { values } = parseArgs({
      args,
      options: {
        tier: { ...text, default: 'commit' },
        only: text,
        test: text,
        seed: text,
        trials: text,
        help: { type: 'boolean' },
      },
    });
    if (!TIERS.includes(values.tier)) throw new Error(`--tier is one of ${TIERS.join(', ')}, not ${values.tier}`);
    for (const name of ['seed', 'trials']) {
      const value = values[name];
      if (value !== undefined && !/^\d{1,9}$/.test(value)) throw new Error(`--${name} is a whole number, not ${value}`);
    }
    return values;
  } catch (error) {
    console.error(`${error.message}\nNext: npm run test:chaos -- --help`);
    return undefined;
  }
}

function run({ tier, only, test, seed, trials }) {
  mkdirSync(results, { recursive: true });
  rmSync(rowsFile, { force: true });
  const from = Date.now();
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const filter = [...(only === undefined ? [] : [only]), ...(test === undefined ? [] : ['--testNamePattern', test])];
  const { status } = spawnSync(process.execPath, [vitest, 'run', '--config', 'vitest.chaos.config.ts', ...filter], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      SQUAD_TEST_BUILT: '1',
      SQUAD_CHAOS_ROWS: rowsFile,
      SQUAD_CHAOS_TIER: tier,
      ...(seed === undefined ? {} : { SQUAD_CHAOS_SEED: seed }),
      ...(trials === undefined ? {} : { SQUAD_CHAOS_TRIALS: trials }),
    },
  });
  const rows = readRows();
  const passed = status === 0 && rows.every(({ failures }) => failures === 0);
  const seconds = Math.round((Date.now() - from) / 1000);
  const report = { at: new Date(from).toISOString(), tier, node: process.version, seconds, passed, rows };
  writeFileSync(join(results, 'chaos.json'), `${JSON.stringify(report, null, 2)}\n`);
  rmSync(rowsFile, { force: true });
  console.table(rows.map(({ fault, trials: made, failures, bound }) => ({ fault, trials: made, failures, bound })));
  if (status !== 0) console.error('A test failed; one that broke before it could count its trials has no line here.');
  return passed ? 0 : 1;
}

function readRows() {
  if (!existsSync(rowsFile)) return [];
  const lines = readFileSync(rowsFile, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}
