import { createWriteStream, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../../model/storage-error.ts';
import { complete, refuseExisting } from '../../substrate/ledger/backup.ts';
import { exportLedger, ledgerPath } from '../../substrate/ledger/index.ts';
import { databaseError } from '../../substrate/ledger/sqlite-errors.ts';
import type { CommandContext, RunNameOptions } from '../command-context.ts';
import { openWorkspace, requireRuns } from '../../squad/open-workspace.ts';
import { printResult } from '../output.ts';

const CHUNK_CHARACTERS = 64 * 1024;

/** To standard output unless a file is named. Lines are read only as fast as they are written. */
export async function dbExport(
  context: CommandContext,
  path: string | undefined,
  options: RunNameOptions,
): Promise<void> {
  const { host, output } = context;
  const workspace = await openWorkspace(context);
  requireRuns(workspace);
  const { directory } = workspace;
  const count = { lines: 0 };
  const chunks = Readable.from(inChunks(exportLedger(ledgerPath(directory), options.run ?? null), count));
  if (path === undefined || path === '-') {
    await pipeline(chunks, process.stdout, { end: false }).catch((error: unknown) => {
      // A reader that had enough (`squad db export | head`) is no problem, and the output itself says what is.
      if (errorCode(error) !== 'EPIPE' && !output.isLost()) throw error;
    });
    return;
  }
  const target = resolve(host.workingDirectory, path);
  await writeStream(chunks, target);
  const rows = count.lines;
  printResult(output, options, { type: 'db-export', path: target, rows }, [`${rows} rows in ${target}`]);
}

/** Whole under its name, or absent. */
async function writeStream(chunks: Readable, target: string): Promise<void> {
  refuseExisting(target);
  const temporary = `${target}.${process.pid}.new`;
  try {
    await pipeline(chunks, createWriteStream(temporary, { flags: 'wx', mode: 0o600 }));
    complete(temporary, target);
  } catch (error) {
    throw databaseError(target, error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function* inChunks(lines: Iterable<string>, count: { lines: number }): Generator<string, void> {
  let chunk = '';
  for (const line of lines) {
    count.lines += 1;
    chunk += line;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
