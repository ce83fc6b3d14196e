import { KINDS } from '../../model/sprint/kinds.ts';
import { sprintEndSchema } from '../../model/sprint/sprint.ts';
import type { WorkPlace } from '../../model/work-place.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { asObject } from '../../text/json.ts';

/** Where the work of a sprint's run is: on the line once the sprint is closed. undefined: the run is no sprint's, or has delivered nothing. */
export function sprintPlace(ledger: Pick<Ledger, 'records' | 'record'>, run: string): WorkPlace | undefined {
  const sprint = ledger.records(KINDS.sprint).find(({ value }) => asObject(value)['run'] === run);
  if (sprint === undefined) return undefined;
  const found = ledger.record(KINDS.end, sprint.id);
  if (found === undefined) return { at: 'line' };
  const { head, line } = sprintEndSchema.parse(found.value);
  return head === null ? undefined : { at: 'line', line };
}
