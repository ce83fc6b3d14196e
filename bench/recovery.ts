// npm run bench:recovery [-- --trials N --only NAME --seed N --peers]: runs whose engine is SIGKILLed, and what became of them; then
// squad beside other tools where something goes wrong. docs/recovery.md describes the method. Exit 1: a target was missed.
import { loadavg } from 'node:os';
import { parseArgs, isDeepStrictEqual } from 'node:util';
import { createRandom } from '../test/support/random.ts';
import { FAULTS, type Fault } from './recovery/faults.ts';
import { machineNow, writeResults } from './recovery/keep.ts';
import { measurePeers, SITUATION_NAMES } from './recovery/peers/index.ts';
import { rowOf, spreadOf, tableOf } from './recovery/results.ts';
import { tryOnce, uncrashedRun, type Trial, type Uncrashed } from './recovery/trial.ts';

/** Fewer are a try-out: they are printed and not kept. */
const ENOUGH = 20;
/** Looked at for each trial: some are not of a turn. */
const MOST_PLACES = 10;

const { values } = parseArgs({
  options: {
    trials: { type: 'string', default: '20' },
    only: { type: 'string' },
    seed: { type: 'string' },
    peers: { type: 'boolean', default: false },
  },
});
const trials = Number(values.trials);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const isWanted = (name: string): boolean => values.only === undefined || name === values.only;
const wanted = values.peers ? [] : FAULTS.filter(({ name }) => isWanted(name));
const hasPeers = SITUATION_NAMES.some(isWanted);
if (wanted.length + (hasPeers ? 1 : 0) > 0 && Number.isInteger(trials) && trials > 0 && Number.isInteger(seed)) {
  if (wanted.length > 0) await measure();
  if (hasPeers) await compare();
} else {
  const names = [...FAULTS.map(({ name }) => name), ...SITUATION_NAMES];
  console.error(`usage: npm run bench:recovery -- [--trials N] [--seed N] [--peers] [--only ${names.join('|')}]`);
  process.exitCode = 2;
}

/** Its results are what they are: no target is missed here. */
async function compare(): Promise<void> {
  const machine = machineNow();
  const { report, table } = await measurePeers(values.only);
  console.log(`\n${table}\n`);
  if (values.only !== undefined) return;
  const about = `${report.at.slice(0, 10)}, ${machine.cpus} cores, load ${machine.load.toFixed(1)} at the start, Node ${machine.node}.`;
  writeResults('peers', { ...report, machine }, `${about}\n\n${table}`);
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
    const machine = { ...machineNow(), load };
    const report = { at: new Date().toISOString(), machine, seed, met, uncrashedMs, rows };
    const about = `Seed ${seed}, ${machine.cpus} cores, load ${load.toFixed(1)} at the start; a run that nobody killed took ${inSeconds(uncrashedMs.median)} (median of ${times.length}).`;
    writeResults('kills', report, `${about}\n\n${tableOf(rows)}`);
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
