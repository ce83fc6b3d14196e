import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLedgerHistory } from './ledger-history.ts';

/** Live processes (no zombies) that carry the marker; read here anew, so that the product's own sweep is not its judge. */
export function markedPids(marker: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return false;
        return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`SQUAD_TURN_ID=${marker}`);
      } catch {
        return false;
      }
    });
}

/** Live processes of any attempt that a `.squad` folder knows of, by its folder or by its row. */
export function livingTurns(directory: string): number[] {
  const turns = join(directory, 'turns');
  const folders = existsSync(turns) ? readdirSync(turns) : [];
  const rows = readLedgerHistory(join(directory, 'squad.db')).attempts.map(({ id }) => id);
  return [...new Set([...folders, ...rows])].flatMap(markedPids);
}

/** SIGKILL; one that ended since it was found is no error. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

/** Live processes that run helpers for an engine (`helper-host.mjs`) with a folder for temporary files in this one. */
export function helperHostsIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('helper-host')) return false;
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TMPDIR=${folder}`);
      } catch {
        return false;
      }
    });
}
