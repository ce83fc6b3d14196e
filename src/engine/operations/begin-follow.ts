import { FOLLOW_KIND, followRecordSchema, newFollow, type FollowRecord } from '../../model/forge/follow-record.ts';
import { makeSecret } from '../../model/secret.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { plainJson } from '../../text/json.ts';
import type { OperationPorts } from './operation-ports.ts';

/** Once for each pull request: a later push of the run is a part of what is followed. */
export function beginFollow(
  { ledger, lease: { runId } }: OperationPorts,
  of: Pick<FollowRecord, 'number' | 'head' | 'name' | 'remote'>,
  now: number,
): void {
  const before = followRecordSchema.safeParse(ledger.record(FOLLOW_KIND, runId)?.value).data;
  if (before?.number === of.number) return;
  const record = newFollow({ ...of, run: runId, secret: makeSecret() }, now);
  ledger.writeRecord({ kind: FOLLOW_KIND, id: runId, value: plainJson(record) });
  failpoint('follow.begun');
}
