// npm run bench:recovery [-- --trials N --only FAULT --seed N]: runs whose engine is SIGKILLed, and what became of them.
// docs/recovery.md describes the method. Exit 1: a target was missed.
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs, isDeepStrictEqual } from 'node:util';
import { createRandom } from '../test/support/random.ts';
import { FAULTS, type Fault } from './recovery/faults.ts';
import { rowOf, spreadOf, tableOf } from './recovery/results.ts';
import { tryOnce, uncrashedRun, type Trial, type Uncrashed } from './recovery/trial.ts';

const RESULTS = fileURLToPath(new URL('./recovery.json', import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../docs/recovery.md', import.meta.url));
const [BEGIN, END] = ['<!-- results: begin -->', '<!-- results: end -->'];
/** Fewer are a try-out: they are printed and not kept. */
const ENOUGH = 20;
/** Looked at for each trial: some are not of a turn. */
const MOST_PLACES = 10;

const { values } = parseArgs({
  options: { trials: { type: 'string', default: '20' }, only: { type: 'string' }, seed: { type: 'string' } },
});
const trials = Number(values.trials);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const wanted = FAULTS.filter(({ name }) => values.only === undefined || name === values.only);
if (wanted.length > 0 && Number.isInteger(trials) && trials > 0 && Number.isInteger(seed)) await measure();
else {
  console.error(
    `usage: npm run bench:recovery -- [--trials N] [--seed N] [--only ${FAULTS.map((one) => one.name).join('|')}]`,
  );
  process.exitCode = 2;
}

async function measure(): Promise<void> {
  const [load = 0] = loadavg();
  const first = await uncrashedRun();
  // Between the faults, so that what the machine does besides is in all of it.
  const times = [first.ms];
  const measured: [Fault, Awaited<ReturnType<typeof tryAll>>][] = [];
  for (const fault of wanted) {
    measured.push([fault, await tryAll(fault, first)]);
    const again = await uncrashedRun();
    times.push(again.ms);
    if (!isDeepStrictEqual(again.end, first.end)) throw new Error('two runs that nobody killed differ');
  }
  const uncrashedMs = spreadOf(times.map(Math.round));
  const rows = measured.map(([fault, tried]) => rowOf(fault, tried, uncrashedMs.median));
  console.log(`\n${tableOf(rows)}\n`);
  const met = rows.every((row) => row.met);
  if (rows.length === FAULTS.length && trials >= ENOUGH) {
    const machine = { node: process.version, platform: process.platform, cpus: cpus().length, load };
    const report = { at: new Date().toISOString(), machine, seed, met, uncrashedMs, rows };
    writeFileSync(RESULTS, `${JSON.stringify(report, null, 2)}\n`);
    const about = `Seed ${seed}, ${machine.cpus} cores, load ${load.toFixed(1)} at the start; a run that nobody killed took ${inSeconds(uncrashedMs.median)} (median of ${times.length}).`;
    writeBetweenMarkers(`${about}\n\n${tableOf(rows)}`);
  }
  if (!met) process.exitCode = 1;
}

async function tryAll(fault: Fault, uncrashed: Uncrashed): Promise<{ tried: Trial[]; broken: number }> {
  const tried: Trial[] = [];
  const missed = new Set<string>();
  let broken = 0;
  for (let place = 0; tried.length + broken < trials && place < trials * MOST_PLACES; place += 1) {
    const strike = fault.strikeOf(place, createRandom(seed + place), uncrashed.passes);
    if (missed.has(strike.at)) continue;
    const number = `${fault.name} ${tried.length + broken + 1}/${trials}`;
    try {
      const done = await tryOnce(strike, uncrashed.end);
      if (done === undefined) missed.add(strike.at);
      else tried.push(done);
      console.log(
        `${number} ${strike.at}: ${done === undefined ? 'not the instant that is meant' : verdictOf(done, fault)}`,
      );
    } catch (error) {
      broken += 1;
      console.log(`${number} ${strike.at}: ${String(error)}`);
    }
  }
  return { tried, broken };
}

function verdictOf({ wrong, rerun, lost, cutShort, sameCounts }: Trial, { killsAgents }: Fault): string {
  const bad = [
    ...wrong,
    ...(rerun > 0 ? [`${rerun} run again`] : []),
    ...(lost > 0 ? [`${lost} lost`] : []),
    ...(cutShort > 0 && !killsAgents ? [`${cutShort} cut short`] : []),
    ...(sameCounts ? [] : ['counted otherwise']),
  ];
  return bad.length === 0 ? 'as uncrashed' : bad.join('; ');
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function writeBetweenMarkers(results: string): void {
  const text = readFileSync(DOCUMENT, 'utf8');
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`${DOCUMENT} has lost its marker comments`);
  writeFileSync(DOCUMENT, `${before}${BEGIN}\n\n${results}\n\n${END}${after}`);
}
