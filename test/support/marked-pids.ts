import { readdirSync, readFileSync } from 'node:fs';

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
