import { ISSUE_KIND, issueRecordSchema, type IssueRecord } from '../../model/forge/issue-record.ts';
import { newRunsCappedUntil } from '../../model/shared-spending.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { IssueRun } from '../../rules/forge/issue-posts.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import type { LockedBy } from '../../view/driven.ts';
import { endOfRun } from '../../view/end-row.ts';
import { endedView } from '../../view/ended-view.ts';
import { findDefinition, readRun } from '../../view/read-run.ts';
import { unfinishedOf } from '../../view/unfinished.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';

export interface SeenIssues {
  readonly records: ReadonlyMap<number, IssueRecord>;
  readonly runs: ReadonlyMap<string, IssueRun>;
  readonly isCapped: boolean;
}

export function issueId(place: string, number: number): string {
  return `${place}#${number}`;
}

/** The records of the issues of a place, and how their runs are. Read only. */
export function lookAtIssues(workspace: OpenedWorkspace, place: string, redactor: Redactor): SeenIssues {
  const seen = lookIn(workspace, (ledger, lockedBy, now): SeenIssues => {
    const own = ledger.records(ISSUE_KIND).filter(({ id }) => id.startsWith(issueId(place, 0).slice(0, -1)));
    const records = own.flatMap(({ value }) => issueRecordSchema.safeParse(value).data ?? []);
    const runs = records.flatMap(({ run, over }) => {
      const found = run === undefined ? undefined : runIn(ledger, run.id, { lockedBy, now, redactor, over });
      return run === undefined || found === undefined ? [] : [[run.id, found] as const];
    });
    const cappedUntil = newRunsCappedUntil(ledger.sharedUse(lockedBy?.since ?? Infinity));
    return {
      records: new Map(records.map((record) => [record.number, record])),
      runs: new Map(runs),
      isCapped: cappedUntil !== undefined && cappedUntil > now,
    };
  });
  return seen ?? { records: new Map(), runs: new Map(), isCapped: false };
}

interface Around {
  readonly lockedBy: LockedBy | null;
  readonly now: number;
  readonly redactor: Redactor;
  /** Its end was said: it counts only if it works again. */
  readonly over?: boolean | undefined;
}

/** undefined: there is no such run. Its texts are without secrets. */
function runIn(ledger: Ledger, id: string, { lockedBy, now, redactor, over }: Around): IssueRun | undefined {
  const row = ledger.run(id);
  if (over === true && row !== undefined && endOfRun(ledger, row) !== undefined) return undefined;
  if (row === undefined || findDefinition(ledger, row) === undefined) return undefined;
  const { name } = row;
  const view = endedView(ledger, row);
  if (view?.end !== undefined && view.end !== null) {
    const { outcome, headline, pushed, hasWork } = view.end;
    const branch = hasWork ? (view.run.branch ?? undefined) : undefined;
    const end = { outcome, headline: redactor.text(headline), cost: view.use.usage, pr: pushed?.pr, branch };
    return { name, state: 'over', questions: [], end };
  }
  if (endOfRun(ledger, row) !== undefined) return { name, state: 'over', questions: [] };
  const reading = readRun(ledger, id, lockedBy);
  const need = unfinishedOf(reading, now);
  const open = reading.questions.filter(({ recorded }) => recorded === null);
  const questions = open.map((one) => ({
    id: one.id,
    text: redactor.text(one.text),
    options: one.options.map((option) => redactor.text(option)),
  }));
  const held = need?.need === 'held' ? 'a person has paused or stopped it.' : undefined;
  return { name, state: 'open', held, questions };
}
