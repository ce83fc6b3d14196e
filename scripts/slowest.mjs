// What the JSON reports of the test lanes say: the slowest tests, and each lane's totals as the runner itself puts them.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const HELP = `Prints the slowest 20 tests and the totals of each report that the test lanes wrote.

  node scripts/slowest.mjs [lane …]

  lane    commit (npm test) or all (npm run test:all); none: both
  Example:  node scripts/slowest.mjs commit

Reads test-results/<lane>.json. Exit: 0, or 1 where a report is missing or tells of a failure.`;

const root = fileURLToPath(new URL('..', import.meta.url));
const names = process.argv.slice(2);
if (names.includes('--help')) console.log(HELP);
else process.exitCode = print(names.length === 0 ? ['commit', 'all'] : names);

function print(lanes) {
  const reports = lanes.map((lane) => ({ lane, report: read(lane) }));
  for (const { lane, report } of reports) {
    if (report === undefined) console.error(`test-results/${lane}.json: not found. Next: npm test, npm run test:all`);
    else printSlowest(lane, report);
  }
  for (const { lane, report } of reports) if (report !== undefined) printTotals(lane, report);
  return reports.every(({ report }) => report?.success === true) ? 0 : 1;
}

function read(lane) {
  const path = `${root}test-results/${lane}.json`;
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

function printSlowest(lane, { testResults }) {
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map(({ fullName, duration = 0 }) => ({ file: relative(root, name), fullName, duration })),
  );
  const slowest = tests.toSorted((a, b) => b.duration - a.duration).slice(0, 20);
  console.log(`\nSlowest 20 tests of lane ${lane}:`);
  for (const { file, fullName, duration } of slowest) {
    console.log(`${(duration / 1000).toFixed(1).padStart(7)} s  ${file}: ${fullName.slice(0, 120)}`);
  }
}

function printTotals(lane, report) {
  const count = (of) =>
    [
      ['failed', report[`numFailed${of}`]],
      ['passed', report[`numPassed${of}`]],
    ]
      .filter(([, number]) => number > 0)
      .map(([what, number]) => `${number} ${what}`)
      .join(' | ');
  const ends = report.testResults.map(({ endTime }) => endTime);
  const seconds = Math.round((Math.max(...ends) - report.startTime) / 1000);
  console.log(`\nLane ${lane}, ${seconds} s`);
  console.log(` Test Files  ${files(report)}`);
  console.log(`      Tests  ${count('Tests')}`);
}

/** A file whose tests all belong to the other lane was not run. */
function files({ testResults }) {
  const ran = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' || assertionResults.some(({ status: own }) => own === 'passed'),
  );
  const failed = ran.filter(({ status }) => status === 'failed').length;
  return `${failed === 0 ? '' : `${failed} failed | `}${ran.length - failed} passed`;
}
