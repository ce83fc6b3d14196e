import type { Disagreement } from './author-report.ts';
import type { Look } from './look.ts';
import type { Blockage, Finding, SettledFinding } from './review.ts';
import type { SilentJudge } from './silent-judge.ts';

/** A round of a review that has a verdict. */
export interface RoundRecord {
  readonly round: number;
  /** The review, of a task with several. Absent: it has one. */
  readonly review?: string;
  /** When it closed. Of a task with several reviews. */
  readonly at?: number;
  readonly commit: string;
  readonly approved: boolean;
  /** It was rejected, but none of its findings counted (`LATE_FINDINGS`), so it did not go back to its author. */
  readonly overruled?: true;
  readonly feedback: string;
  /** Normalised findings that counted. */
  readonly findings: readonly string[];
  /** The labels of the findings that went to the author. Absent: there are none, or the version is older. */
  readonly labels?: readonly string[];
  /** Findings that its author has to answer: F1, F2 … of the next round. Absent: none. */
  readonly open?: readonly Finding[];
  /** Words of its reviewers on the findings of the round before. Absent: there was none. */
  readonly settled?: readonly (SettledFinding & { readonly by: string })[];
  /** Its author's reasons not to agree with findings of the round before. Absent: none. */
  readonly disagreed?: readonly Disagreement[];
  readonly by: readonly {
    readonly role: string;
    readonly agent: string;
    readonly approved: boolean;
    /** Absent: the reviewer looked at something, or the version is older. */
    readonly look?: Exclude<Look, 'some'>;
  }[];
  /** Absent: all whose verdict was needed gave one. */
  readonly silent?: readonly SilentJudge[];
  /** The category of the rejection. Absent: its review has none, or it approved. */
  readonly category?: string;
  /** Missing inputs and the next step, as the reviewers of a rejection that ends the task name them. */
  readonly blocked?: Blockage;
}
