import { shownStatusOf } from '../rules/work-status.ts';
import type { AuthorReport } from '../model/plan/author-report.ts';
import type { EvidenceFacts } from '../model/plan/evidence.ts';
import type { ShownStatus, TaskEnd } from '../model/plan/task.ts';
import type { RoundRecord } from '../model/plan/round-record.ts';
import type { RunReading } from './read-run.ts';

/** One task: what was asked for, and what squad and its reviewers found. */
export interface TaskFacts {
  readonly id: string;
  readonly title: string;
  readonly role: string;
  readonly status: ShownStatus;
  readonly needs: readonly string[];
  readonly brief: string;
  /** All that it may change; null: everything. */
  readonly paths: readonly string[] | null;
  /** Everyone who worked on it. */
  readonly authors: readonly string[];
  readonly round: number;
  readonly rounds: readonly RoundRecord[];
  /** The last check of its folder; null: there was none. */
  readonly evidence: EvidenceFacts | null;
  readonly commit: string | null;
  readonly followUps: readonly string[];
  /** The last report of its author, which is a claim; null: there is none. */
  readonly report: AuthorReport | null;
  /** null: it has not ended. */
  readonly end: { readonly as: TaskEnd; readonly why: string } | null;
  /** The person who decided how it ends; null: no person did. */
  readonly decidedBy: string | null;
}

/** In the order of the plan. */
export function taskFactsOf({ board, evidence }: Pick<RunReading, 'board' | 'evidence'>): TaskFacts[] {
  const states = [...board.tasks.values()].toSorted((a, b) => a.order - b.order);
  return states.map((state) => {
    const { task, work } = state;
    const { id, title, role, needs, brief, requires } = task;
    const { authors, round, rounds, commit, followUps, phase, override } = work;
    const { round: _, ...report } = work.report ?? { round };
    return {
      ...{ id, title, role, needs, brief: brief.text, status: shownStatusOf(state, board) },
      paths: requires.find((one) => one.kind === 'only')?.paths ?? null,
      ...{ authors, round, rounds, commit, followUps, evidence: evidence.get(id) ?? null },
      report: 'done' in report ? report : null,
      end: phase.at === 'ended' ? { as: phase.as, why: phase.why } : null,
      decidedBy: override?.by ?? null,
    };
  });
}
