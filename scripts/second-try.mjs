// Runs the test files of a lane that failed once more, one after another. What passes then was held up by the tests beside it.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MOST_FILES = 5;
const TAGS = { commit: '!all && !night', all: '(all || spread) && !night' };
const HELP = `Runs the test files that failed in a lane once more, one after another, against the dist that the lane has built.

  npm run test:again <lane>

  lane    commit (npm test) or all (npm run test:all)
  Example:  npm run test:again commit

Reads test-results/<lane>.json and writes test-results/<lane>-again.json, which scripts/slowest.mjs counts and names. More than
${MOST_FILES} failed files are not tried again. Exit: 0 if everything passes now, otherwise 1.`;

const root = fileURLToPath(new URL('..', import.meta.url));
const [lane = '--help'] = process.argv.slice(2);
if (lane === '--help') console.log(HELP);
else process.exitCode = tryAgain(lane);

function tryAgain(name) {
  const report = `${root}test-results/${name}.json`;
  if (!Object.hasOwn(TAGS, name) || !existsSync(report)) {
    console.error(`test-results/${name}.json: not found, so no test of that lane has run.`);
    return 1;
  }
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  const files = testResults.filter(({ status }) => status === 'failed').map((result) => result.name);
  if (files.length === 0 || files.length > MOST_FILES) {
    console.error(`${files.length} test files failed: no second try.`);
    return 1;
  }
  console.log(`\nSecond try of ${files.length} test files of lane ${name}, one after another:`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=test-results/${name}-again.json`];
  const { status } = spawnSync(
    process.execPath,
    [
      `${root}node_modules/vitest/vitest.mjs`,
      'run',
      '--no-file-parallelism',
      ...reporters,
      `--tags-filter=${TAGS[name]}`,
      ...files,
    ],
    { cwd: root, stdio: 'inherit', env: { ...process.env, SQUAD_TEST_LANE: name, SQUAD_TEST_BUILT: '1' } },
  );
  return status === 0 ? 0 : 1;
}
