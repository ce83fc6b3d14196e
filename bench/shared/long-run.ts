import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'tsdown';
import type { LongRun } from './long-run-child.ts';

/** A plan may have no more tasks, and with five supersteps for each that is superstep 10,000. */
const TURNS = 2_000;
const WARM_UP = 200;
/** As the launcher sets them for whatever drives a run; the child sets the other one later, as it does. */
export const MEMORY_FLAGS = ['--max-semi-space-size=2'];

let measured: Promise<LongRun> | undefined;

/** Three benches look at the one run. */
export function longRun(): Promise<LongRun> {
  measured ??= measure();
  return measured;
}

async function measure(): Promise<LongRun> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'squad-bench-long-run-')));
  try {
    const child = spawn(process.execPath, [...MEMORY_FLAGS, await buildChild(), folder, `${TURNS}`, `${WARM_UP}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return JSON.parse(await text(child.stdout)) as LongRun;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Built like squad itself: what strips types from sources at run time would count as the engine's memory. */
async function buildChild(): Promise<string> {
  // Below node_modules, for the packages that it imports.
  const outDir = fileURLToPath(new URL('../../node_modules/.cache/squad-bench', import.meta.url));
  const entry = fileURLToPath(new URL('./long-run-child.ts', import.meta.url));
  await build({
    config: false,
    entry: { child: entry },
    outDir,
    platform: 'node',
    target: 'node22.14',
    dts: false,
    logLevel: 'error',
    deps: { alwaysBundle: ['@langchain/langgraph-checkpoint-sqlite'] },
  });
  return join(outDir, 'child.mjs');
}
