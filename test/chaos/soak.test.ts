import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openRunBench, startsOf } from '../runs/run-bench.ts';
import { piece, plan, verdict, type Step } from '../runs/run-script.ts';
import { reportTrials } from '../support/chaos-row.ts';
import { slopeOf, usageOf } from '../support/process-usage.ts';
import { stateOf } from '../support/state.ts';

const TIER_MINUTES: Readonly<Record<string, number>> = { commit: 3, nightly: 120, release: 720 };
const MINUTES = Number(
  process.env['SQUAD_SOAK_MINUTES'] ?? TIER_MINUTES[process.env['SQUAD_CHAOS_TIER'] ?? 'commit'] ?? 3,
);
const PARALLEL = 6;
/** Of each piece: a turn stays shorter than whatever watches over it. */
const ROUNDS = MINUTES > 240 ? 20 : 4;
const MOST_PIECES = 50;
/** A turn of the engine's own work beside it, on a machine with two processors. */
const OVERHEAD_MS = 1_000;
const SHORTEST_MS = 2_000;
/** What grows in a shorter time is the engine that warms up: nothing can be said of an hour. */
const TELLING_MINUTES = 30;
/** As the launcher starts the engine, as far as Node takes them from here. */
const MEMORY_FLAGS = '--max-semi-space-size=2';
const MB = 1024 * 1024;

interface Sample {
  readonly hours: number;
  readonly rssMb: number;
  readonly files: number;
}

/** As many pieces, and as long turns, as fill the time. */
function partsFor(minutes: number): { readonly pieces: number; readonly turnMs: number } {
  const total = minutes * 60_000 * PARALLEL;
  const pieces = Math.min(
    MOST_PIECES,
    Math.max(PARALLEL, Math.floor(total / (2 * ROUNDS * (SHORTEST_MS + OVERHEAD_MS)))),
  );
  return { pieces, turnMs: Math.max(SHORTEST_MS, total / (2 * ROUNDS * pieces) - OVERHEAD_MS) };
}

it(`T22 ${MINUTES} minutes of six agents, as real processes`, async () => {
  const { pieces, turnMs } = partsFor(MINUTES);
  const judges: Step[] = [{ run: ['true'] }, { sleep: turnMs }];
  const works: Step[] = [
    ...judges,
    { run: ['/bin/sh', '-c', 'echo line >> "$(basename "$PWD").txt"'] },
    { run: ['git', 'add', '--all'] },
    { run: ['git', 'commit', '--quiet', '--message', 'work'] },
    { answer: 'done' },
  ];
  const bench = openRunBench({
    script: [
      plan(Array.from({ length: pieces }, (_, index) => piece(`p-${index}`))),
      ...Array.from({ length: ROUNDS - 1 }, (_, index) => index + 1).map((round) => ({
        ...verdict(null, [`round ${round}`], round),
        steps: judges,
      })),
      { ...verdict(null, []), steps: judges },
      { steps: works },
    ],
    settings: { limits: { turns: 5_000, minutes: 10_000, parallel: PARALLEL, reviewRounds: ROUNDS } },
  });
  try {
    const engine = bench.startRun([], { NODE_OPTIONS: MEMORY_FLAGS });
    const samples = await watch(engine.child.pid ?? 0, engine.finished);
    const ended = await engine.finished;
    expect(ended.code, ended.stderr).toBe(0);
    const turns = startsOf(ended).length;
    expect(turns).toBe(1 + 2 * ROUNDS * pieces);
    judge(samples, turns, databaseMb(stateOf(bench.repository)));
  } finally {
    bench.end();
  }
});

async function watch(pid: number, until: Promise<unknown>): Promise<Sample[]> {
  const samples: Sample[] = [];
  const over = new AbortController();
  void until.finally(() => over.abort());
  const from = performance.now();
  while (!over.signal.aborted) {
    try {
      samples.push({ hours: (performance.now() - from) / 3_600_000, ...usageOf(pid) });
    } catch {
      // It has ended.
      break;
    }
    await sleep(Math.max(1_000, MINUTES * 100), undefined, { signal: over.signal }).catch(() => undefined);
  }
  return samples;
}

function judge(samples: readonly Sample[], turns: number, database: number): void {
  const middle = (samples.at(-1)?.hours ?? 0) / 2;
  const late = samples.filter(({ hours }) => hours > middle);
  const early = samples.filter(({ hours }) => hours <= middle);
  const most = (of: readonly Sample[], what: 'rssMb' | 'files'): number => Math.max(...of.map((one) => one[what]));
  const slope = slopeOf(late.map(({ hours, rssMb }) => ({ x: hours, y: rssMb })));
  const perThousand = (database / turns) * 1_000;
  const files = most(late, 'files') - most(early, 'files');
  console.log(
    `${turns} turns; resident at most ${most(samples, 'rssMb').toFixed(0)} MB, in the second half ${slope.toFixed(2)} MB an hour; ` +
      `open files ${most(early, 'files')} and ${most(late, 'files')}; ${perThousand.toFixed(1)} MB of databases for 1,000 turns`,
  );
  const broken = [
    ...(most(samples, 'rssMb') <= 500 ? [] : ['more than 500 MB resident']),
    ...(MINUTES < TELLING_MINUTES || slope <= 1 ? [] : [`${slope.toFixed(2)} MB more an hour`]),
    // As many turns and helpers as live at once.
    ...(files <= 2 * PARALLEL ? [] : [`${files} more open files in the second half`]),
    ...(perThousand <= 50 ? [] : [`${perThousand.toFixed(1)} MB of databases for 1,000 turns`]),
  ];
  const bound = `≤ 500 MB, ${MINUTES < TELLING_MINUTES ? '' : '≤ 1 MB/h, '}files flat, ≤ 50 MB per 1,000 turns`;
  reportTrials({ fault: `T22 soak, ${MINUTES} minutes`, trials: turns, failures: broken.length, bound });
  expect(broken).toEqual([]);
}

function databaseMb(directory: string): number {
  const sizes = ['squad.db', 'checkpoints.db'].map((name) => statSync(join(directory, name)).size);
  return sizes.reduce((sum, size) => sum + size, 0) / MB;
}
