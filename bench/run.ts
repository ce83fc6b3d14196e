// npm run bench: ratios of squad's own cost to the bare machine's, both measured in this run. See bench/README.md.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { compose } from '../src/compose.ts';
import { DEFAULT_TURN_LIMITS } from '../src/model/turn-request.ts';
import type { TurnResult } from '../src/model/turn-result.ts';
import { createSupervisor } from '../src/attempts/supervisor.ts';
import { lockWorkspace, openLedger } from '../src/substrate/ledger/index.ts';
import { createLineSplitter } from '../src/substrate/process/splitter.ts';

interface Row {
  readonly name: string;
  readonly unit: string;
  readonly squad: number;
  readonly bare: number;
  /** How many times the bare machine's cost; 1 is free. */
  readonly ratio: number;
}

const ROUNDS = 20;
const EACH = 100;
const TURNS = 20;
const MEGABYTES = 256;
const SWEEPS = 30;

const root = mkdtempSync(join(tmpdir(), 'squad-bench-'));
const { clock, processes, runtime } = compose({
  environment: { PATH: process.env['PATH'], HOME: root },
  workingDirectory: root,
  userHome: root,
  stateHome: join(root, 'state'),
  configHome: join(root, 'config'),
  platform: process.platform,
  architecture: process.arch,
  isRoot: process.getuid?.() === 0,
  node: process.execPath,
  pid: process.pid,
});
const state = join(root, '.squad');
mkdirSync(state, { mode: 0o700 });
const lock = lockWorkspace(state, { pid: process.pid, host: 'bench', since: clock.now() });
const ledger = openLedger(state, { clock, lock });
ledger.createRun({ id: 'bench', name: 'bench' });
const lease = ledger.acquireLease('bench', 'bench');

try {
  const rows = [await turn(), settlements(), splitter(), await sweep()];
  console.table(
    rows.map(({ name, unit, squad, bare, ratio }) => ({
      name,
      unit,
      squad: round(squad),
      bare: round(bare),
      ratio: round(ratio),
    })),
  );
  const machine = { node: process.version, platform: process.platform, cpus: cpus().length };
  const path = fileURLToPath(new URL('./results.json', import.meta.url));
  writeFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), machine, rows }, null, 2)}\n`);
} finally {
  ledger.close();
  lock.release();
  rmSync(root, { recursive: true, force: true });
}

/** (a) A settlement is one transaction with outcome, usage and event. */
function settlements(): Row {
  const ids = Array.from({ length: ROUNDS * EACH }, (_, index) => `settled-${index}`);
  for (const id of ids) claim(id, '{}');
  const usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5 };
  const result: TurnResult = { outcome: 'completed', text: 'done', denials: [], usage, stderrTail: '', durationMs: 1 };
  const db = new Database(join(root, 'bare.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT)');
  const insert = db.prepare('INSERT INTO row (text) VALUES (?)');
  // In turns, because a disk has moods.
  const rounds = Array.from({ length: ROUNDS }, (_, round) => ids.slice(round * EACH, (round + 1) * EACH));
  const speeds = rounds.map((some) => [
    perSecond(EACH, () => some.forEach((id) => ledger.settle(lease, id, result))),
    perSecond(EACH, () => some.forEach((id) => insert.run(id))),
  ]);
  db.close();
  const [squad, bare] = [0, 1].map((which) => median(speeds.map((pair) => pair[which] ?? 0))) as [number, number];
  return { name: 'ledger: settlements, against one-row commits', unit: 'per s', squad, bare, ratio: bare / squad };
}

/** (b) From the claim to the settlement, against the player alone. */
async function turn(): Promise<Row> {
  const script = join(root, 'script.json');
  writeFileSync(script, JSON.stringify({ turns: [{ steps: [{ answer: 'done' }] }] }));
  const supervisor = createSupervisor(
    {
      ledger,
      processes,
      runtime: () => runtime('scripted', { config: { script } }),
      turnsDirectory: join(state, 'turns'),
    },
    lease,
  );
  const squad: number[] = [];
  const bare: number[] = [];
  const player = fileURLToPath(new URL('../src/runtimes/scripted/player.mjs', import.meta.url));
  for (let index = 0; index < TURNS; index += 1) {
    const id = `turn-${index}`;
    squad.push(
      await milliseconds(async () => {
        claim(id, JSON.stringify(requestOf(id)));
        supervisor.ensure(id);
        await supervisor.settled(id);
      }),
    );
    const play = JSON.stringify({ script, home: join(root, 'home'), session: id, resume: false });
    bare.push(await milliseconds(() => void spawnSync(process.execPath, [player, play], { input: 'go' })));
    if (ledger.settlement(id)?.result.outcome !== 'completed') throw new Error(`${id} did not complete`);
  }
  return rowOf('turn: claim to settlement, against its bare process', 'ms', median(squad), median(bare));
}

/** (c) Lines of 200 bytes, decoded, against a scan for the newlines in the same chunks. */
function splitter(): Row {
  const chunk = Buffer.from(`${'x'.repeat(199)}\n`.repeat(5000)).subarray(0, 64 * 1024);
  const chunks = Math.round((MEGABYTES * 1024 * 1024) / chunk.length);
  const lines = createLineSplitter();
  let seen = 0;
  const squad = perSecond(MEGABYTES, () => {
    for (let index = 0; index < chunks; index += 1) seen += lines.push(chunk).length;
  });
  const bare = perSecond(MEGABYTES, () => {
    for (let index = 0; index < chunks; index += 1) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen -= 1;
    }
  });
  if (seen !== 0) throw new Error(`the splitter saw ${seen} lines more than there are`);
  return { name: 'splitter: lines, against a scan for newlines', unit: 'MB/s', squad, bare, ratio: bare / squad };
}

/** (d) Nothing to find is the usual case: every turn ends with it. */
async function sweep(): Promise<Row> {
  const squad: number[] = [];
  const bare: number[] = [];
  for (let index = 0; index < SWEEPS; index += 1) {
    squad.push(await milliseconds(() => processes.sweep(`nobody-${index}`)));
    bare.push(await milliseconds(() => void readdirSync('/proc')));
  }
  return rowOf('sweep: a marker nobody carries, against one readdir of /proc', 'ms', median(squad), median(bare));
}

function claim(id: string, request: string): void {
  const attempt = { id, taskId: id, kind: 'turn' as const, agent: 'bench', runtime: 'scripted', request };
  const seq = ledger.append('bench', 'poke', null);
  const cursor = ledger.run('bench')?.applied ?? 0;
  ledger.apply({ lease, cursor, seq, driver: id, decisions: [{ do: 'claim-attempt', attempt, limits: {} }] });
}

function requestOf(turnId: string) {
  return {
    turnId,
    workspace: { path: root },
    prompt: 'go',
    instructions: 'rules',
    access: { level: 'edit' },
    mcp: [],
    limits: DEFAULT_TURN_LIMITS,
  };
}

function rowOf(name: string, unit: string, squad: number, bare: number): Row {
  return { name, unit, squad, bare, ratio: squad / bare };
}

function perSecond(count: number, work: () => void): number {
  const from = performance.now();
  work();
  return count / ((performance.now() - from) / 1000);
}

async function milliseconds(work: () => unknown): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, two) => one - two)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
