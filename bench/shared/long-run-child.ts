// A program of its own, built and started by `long-run.ts`: a process that has done nothing else, with the engine's own
// V8 flags. Prints one JSON object.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import Database from 'better-sqlite3';
import { growingPlan } from './bench-playbook.ts';
import { stateOf } from '../../test/support/state.ts';
import { runSimulated } from './simulated-run.ts';

export interface LongRun {
  /** One for each superstep, in order. */
  readonly supersteps: readonly { readonly at: number }[];
  /** One for each turn, as it was started. */
  readonly turns: readonly { readonly cpuMs: number; readonly rssMb: number; readonly bytes: number }[];
}

const [folder = '', count = '0', warmUp = '0'] = process.argv.slice(2);
setFlagsFromString('--heap-growing-percent=30');
// First of all a short one: the early supersteps must not be slow because nothing is compiled yet.
await measure(join(folder, 'warm-up'), Number(warmUp));
console.log(JSON.stringify(await measure(join(folder, 'run'), Number(count))));

async function measure(own: string, turns: number): Promise<LongRun> {
  mkdirSync(own, { recursive: true });
  const started: LongRun['turns'][number][] = [];
  const { supersteps } = await runSimulated(own, {
    playbook: growingPlan(turns),
    parallel: 6,
    turns: {
      durationMs: () => 0,
      onStart: () => {
        const { user, system } = process.cpuUsage();
        const bytes = isMark(started.length) ? databaseBytes(own) : 0;
        started.push({ cpuMs: (user + system) / 1000, rssMb: residentMb(), bytes });
      },
    },
  });
  started.push({ cpuMs: 0, rssMb: residentMb(), bytes: databaseBytes(own) });
  return { supersteps, turns: started };
}

/** Where the size of the databases is looked at. */
function isMark(turn: number): boolean {
  return turn === 0 || turn === 100;
}

/** What the files hold, the part in the write-ahead log included. */
function databaseBytes(own: string): number {
  return ['squad.db', 'checkpoints.db'].reduce((sum, name) => {
    const db = new Database(join(stateOf(join(own, 'repository')), name), { readonly: true });
    const pages = Number(db.pragma('page_count', { simple: true }));
    const size = Number(db.pragma('page_size', { simple: true }));
    db.close();
    return sum + pages * size;
  }, 0);
}

function residentMb(): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
