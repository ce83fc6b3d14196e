import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readProcess } from '../substrate/system/process/process-table.ts';
import { exists } from '../substrate/system/files/exists.ts';
import { lookIn, type OpenedWorkspace } from './open-workspace.ts';

const DAY_MS = 24 * 60 * 60_000;

/** Where the output of an engine goes until the process that starts it knows the run's id. */
export function earlyLog(name: string, starter: number): string {
  return `${name}.${starter}.log`;
}

/**
 * Finishes what processes left that were killed while they started an engine: its output goes to the folder of its run, and input
 * that no engine came for is removed after a day. `log`: the file's name there.
 */
export async function tidyLeftStarts(
  workspace: Pick<OpenedWorkspace, 'directory' | 'composition'>,
  log: string,
): Promise<void> {
  const folder = join(workspace.directory, 'runs');
  for (const file of await namesIn(folder)) {
    const [, name, starter] = /^(.+)\.(\d+)\.log$/.exec(file) ?? [];
    if (name === undefined || readProcess(Number(starter)) !== undefined) continue;
    const runId = lookIn(workspace, (ledger) => ledger.run(name)?.id);
    if (runId === undefined) await removeOld(join(folder, file));
    else await adopt(join(folder, file), join(folder, runId), (await exists(join(folder, runId, log))) ? file : log);
  }
  const panes = join(workspace.directory, 'panes');
  for (const file of await namesIn(panes)) await removeOld(join(panes, file));
}

/** An engine that still writes there continues to. */
async function adopt(from: string, folder: string, log: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Another process may have been faster.
  await rename(from, join(folder, log)).catch(() => undefined);
}

/** An engine that is slow to start may still need it. */
async function removeOld(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() === true && Math.abs(Date.now() - found.mtimeMs) > DAY_MS) await rm(path, { force: true });
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}
