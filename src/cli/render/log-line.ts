import { assertNever } from '../../model/assert-never.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { planEntrySchema, type PlanEntry } from '../../model/plan/entry.ts';
import type { PlanEvent } from '../../model/plan/event.ts';
import type { EvidenceFacts } from '../../model/plan/evidence.ts';
import { isUnchecked } from '../../model/plan/gate.ts';
import type { WorkEvent } from '../../model/plan/work.ts';
import { decidedSchema, RUN_EVENTS, runDefinitionSchema } from '../../model/run.ts';
import { plainLine } from '../../text/plain-text.ts';
import { isoTime } from '../../text/time.ts';

/** One event of the ledger: its place, its cause, and what it is about. `--json` has all of it. */
export function renderLedgerEvent(event: LedgerEvent, stream: string): string {
  const cause = event.cause === null ? '' : ` ←${event.cause}`;
  const at = isoTime(event.at);
  return `${String(event.seq).padStart(5)}${cause}  ${at}  ${stream}  ${event.type}  ${plainLine(subjectOf(event), 300)}`;
}

function subjectOf({ type, data }: LedgerEvent): string {
  switch (type) {
    case RUN_EVENTS.plan: {
      const entry = planEntrySchema.safeParse(data);
      if (entry.success) return entryText(entry.data);
      break;
    }
    case RUN_EVENTS.decided: {
      const decided = decidedSchema.safeParse(data);
      if (decided.success) return decidedText(decided.data);
      break;
    }
    case RUN_EVENTS.defined: {
      const about = runDefinitionSchema.safeParse(data);
      if (about.success) return `${about.data.objective.title} (${about.data.playbook}, ${about.data.source})`;
      break;
    }
  }
  return JSON.stringify(data);
}

function decidedText({ next, why, until }: { next: string; why: string; until?: number | undefined }): string {
  return `${next}${until === undefined ? '' : ` until ${isoTime(until)}`}: ${why}`;
}

function entryText(entry: PlanEntry): string {
  switch (entry.entry) {
    case 'work':
      return [entry.task, entry.event.type, workText(entry.event)].join(' ').trimEnd();
    case 'event':
      return [entry.event.type, eventText(entry.event)].join(' ').trimEnd();
    case 'changes':
      return entry.changes.map(changeText).join(', ');
    default:
      return assertNever(entry);
  }
}

function eventText(event: PlanEvent): string {
  if (event.type !== 'gate-checked') return '';
  const { head, expected, missing, commands } = event.facts;
  if (head !== expected) return `${head?.slice(0, 12) ?? 'no branch'} instead of ${expected.slice(0, 12)}`;
  const failed = commands
    .filter(({ passed }) => !passed)
    .map((one) => `\`${one.run}\` ${isUnchecked(one) ? 'cannot run' : 'failed'}`);
  const lost = missing.map((task) => `${task} is missing`);
  return [head.slice(0, 12), ...failed, ...lost, ...(failed.length + lost.length === 0 ? ['passed'] : [])].join(', ');
}

/** The reason of a failure, which a person asks for first. */
function workText(event: WorkEvent): string {
  switch (event.type) {
    case 'attempt-started':
      return `${event.attempt} by ${event.agent}`;
    case 'attempt-settled': {
      const { attempt, outcome, failure } = event;
      const until = failure?.retryAt === undefined ? '' : `, until ${isoTime(failure.retryAt)}`;
      return `${attempt} ${outcome}${failure === undefined ? '' : ` (${failure.kind}: ${failure.message}${until})`}`;
    }
    case 'evidence-gathered':
      return evidenceText(event.facts);
    case 'conflict':
      return `with ${event.head.slice(0, 12)} in ${event.files.join(', ')}`;
    case 'verified':
      return event.passed ? 'passed' : `failed: ${lastLine(event.output)}`;
    case 'reopened':
      return event.feedback;
    case 'settle-asked':
    case 'override-asked':
      return `${event.as}: ${event.why}`;
    case 'wall-raised':
      return `${event.attempt}: ${event.why}`;
    case 'unblocked':
      return event.question;
    default:
      return '';
  }
}

function evidenceText({ problem, commit, commits, uncommitted, commands, prProblem }: EvidenceFacts): string {
  const failed = commands.filter(({ passed }) => !passed);
  return [
    ...(problem === undefined ? [] : [problem]),
    commits === 0
      ? 'no commit'
      : `${commits} commit${commits === 1 ? '' : 's'} up to ${commit?.slice(0, 12) ?? 'none'}`,
    ...(uncommitted.length === 0 ? [] : [`not committed: ${uncommitted.slice(0, 5).join(', ')}`]),
    ...failed.map(({ run, output }) => `\`${run}\` fails: ${lastLine(output)}`),
    ...(prProblem === undefined ? [] : [`no pull request: ${prProblem}`]),
  ].join('; ');
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}

function changeText(change: PlanChange): string {
  switch (change.do) {
    case 'add-task':
      return `add-task ${change.task.id}`;
    case 'reopen-task':
      return `reopen-task ${change.id}: ${change.feedback}`;
    case 'settle-task':
      return `settle-task ${change.id} as ${change.as}: ${change.why}`;
    case 'finish':
      return `finish ${change.outcome}: ${change.why}`;
    default:
      return 'id' in change ? `${change.do} ${change.id}` : change.do;
  }
}
