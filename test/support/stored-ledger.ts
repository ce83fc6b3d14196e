import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

const STORED = join(import.meta.dirname, '../fixtures/ledger/killed-run.db.gz');

/** A folder with the ledger of a run that was killed while its two pieces were in work. Removed after the test. */
export function storedLedger(): { directory: string; path: string } {
  const root = mkdtempSync(join(tmpdir(), 'squad-stored-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const directory = join(root, 'stored');
  mkdirSync(directory, { mode: 0o700 });
  const path = join(directory, 'squad.db');
  writeFileSync(path, gunzipSync(readFileSync(STORED)), { mode: 0o600 });
  return { directory, path };
}
