import type { Attempt } from '../model/attempt.ts';
import type { Machine } from '../engine/machine.ts';
import type { SharedUse } from '../model/shared-spending.ts';
import type { Estimate } from '../model/plan/estimate.ts';
import { endedView } from '../view/ended-view.ts';
import { withFailedAttempts } from '../view/explain-failure.ts';
import { readEstimate } from '../view/estimate.ts';
import { afterEnd } from '../view/next-commands.ts';
import { readRun, rowOf, type RunHistory } from '../view/read-run.ts';
import { openProposal } from '../view/proposed-plan.ts';
import type { RunView } from '../view/run-view.ts';
import { mailOf, mailReadingOf, viewOf } from '../view/view-of.ts';
import type { MailStatus } from '../substrate/ports/mailbox.ts';
import { placeInTeam, placeOfAll, viewInGit } from './ended-run.ts';
import { withRun } from './open-run.ts';
import { openWorkspace, type OpenedWorkspace, type Place } from './open-workspace.ts';
import { readPermissionAsks } from './permission-asks.ts';

interface Found {
  readonly view: RunView;
  /** undefined: the run is over, and the view is the row of its end. */
  readonly reading?: RunHistory;
  readonly mail: MailStatus | undefined;
  readonly live: readonly Attempt[];
  /** Use of all runs together; undefined: they have no common limits. */
  readonly shared: SharedUse | undefined;
  /** By earlier runs, of a run that asks about a plan. */
  readonly estimate?: Estimate | null | undefined;
}

export type OpenedView<Ports extends Machine> = OpenedWorkspace<Ports> & Found & { readonly now: number };

/** A run as the ledger has it, by default the one that is running, or the newest. Folds the plan only of one that is not over. */
export async function openView<Ports extends Machine>(
  place: Required<Place<Ports>>,
  name: string | undefined,
): Promise<OpenedView<Ports>> {
  const opened = await openWorkspace(place);
  return withRun(opened, name, (ledger, given, { lockedBy, now }): Found => {
    const { row } = rowOf(ledger, given);
    const mail = mailOf(ledger, row.id);
    const shared = ledger.sharedUse(lockedBy?.since ?? Infinity);
    const ended = endedView(ledger, row);
    // Where the work of a failed task is kept changes after the end.
    if (ended !== undefined && ended.plan.failures.length === 0) return { view: ended, mail, live: [], shared };
    const live = ledger.attempts({ runId: row.id, status: 'spawned' });
    const reading = withFailedAttempts(ledger, readRun(ledger, row.id, lockedBy, place.composition.playbooks));
    const asks = openProposal(reading) !== undefined;
    const about = { playbook: reading.definition.playbook, except: row.id };
    const estimate = asks ? readEstimate(ledger, about) : undefined;
    return { view: viewOf(reading, { now, mail, estimate }), reading, mail, live, shared, estimate };
  });
}

/** Adds what is not in the ledger: permissions that agents ask for now, and where the work is in git. */
export async function viewNow(opened: OpenedView<Machine>): Promise<RunView> {
  const { reading, mail, live, now, estimate } = opened;
  if (reading === undefined) return endedNow(opened);
  const asks = await readPermissionAsks({ ...opened, reading }, live);
  return viewInGit(opened, reading, { now, mail, asks, estimate });
}

async function endedNow(opened: OpenedView<Machine>): Promise<RunView> {
  const { view, mail, now, repository, composition } = opened;
  const { run, plan, end } = view;
  if (end === null) return view;
  const { base, delivered } = plan;
  const place =
    end.head === null
      ? undefined
      : (placeInTeam(opened, run) ??
        (await placeOfAll(composition.git, repository, { run: run.name, base, delivered }, run.repositories)));
  const read = mail === undefined ? null : mailReadingOf(mail, now);
  return { ...view, mail: read, next: afterEnd(run.name, end, place) };
}
