/** How an engine of the service ended. */
export interface EngineEnd {
  readonly failed: boolean;
  readonly livedMs: number;
  /** It left runs that could move, and the ledger is as it was when the engine ended. */
  readonly leftThings: boolean;
}

const FIRST_MS = 1_000;
const MOST_MS = 300_000;
/** One that lived so long is no engine that cannot start. */
const LONG_MS = 60_000;

/** How often in a row engines have ended without helping, with this one; 0: it did what it was there for. */
export function endsInVain(before: number, { failed, livedMs, leftThings }: EngineEnd): number {
  if (failed) return livedMs >= LONG_MS ? 1 : before + 1;
  return leftThings ? before + 1 : 0;
}

/** ms until the next engine starts: longer after each that did not help. */
export function pauseAfter(inVain: number): number {
  return inVain === 0 ? 0 : Math.min(FIRST_MS * 2 ** (inVain - 1), MOST_MS);
}
