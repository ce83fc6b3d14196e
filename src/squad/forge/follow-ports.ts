import { FOLLOW_KIND, followRecordSchema, isOpenFollow, type FollowRecord } from '../../model/forge/follow-record.ts';
import { followOf } from '../../model/forge/follow-settings.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { FollowView } from '../../rules/forge/decide-follow.ts';
import type { ForgePulls } from '../../substrate/ports/forge-pulls.ts';
import type { Forge } from '../../substrate/ports/forge.ts';
import { plainJson } from '../../text/json.ts';
import { endOfRun } from '../../view/end-row.ts';
import { endedView } from '../../view/ended-view.ts';
import { findDefinition } from '../../view/read-run.ts';
import { lookIn, withLedger, type OpenedWorkspace } from '../open-workspace.ts';

export interface FollowPorts {
  readonly workspace: OpenedWorkspace;
  readonly forge: ForgePulls;
  readonly fetch: Forge['fetch'];
  /** Gives the round of the record to its run. */
  readonly rework: (workspace: OpenedWorkspace, record: FollowRecord) => Promise<void>;
  readonly redactor: Redactor;
  readonly say: (text: string) => void;
}

export async function keepFollow(workspace: OpenedWorkspace, record: FollowRecord): Promise<FollowRecord> {
  return withLedger(workspace, 'write', (ledger) => {
    ledger.writeRecord({ kind: FOLLOW_KIND, id: record.run, value: plainJson(record) });
    return record;
  });
}

/** Those that are not over. Read only. */
export function followedNow(workspace: OpenedWorkspace): FollowRecord[] {
  const all = lookIn(workspace, (ledger) => ledger.records(FOLLOW_KIND)) ?? [];
  return all.flatMap(({ value }) => followRecordSchema.safeParse(value).data ?? []).filter(isOpenFollow);
}

/** How the run of a record is, and what it was started with. undefined: it was removed. */
export function runOf(
  workspace: OpenedWorkspace,
  { run: id, head, settings: asked }: FollowRecord,
): { readonly run: FollowView['run']; readonly settings: FollowView['settings'] } | undefined {
  return lookIn(workspace, (ledger) => {
    const row = ledger.run(id);
    const publish = row === undefined ? undefined : findDefinition(ledger, row)?.publish;
    const follow = asked ?? followOf(publish?.follow);
    if (row === undefined || follow === undefined) return undefined;
    const settings = { merges: publish?.merge === 'when-approved', ...follow };
    if (endOfRun(ledger, row) === undefined) return { settings, run: { at: 'work', head } };
    const view = endedView(ledger, row);
    // One that another version of squad has ended cannot be read.
    if (view?.end?.outcome !== 'done') return { settings, run: { at: 'failed', head } };
    return { settings, run: { at: 'done', head: view.plan.delivered } };
  });
}
