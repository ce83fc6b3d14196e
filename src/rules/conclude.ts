import type { RunEndedAs } from '../model/run-state.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import { CHOICE } from '../model/plan/choice.ts';
import { isUnchecked, type CheckFacts } from '../model/plan/gate.ts';
import { protectedCriteria } from '../model/plan/checker.ts';
import type { CriterionStatus } from '../model/criterion-status.ts';
import { isMadeGood } from './catch-up.ts';
import { choicesOf, choiceText } from './choice.ts';
import { checkNotesOf, flakyText } from './check-notes.ts';
import { atBaseText, checkerChangesOf, checkersText, checksAtBase } from './checkers.ts';
import { blindText } from './looks.ts';
import { firstCauseOf, stallSkip } from './first-cause.ts';
import { failedReviewsOf, failureFileOf } from './failed-reviews.ts';
import { FEEDBACK } from './feedback-texts.ts';
import { evidenceText, unshownBy } from './judge-evidence.ts';
import type { LookUps } from '../model/plan/judge-evidence.ts';
import { verdictOn, verdictsAt, wordOn } from './gate.ts';
import { openPointsOf } from './open-points.ts';
import { plainLine } from '../text/plain-text.ts';
import { fewerVotes, fewerVotesText, replacedJudges } from './silent-judges.ts';
import { reportedText } from './reported.ts';
import { reasons } from '../text/reasons.ts';

/** The result of a finished run. Terminal, status, report, JSON and exit code all show this. */
export interface Conclusion {
  readonly outcome: RunEndedAs;
  /** One line. Contains "verified" only if every criterion and `verify` ran on the delivered work and passed. */
  readonly headline: string;
  readonly exitCode: 0 | 1;
  /** The whole reason: what failed, or why the playbook ended the run as done. May have several lines. */
  readonly why: string;
}

export interface ConclusionFacts {
  readonly board: Pick<Board, 'facts' | 'tasks' | 'records' | 'gate' | 'baseline' | 'branch' | 'finished' | 'mail'>;
  /** Why the work could not be published; undefined if it was, or if publishing was not requested. */
  readonly problem: string | undefined;
  /** The folder that the run made, as people name it; absent: it makes none. */
  readonly made?: string | undefined;
  /** Files that it wrote into a folder that was there before; absent: it made the whole folder. */
  readonly added?: readonly string[] | undefined;
  readonly strict: boolean;
}

export function concludeRun({ board, problem, made, added, strict }: ConclusionFacts): Conclusion {
  const finished = board.finished ?? { outcome: 'failed', why: 'the run ended without a decision' };
  const tasks = [...board.tasks.values()];
  const { outcome, why } = finished;
  const stood = [...standInNotes(board), ...replacedJudges(board)]
    .map((note) => `; ${cutLine(reasons(note), MOST_SUMMARY)}`)
    .join('');
  if (outcome === 'failed') {
    const first = firstCauseOf(board, why);
    return endedWithout(
      { outcome, why: first === undefined ? why : `${first}\nafter that: ${why}` },
      `${rejectionOf(board)}${stood}`,
    );
  }
  if (outcome !== 'done') return endedWithout({ outcome, why }, stood);
  if (problem !== undefined) return endedWithout({ outcome: 'failed', why: problem }, stood);
  const bad = failuresOf(board);
  if (bad.length > 0) return endedWithout({ outcome: 'failed', why: bad.join('\n') }, stood);
  // The folder that it made was checked before.
  if (made !== undefined) {
    const verb = added === undefined ? 'made' : 'completed';
    return { outcome: 'done', headline: `DONE, ${verb} ${made}${stood}`, exitCode: 0, why: finished.why };
  }
  const { open, remarks } = remarksOf(board, tasks, openPointsOf(board));
  const [changes, atBase] = [checkerChangesOf(board), checksAtBase(board)];
  const enough = fewerVotes(board).filter(({ isEnough }) => isEnough);
  const notes = [
    board.records.has(CHOICE) ? choiceText(board) : undefined,
    ...enough.map(fewerVotesText),
    blindText(board),
    flakyText(checkNotesOf(board)),
    checkersText(changes),
    atBaseText(atBase),
    reportedText(board),
  ].flatMap((text) => text ?? []);
  const said = [
    ...(remarks.length === 0 ? ['all work is delivered and verified'] : remarks),
    ...notes.map((text) => cutLine(reasons(text), MOST_NOTE)),
  ].join('; ');
  const isOpen = open || changes.some(({ accepted }) => accepted === undefined) || atBase.some(({ passed }) => !passed);
  return { outcome: 'done', headline: `DONE, ${said}${stood}`, exitCode: strict && isOpen ? 1 : 0, why: finished.why };
}

export function countTasks({ tasks }: Pick<Board, 'tasks'>): { all: number; done: number } {
  const done = [...tasks.values()].filter(({ work: { phase } }) => phase.at === 'ended' && phase.as === 'done');
  return { all: tasks.size, done: done.length };
}

/** Longest headline. `why` has the rest of a longer reason. */
const MOST_HEADLINE = 300;
/** Longest part of it that an agent wrote. */
const MOST_SUMMARY = 120;
/** Longest note on what checks did, or on what was done to them. */
const MOST_NOTE = 200;

/** `more`: what the headline says after the reason, however long that is. */
function endedWithout({ outcome, why }: { outcome: Exclude<RunEndedAs, 'done'>; why: string }, more = ''): Conclusion {
  const [word, said] = [outcome.toUpperCase(), reasons(why)];
  const whole = said.startsWith(`${outcome} `) ? said.replace(outcome, word) : `${word}, ${said}`;
  const line = cutLine(whole, MOST_HEADLINE - more.length);
  return { outcome, headline: `${line}${more}`, exitCode: 1, why };
}

/** The last words of reviewers whose rejection failed the run, and the file in the run's folder with all rounds. */
function rejectionOf(board: ConclusionFacts['board']): string {
  const [review] = failedReviewsOf(board);
  const last = review?.rounds.at(-1);
  if (review === undefined || last === undefined) return '';
  // The reason of a stage that judges the whole has its findings.
  const said = review.task === null ? '' : `; ${cutLine(reasons(last.text), MOST_SUMMARY)}`;
  return `${said}; all rounds: ${failureFileOf(review.stage)}`;
}

function cutLine(line: string, most: number): string {
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}

/** Work that is missing although the playbook ended the run as done, and that no person decided to leave out. */
function failuresOf(board: ConclusionFacts['board']): string[] {
  const tries = choicesOf(board);
  return [...board.tasks.values()].flatMap((state) => {
    const { task, work } = state;
    const skipped = tries.has(task.id) ? undefined : stallSkip(state);
    if (skipped !== undefined) return [skipped];
    const { phase } = work;
    if (phase.at !== 'ended' || phase.as !== 'failed' || task.owner !== 'engine' || !task.integrate) return [];
    return isMadeGood(board, state) ? [] : [`${task.title}: ${phase.why}`];
  });
}

/** `open`: something was not checked, is missing, or counts only because a person said so. `more`: what is open besides. */
function remarksOf(
  board: ConclusionFacts['board'],
  tasks: readonly TaskState[],
  more: readonly string[],
): { open: boolean; remarks: string[] } {
  const criteria = criteriaOf(board);
  const of = `of ${criteria.length} ${criteria.length === 1 ? 'criterion' : 'criteria'}`;
  const unchecked = criteria.filter(({ state }) => state !== 'met' && state !== 'judged').length;
  const judged = criteria.filter(({ state }) => state === 'judged');
  const judges = [...new Set(judged.map(({ by }) => by ?? ''))].join(', ');
  const people = (as: 'skipped' | 'done'): string[] => {
    const said = tasks.flatMap(({ task, work: { override, phase } }) =>
      override?.as === as && phase.at === 'ended' && phase.as === as ? [{ task: task.id, by: override.by }] : [],
    );
    const verb = as === 'skipped' ? 'skipped' : 'accepted';
    return [...new Set(said.map(({ by }) => by))].map(
      (by) => `${verb} by ${by}: ${said.flatMap((one) => (one.by === by ? [one.task] : [])).join(', ')}`,
    );
  };
  const decided = [...people('skipped'), ...people('done'), ...leftOut(board)];
  const nothing = criteria.length === 0 && !isVerified(board);
  return {
    open: unchecked > 0 || decided.length > 0 || nothing || more.length > 0,
    remarks: [
      ...(nothing ? ['nothing was checked'] : []),
      ...(unchecked > 0 ? [`${unchecked} ${of} not checked`] : []),
      ...unrunnable(board).map((one) => cutLine(reasons(one), MOST_SUMMARY)),
      ...(judged.length > 0 ? [`${judged.length} ${of} judged by ${judges}, not run`] : []),
      ...decided,
      ...more.map((one) => cutLine(reasons(one), MOST_SUMMARY)),
    ],
  };
}

/** Commands of `verify` that never ran, because a person said so. */
function leftOut({ baseline: { without } }: ConclusionFacts['board']): string[] {
  if (without === null) return [];
  return [`left out by ${without.by}: ${without.commands.map((run) => `\`${run}\``).join(', ')}`];
}

/** `verify` ran on the delivered work, and passed. */
function isVerified({ gate: { facts }, branch }: ConclusionFacts['board']): boolean {
  const ran = facts?.head === branch.head ? facts.commands.filter(({ purpose }) => purpose === 'verify') : [];
  return ran.length > 0 && ran.every(({ passed }) => passed);
}

/** The state of each criterion at the run branch's head. A checkbox or an author's claim does not count. */
export function criteriaOf({ facts, gate, branch }: Pick<Board, 'facts' | 'gate' | 'branch'>): CriterionStatus[] {
  const seen = gate.facts?.head === branch.head ? gate.facts : null;
  const own = facts.objective.criteria.map(({ text, command, proposed }, index): CriterionStatus => {
    const evidence = proposed === undefined ? null : `${proposed}: proposed by an agent; no person agreed to run it`;
    const unknown = { text, state: 'not-checked', by: null, evidence } as const;
    if (proposed !== undefined) return unknown;
    if (command !== undefined) {
      const ran = seen?.commands.find((one) => one.purpose === 'criterion' && one.run === command);
      if (ran === undefined) return unknown;
      if (isUnchecked(ran)) return { ...unknown, evidence: `its command cannot run: ${cannotRunText(ran)}` };
      return { text, state: ran.passed ? 'met' : 'failed', by: 'engine', evidence: evidenceOf(ran) };
    }
    return judgedStatus(text, index, { head: branch.head, ...(seen?.looked && { looked: seen.looked }) }, gate);
  });
  return [...own, ...protectedPaths(own.length, seen, gate)];
}

/** Before the engine has looked up its evidence, only “not met” counts. */
function judgedStatus(
  text: string,
  index: number,
  at: { readonly head: string; readonly looked?: LookUps },
  gate: Board['gate'],
): CriterionStatus {
  const said = verdictOn(index, at, gate);
  const { looked = {} } = at;
  if (said === undefined) {
    const [first] = verdictsAt(at.head, gate).filter(({ verdict }) => verdict.criterion === index);
    const why = first === undefined || at.looked === undefined ? undefined : unshownBy(first.by, first.verdict, looked);
    const evidence = why === undefined ? null : FEEDBACK.unmet(first?.by ?? 'its judge', why);
    return { text, state: 'not-checked', by: null, evidence };
  }
  const { by, verdict } = said;
  const shown = verdict.evidence === null ? '' : `${evidenceText(by, verdict.evidence, looked, at.head)}: `;
  return { text, state: verdict.met ? 'judged' : 'failed', by, evidence: `${shown}${verdict.why}` };
}

/** Each protected path that was changed is a criterion of its own. */
function protectedPaths(first: number, facts: Board['gate']['facts'], gate: Board['gate']): CriterionStatus[] {
  if (facts === null) return [];
  return protectedCriteria(facts.checkers).map(({ text, change: { accepted } }, index): CriterionStatus => {
    const said = wordOn(first + index, facts, gate);
    if (said !== undefined)
      return { text, state: said.verdict.met ? 'judged' : 'failed', by: said.by, evidence: said.verdict.why };
    if (accepted === undefined) return { text, state: 'not-checked', by: null, evidence: null };
    return { text, state: 'judged', by: accepted.join(', '), evidence: 'accepted in review' };
  });
}

function cannotRunText({ run, cannotRun = '' }: Pick<CheckFacts, 'run' | 'cannotRun'>): string {
  return `\`${plainLine(run, 120)}\`: ${plainLine(cannotRun, 200)}`;
}

/** Commands of criteria that nothing can run at the head, each once. */
function unrunnable({ gate: { facts }, branch }: ConclusionFacts['board']): string[] {
  const ran = facts?.head === branch.head ? facts.commands : [];
  return ran.filter(isUnchecked).map((one) => `cannot run ${cannotRunText(one)}`);
}

function evidenceOf({ run, passed, output }: { run: string; passed: boolean; output: string }): string {
  if (passed) return `${run}: exited with 0`;
  const last = output.trim().split('\n').at(-1)?.trim() ?? '';
  return last === '' ? `${run}: failed` : `${run}: failed: ${last}`;
}

/** A line for each account that stood in for another; empty: none did. */
export function standInNotes({ tasks }: Pick<Board, 'tasks'>): string[] {
  const all = [...tasks.values()].flatMap(({ work }) => work.standIns);
  const places = Map.groupBy(all, ({ account, insteadOf }) => `${account} stood in for ${insteadOf}`);
  return [
    ...[...places].map(([text, of]) => `${text} (${[...new Set(of.map(({ agent }) => agent))].join(', ')})`),
    ...judgedByOwn({ tasks }),
  ];
}

function judgedByOwn({ tasks }: Pick<Board, 'tasks'>): string[] {
  const own = [...tasks.values()].filter(({ work }) => work.standIns.some(({ isAuthors }) => isAuthors === true));
  return own.length === 0 ? [] : [`reviewed on the author's own runtime: ${own.map(({ task }) => task.id).join(', ')}`];
}
