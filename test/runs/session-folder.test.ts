import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createBoard } from '../../src/rules/board.ts';
import { foldEntry } from '../../src/rules/plan-step.ts';
import { factsOf } from '../../src/rules/run-facts.ts';
import { planEntrySchema } from '../../src/model/plan/entry.ts';
import { RUN_EVENTS, runDefinitionSchema } from '../../src/model/run.ts';
import { PLAYED } from '../../src/model/playbook-name.ts';
import { asObject } from '../../src/text/json.ts';
import { ALL } from '../support/lane.ts';
import { DIAMOND, workers, writeSession } from '../support/session-folder.ts';
import { openRunBench, type RunBench } from './run-bench.ts';

/** Twenty times a second. */
const EVERY_MS = 50;
const MOST_BEHIND_MS = 1_000;

/** What a reader saw. `from` and `to`: when it began to read, and when it had read. */
interface Seen {
  readonly from: number;
  readonly to: number;
  readonly done: number;
  readonly status: unknown;
}

function readAll(folder: string): unknown {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json') && !entry.name.startsWith('.new-'))
    .map((entry) => join(entry.parentPath, entry.name));
  const values = new Map(files.map((path): [string, unknown] => [path, JSON.parse(readFileSync(path, 'utf8'))]));
  return values.get(join(folder, 'team-session.json'));
}

/** When each task was done by the ledger, in order. */
function doneAt(bench: RunBench): number[] {
  const ledger = bench.ledger();
  try {
    const [run] = ledger.runs();
    const events = ledger.events({ stream: run?.id ?? '' });
    const defined = events.find(({ type }) => type === RUN_EVENTS.defined);
    let board = createBoard(factsOf(runDefinitionSchema.parse(defined?.data)));
    return events.flatMap(({ type, cause, data, at }) => {
      if (type !== RUN_EVENTS.plan || cause === null) return [];
      const before = board.records.get(PLAYED)?.size ?? 0;
      board = foldEntry(board, planEntrySchema.parse(data));
      return Array<number>((board.records.get(PLAYED)?.size ?? 0) - before).fill(at);
    });
  } finally {
    ledger.close();
  }
}

it(
  'shows whoever reads the folder of a session whole files, which are as the ledger has it',
  { ...ALL, timeout: 120_000 },
  async ({ onTestFinished }) => {
    const bench = openRunBench({ script: workers(DIAMOND, () => [{ sleep: 300 }]) });
    onTestFinished(() => bench.end());
    const folder = writeSession(join(bench.repository, 'session'), DIAMOND);
    writeFileSync(join(bench.repository, '.git', 'info', 'exclude'), 'session\nsquad.yaml\nobjective.md\n');
    const engine = bench.start(['run', `--session=${folder}`, '--runtime', 'scripted', '--yes']);
    const over = new AbortController();
    const ended = engine.finished.finally(() => over.abort());
    const seen: Seen[] = [];
    while (!over.signal.aborted) {
      const from = Date.now();
      const state = asObject(readAll(folder));
      const done = asObject(state['pipeline'])['tasks_completed'];
      seen.push({ from, to: Date.now(), done: Number(done), status: state['status'] });
      expect(state['completed_tasks']).toHaveLength(Number(done));
      await sleep(EVERY_MS);
    }
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([0, '']);
    expect(asObject(readAll(folder))).toMatchObject({ status: 'completed', active_workers: [] });
    const times = doneAt(bench);
    expect(times).toHaveLength(DIAMOND.tasks.length);
    expect(new Set(seen.map(({ done }) => done)).size).toBeGreaterThan(3);
    // A machine that stood still for the reader did so for the engine.
    const still = Math.max(...seen.map(({ from }, index) => from - (seen[index - 1]?.to ?? from)));
    for (const [index, { from, to, done }] of seen.entries()) {
      expect(done).toBeGreaterThanOrEqual(seen[index - 1]?.done ?? 0);
      expect(done).toBeLessThanOrEqual(times.filter((at) => at <= to).length);
      expect(done).toBeGreaterThanOrEqual(times.filter((at) => at <= from - MOST_BEHIND_MS - still).length);
    }
    expect([...new Set(seen.map(({ status }) => status))]).toEqual(expect.arrayContaining(['active']));
  },
);
