import { LIMITS_RECORD, limitsToRecord, type ServeSettings } from '../../model/shared-limits.ts';
import { plainJson } from '../../text/json.ts';
import type { Records } from '../ports/records.ts';

/** Makes the limits of all runs what a person's settings say now, for the runs at work as well. Writes only a change. */
export function recordLimits(ledger: Records, settings: ServeSettings | undefined): void {
  if (settings === undefined) return;
  const { kind, id } = LIMITS_RECORD;
  const known = ledger.record(kind, id)?.value;
  // Most people set none.
  if (known === undefined && Object.keys(settings.limits).length === 0) return;
  const wanted = limitsToRecord(settings, known);
  if (wanted !== undefined) ledger.writeRecord({ kind, id, value: plainJson(wanted) });
}
