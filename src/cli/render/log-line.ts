import { assertNever } from '../../model/assert-never.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { planEntrySchema, type PlanEntry } from '../../model/plan/entry.ts';
import { RUN_EVENTS, runDefinitionSchema } from '../../model/run.ts';
import { plainLine } from './plain-text.ts';

/** One event of the ledger: its place, its cause, and what it is about. `--json` has all of it. */
export function renderLedgerEvent(event: LedgerEvent, stream: string): string {
  const cause = event.cause === null ? '' : ` ←${event.cause}`;
  const at = new Date(event.at).toISOString();
  return `${String(event.seq).padStart(5)}${cause}  ${at}  ${stream}  ${event.type}  ${plainLine(subjectOf(event), 160)}`;
}

function subjectOf({ type, data }: LedgerEvent): string {
  if (type === RUN_EVENTS.plan) {
    const entry = planEntrySchema.safeParse(data);
    if (entry.success) return entryText(entry.data);
  }
  if (type === RUN_EVENTS.defined) {
    const about = runDefinitionSchema.safeParse(data);
    if (about.success) return `${about.data.objective.title} (${about.data.playbook}, ${about.data.source})`;
  }
  return JSON.stringify(data);
}

function entryText(entry: PlanEntry): string {
  switch (entry.entry) {
    case 'work':
      return `${entry.task} ${entry.event.type}`;
    case 'event':
      return entry.event.type;
    case 'changes':
      return entry.changes.map(changeText).join(', ');
    case 'clock':
      return 'clock';
    default:
      return assertNever(entry);
  }
}

function changeText(change: PlanChange): string {
  if (change.do === 'add-task') return `add-task ${change.task.id}`;
  return 'id' in change ? `${change.do} ${change.id}` : change.do;
}
