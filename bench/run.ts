// npm run bench [-- name…]: squad's own cost beside the bare machine's, both measured in this run. See bench/README.md.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acpHost } from './acp-host.ts';
import { board } from './board.ts';
import { busy } from './busy.ts';
import { bytes } from './bytes.ts';
import { chains } from './chains.ts';
import { files } from './files.ts';
import { frame } from './frame.ts';
import { folders } from './folders.ts';
import { gap } from './gap.ts';
import { idle } from './idle.ts';
import { look } from './look.ts';
import { mailbox } from './mailbox.ts';
import { makespan } from './makespan.ts';
import { many } from './many.ts';
import { mcp } from './mcp.ts';
import { memory } from './memory.ts';
import { peers } from './peers.ts';
import { places } from './places.ts';
import { serve } from './serve.ts';
import { session } from './session.ts';
import { sessionCheck } from './session-check.ts';
import { settlements } from './settlements.ts';
import { isMet, round, type Bench, type Row } from './shared/row.ts';
import { splitter } from './splitter.ts';
import { stages } from './stages.ts';
import { start } from './start.ts';
import { status } from './status.ts';
import { studio } from './studio.ts';
import { superstep } from './superstep.ts';
import { sweep } from './sweep.ts';
import { traces } from './traces.ts';
import { turn } from './turn.ts';
import { view } from './view.ts';

/** Through the command line alone, so that they measure any build of it. */
const OF_ANY_BUILD: readonly Bench[] = [
  gap,
  folders,
  stages,
  start,
  chains,
  turn,
  idle,
  serve,
  busy,
  status,
  studio,
  board,
  many,
  peers,
];
const OF_THESE_SOURCES: readonly Bench[] = [
  makespan,
  superstep,
  traces,
  bytes,
  memory,
  mcp,
  acpHost,
  settlements,
  mailbox,
  frame,
  files,
  session,
  sessionCheck,
  splitter,
  sweep,
  places,
  look,
  view,
];
const OTHER_BUILD = process.env['SQUAD_BENCH_CLI'];
const BENCHES = OTHER_BUILD === undefined ? [...OF_ANY_BUILD, ...OF_THESE_SOURCES] : OF_ANY_BUILD;
const RESULTS = fileURLToPath(new URL('./results.json', import.meta.url));

interface Measured {
  readonly at: string;
  /** Of the last minute when it began: a busy machine makes every absolute number worse. */
  readonly load: number;
  readonly rows: readonly Row[];
}

const isQuick = process.argv.includes('--quick');
const wanted = process.argv.slice(2).filter((name) => name !== '--quick');
const unknown = wanted.find((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown === undefined) await measureAll();
else {
  const of = OTHER_BUILD === undefined ? '' : ' of another build';
  console.error(`there is no bench ${unknown}${of}; there are: ${BENCHES.map(({ name }) => name).join(', ')}`);
  process.exitCode = 2;
}

async function measureAll(): Promise<void> {
  const measured: Record<string, Measured> = {};
  for (const bench of BENCHES) {
    if (wanted.length > 0 && !wanted.includes(bench.name)) continue;
    const [load = 0] = loadavg();
    const rows = await inFolder(bench);
    measured[bench.name] = { at: new Date().toISOString(), load: round(load), rows };
    for (const { name, note } of rows) if (note !== undefined) console.log(`${bench.name}: ${name}: ${note}`);
  }
  if (OTHER_BUILD !== undefined) console.log(`measured: ${OTHER_BUILD}`);
  console.table(Object.entries(measured).flatMap(([bench, of]) => of.rows.map((row) => shown(bench, of.load, row))));
  // The results of this checkout stay what they are.
  if (OTHER_BUILD !== undefined) return;
  const machine = { node: process.version, platform: process.platform, cpus: cpus().length };
  const benches = { ...readBefore(), ...measured };
  writeFileSync(RESULTS, `${JSON.stringify({ machine, benches }, null, 2)}\n`);
}

async function inFolder(bench: Bench): Promise<readonly Row[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `squad-bench-${bench.name}-`)));
  try {
    return await bench.run(folder, { isQuick });
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

function shown(bench: string, load: number, row: Row) {
  const { name, unit, squad, bare, ratio, target, asked = '' } = row;
  const met = isMet(row);
  const bound = target === undefined ? '' : `${target.of} ≤ ${target.most}`;
  return {
    bench,
    name,
    unit,
    squad: round(squad),
    bare: round(bare),
    ratio: round(ratio),
    target: bound,
    asked,
    met: met === undefined ? '' : met ? 'yes' : 'NO',
    load,
  };
}

/** One bench alone leaves the others' results as they were, each with its own time and load. */
function readBefore(): Record<string, Measured> {
  if (wanted.length === 0) return {};
  try {
    const { benches = {} } = JSON.parse(readFileSync(RESULTS, 'utf8')) as { benches?: Record<string, Measured> };
    return benches;
  } catch {
    // Never measured here, or in another form: nothing to keep.
    return {};
  }
}
