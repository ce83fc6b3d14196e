// What the JSON reports of the test lanes say: the slowest tests, and each lane's totals as the runner itself puts them.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const HELP = `Prints the slowest 20 tests and the totals of each report that the test lanes wrote.

  node scripts/slowest.mjs [lane …]

  lane    commit (npm test) or all (npm run test:all); none: both
  Example:  node scripts/slowest.mjs commit

Reads test-results/<lane>.json, and test-results/<lane>-again.json where scripts/second-try.mjs wrote one. Names each test that
failed, also one that passed at its second try. Exit: 0, or 1 where a report is missing or tells of a failure.`;

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
  return reports.every(({ report }) => report?.testResults.every(({ status }) => status === 'passed')) ? 0 : 1;
}

/** The lane's report, with the results of the second try in place of those of the first. */
function read(lane) {
  const report = readReport(lane);
  const again = readReport(`${lane}-again`)?.testResults ?? [];
  if (report === undefined) return undefined;
  const late = report.testResults.filter(({ status }) => status === 'failed').flatMap(failedTests);
  const testResults = report.testResults.map((first) => again.find(({ name }) => name === first.name) ?? first);
  return { ...report, testResults, late };
}

function readReport(name) {
  const path = `${root}test-results/${name}.json`;
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

function failedTests({ name, message, assertionResults }) {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  const tests = failed.map(({ fullName, failureMessages }) => ({ fullName, why: failureMessages[0] }));
  const all = tests.length === 0 ? [{ fullName: 'the file itself', why: message }] : tests;
  return all.map(({ fullName, why = '' }) => ({ file: relative(root, name), fullName, why: why.split('\n', 1)[0] }));
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
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  const count = ['failed', 'passed']
    .map((what) => `${tests.filter((status) => status === what).length} ${what}`)
    .filter((text) => !text.startsWith('0 '))
    .join(' | ');
  const left = report.testResults.filter(({ status }) => status === 'failed').flatMap(failedTests);
  const ends = report.testResults.map(({ endTime }) => endTime);
  const seconds = Math.round((Math.max(...ends) - report.startTime) / 1000);
  console.log(`\nLane ${lane}, ${seconds} s`);
  console.log(` Test Files  ${files(report)}`);
  console.log(`      Tests  ${count}`);
  for (const { file, fullName, why } of left) console.log(`     failed  ${file}: ${fullName}: ${why}`);
  for (const line of skips(report)) console.log(`    skipped  ${line}`);
  const passed = report.late.filter((one) => !left.some(({ fullName }) => fullName === one.fullName));
  for (const { file, fullName, why } of passed) {
    console.log(`   2nd try  ${file}: ${fullName}: passed alone; beside other tests: ${why}`);
  }
}

/** Of tests that this machine cannot run: their titles name the reason. */
function skips({ testResults }) {
  const reasons = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status !== 'passed' && status !== 'failed')
      .flatMap(({ fullName }) => / \(skipped: (.+?)\)(?: |$)/.exec(fullName)?.[1] ?? [])
      .map((reason) => `${relative(root, name)}: ${reason}`),
  );
  const counts = new Map();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].map(([reason, count]) => `${reason} (${count} ${count === 1 ? 'test' : 'tests'})`);
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
