import type { TaskState } from '../model/plan/board.ts';
import {
  normaliseFinding,
  reviewAnswerSchema,
  type Cited,
  type Finding,
  type ReviewAnswer,
  type SettledFinding,
} from '../model/plan/review.ts';
import type { RoundRecord } from '../model/plan/round-record.ts';
import type { WorkEvent } from '../model/plan/work.ts';
import { FEEDBACK } from './feedback-texts.ts';

/** The review that an answer belongs to, besides its commit. */
export interface AskedFindings {
  /** Its earlier rounds. */
  readonly earlier: readonly RoundRecord[];
  readonly cited?: Cited | undefined;
}

/** The findings of an answer by what they do. */
export interface Weighed {
  /** New ones, and earlier ones that the answer says are not fixed. */
  readonly blocking: readonly Finding[];
  /** `unshown`: why it does not block although its reviewer says so. */
  readonly remarks: readonly { readonly finding: Finding; readonly unshown?: string }[];
  /** About earlier findings that the review was asked about. */
  readonly settled: readonly SettledFinding[];
}

/** The findings that a next review of this work settles: F1, F2 … in their order. */
export function openFindings(earlier: readonly RoundRecord[]): readonly Finding[] {
  return earlier.at(-1)?.open ?? [];
}

export function labelOf(index: number): string {
  return `F${index + 1}`;
}

/** Where a finding is, and what it says is wrong, in a form that can be compared between rounds. */
export function keyOf({ file, wrong }: Finding): string {
  return normaliseFinding(`${file ?? ''} ${wrong}`);
}

export function onceEach(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((one) => [keyOf(one), one])).values()];
}

export function weighFindings(
  { findings, settled }: Pick<ReviewAnswer, 'findings' | 'settled'>,
  { earlier, cited }: AskedFindings,
): Weighed {
  const isLater = isAfterRejection(earlier);
  const known = new Set(earlier.flatMap((round) => (round.approved ? [] : round.findings)));
  const said = findings.filter(({ wrong }) => wrong.trim() !== '');
  const weighed = said.map((finding) => {
    const unshown = finding.blocks === null ? undefined : unshownBy(finding, cited);
    const isLate = isLater && finding.blocks === 'defect' && !known.has(keyOf(finding));
    return { finding, unshown, counts: finding.blocks !== null && unshown === undefined && !isLate };
  });
  const blocking = weighed.flatMap(({ finding, counts }) => (counts ? [finding] : []));
  const open = openFindings(earlier);
  const asked = settled.filter(({ finding }) => open.some((_, index) => labelOf(index) === finding));
  const left = asked.flatMap(({ finding, as, why }): Finding[] => {
    const before = open.find((_, index) => labelOf(index) === finding);
    if (before === undefined || as !== 'not-fixed') return [];
    // The reviewer may say it again as a finding, with more words.
    const isSaid = blocking.some(({ blocks, file }) => blocks === 'not-fixed' && file === before.file);
    return isSaid ? [] : [{ ...before, blocks: 'not-fixed', proof: why.trim() === '' ? before.proof : why }];
  });
  return {
    blocking: onceEach([...left, ...blocking]),
    remarks: weighed.flatMap(({ finding, counts, unshown }) =>
      counts ? [] : [{ finding, ...(unshown === undefined ? {} : { unshown }) }],
    ),
    settled: asked,
  };
}

/** A round after a rejection only settles what was found, and looks for new harm. */
function isAfterRejection(earlier: readonly RoundRecord[]): boolean {
  return earlier.at(-1)?.approved === false;
}

/** Why a block is not shown; undefined: it is. */
function unshownBy({ file, line, proof, blocks }: Finding, cited: Cited = {}): string | undefined {
  if (proof.trim() === '') return FEEDBACK.noProof;
  const seen = file !== null && Object.hasOwn(cited, file) ? cited[file] : undefined;
  if (file === null || seen === undefined) return undefined;
  // A deleted file has no lines.
  if (seen.lines === null) return seen.changed ? undefined : FEEDBACK.noFile(file);
  if (line !== null && (line < 1 || line > seen.lines)) return FEEDBACK.noLine(file, line, seen.lines);
  return seen.changed || blocks === 'not-fixed' || /`[^`]+`/.test(proof) ? undefined : FEEDBACK.outside(file);
}

/** Problems that a reviewer is asked to repair once. After that, its answer counts as it is. */
export function findingProblems(answer: ReviewAnswer, asked: AskedFindings & { readonly criteria: number }): string[] {
  const { blocking, remarks, settled } = weighFindings(answer, asked);
  const labels = Array.from({ length: asked.criteria }, (_, index) => `C${index + 1}`);
  const number = (finding: Finding): number => answer.findings.indexOf(finding) + 1;
  const unsettled = openFindings(asked.earlier)
    .map((_, index) => labelOf(index))
    .filter((label) => !settled.some(({ finding }) => finding === label));
  return [
    ...(unsettled.length === 0 ? [] : [FEEDBACK.unsettled(unsettled.join(', '))]),
    ...remarks.flatMap(({ finding, unshown }) =>
      unshown === undefined ? [] : [FEEDBACK.unshown(number(finding), unshown)],
    ),
    ...answer.findings.flatMap((finding) =>
      finding.blocks !== 'criterion' || labels.length === 0 || labels.includes(finding.criterion ?? '')
        ? []
        : [FEEDBACK.noLabel(number(finding), labels.join(', '))],
    ),
    ...(answer.approved || blocking.length > 0 ? [] : [FEEDBACK.nothingBlocks(isAfterRejection(asked.earlier))]),
  ];
}

/** Each takes a call of git. What is not looked up counts as its reviewer says. */
const MOST_CITED = 50;

/** The files to look up for the answer that settles an attempt of a review; undefined: none. */
export function citedBy(state: TaskState | undefined, event: WorkEvent): CitedFiles | undefined {
  const phase = state?.work.phase;
  if (event.type !== 'attempt-settled' || state === undefined || phase?.at !== 'reviewing') return undefined;
  const { attempt, output } = event;
  const isIts = phase.slots.some(({ request }) => request.state.at === 'live' && request.state.attempt === attempt);
  const answer = isIts ? reviewAnswerSchema.safeParse(output).data : undefined;
  const files = [...new Set((answer?.findings ?? []).flatMap(({ file }) => file ?? []))].slice(0, MOST_CITED);
  if (files.length === 0) return undefined;
  const { base, rounds } = state.work;
  // A file that the work made and took away again is in no other change.
  const last = rounds.at(-1)?.commit;
  const bases = base === null ? [] : [...new Set([base, ...(last === undefined ? [] : [last])])];
  return { attempt, commit: phase.commit, bases, files };
}

export interface CitedFiles {
  /** Id within the plan. */
  readonly attempt: string;
  readonly commit: string;
  /** The commits before the work and before its last change. Empty: not known, and each file counts as changed. */
  readonly bases: readonly string[];
  readonly files: readonly string[];
}
