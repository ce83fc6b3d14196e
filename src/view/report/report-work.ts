import { reviewOfRound, roundsOf } from '../../model/plan/open-review.ts';
import { reasons } from '../../text/reasons.ts';
import { judgedStagesOf } from '../../rules/failed-reviews.ts';
import { reportedOf } from '../../rules/reported.ts';
import { isRepeated } from '../../rules/review.ts';
import { authorAttempts } from '../../rules/work-status.ts';
import type { TaskState } from '../../model/plan/board.ts';
import { cascadeText } from '../../model/plan/cascade.ts';
import { LATE_FINDINGS } from '../../model/plan/review.ts';
import { lookOf, lookText, type Look } from '../../model/plan/look.ts';
import type { NewTask } from '../../model/plan/task.ts';
import type { RoundRecord } from '../../model/plan/round-record.ts';
import type { Rejection } from '../../model/rejection.ts';
import type { TaskFailure } from '../../model/task-failure.ts';
import {
  code,
  commands,
  cut,
  heading,
  list,
  oneLine,
  ownWords,
  paragraph,
  quote,
  section,
  strong,
  tableSection,
  words,
  type Block,
  type Section,
  type Text,
} from './document.ts';
import { judgeWords } from '../judge-words.ts';
import type { RunReading } from '../read-run.ts';

/** For each task that was not delivered: the reason, the evidence, its work, the next command and all its feedback. */
export function failuresSection(
  { board }: RunReading,
  failures: readonly TaskFailure[],
  rejections: readonly Rejection[],
): Section | undefined {
  const blocks = failures.flatMap((failure) => {
    const state = board.tasks.get(failure.task);
    return state === undefined ? [] : failureOf(state, failure, rejections);
  });
  return section('Not delivered', [
    ...blocks,
    ...rejections.filter(({ task }) => task === null).flatMap(rejectedWhole),
  ]);
}

/** Rejections of the whole work by a stage that judges it. */
function rejectedWhole({ stage, cap, rounds, file }: Rejection): Block[] {
  const last = `in round ${rounds.at(-1)?.round ?? 0} of ${cap}`;
  return [
    heading(code(stage)),
    paragraph(words`${ownWords('Rejected', 'bad')} ${ownWords(last)}. ${code(file)} has every round.`),
    ...rounds.flatMap(({ round, text, repeated }) => {
      const same = repeated ? ', not converging: the same findings as in the round before' : '';
      return [paragraph(words`Round ${ownWords(`${round}${same}`)}:`), quote(text)];
    }),
  ];
}

const HOW: Readonly<Record<TaskFailure['as'], string>> = {
  failed: 'Failed',
  cancelled: 'Cancelled',
  blocked: 'Blocked',
};

function failureOf({ task, work }: TaskState, failure: TaskFailure, rejections: readonly Rejection[]): Block[] {
  const { as, cause } = failure;
  const { phase } = work;
  const attempts = authorAttempts(work);
  const rounds = `round ${work.round}, ${attempts} attempt${attempts === 1 ? '' : 's'}`;
  const why = phase.at === 'ended' ? phase.why.trim() : '';
  const how = `${HOW[as]}${cause === null || cause === as ? '' : ` (${cause})`}`;
  return [
    heading(words`${code(task.id)}: ${cut(task.title, 80)}`),
    paragraph(words`${ownWords(how, 'bad')} in ${ownWords(rounds)}: ${reasons(why)}`),
    // The last feedback is often the reason itself.
    ...(why.includes('\n') && !work.feedback.includes(why) ? [quote(why)] : []),
    ...cancelledOf(failure),
    ...wordsOf(failure),
    ...errorsOf(failure),
    ...commandsOf(failure),
    ...work.feedback.flatMap((text, index) => [
      paragraph(words`Feedback ${index + 1} of ${work.feedback.length}:`),
      quote(text),
    ]),
    ...rejections.flatMap((one) =>
      one.task === task.id ? [paragraph(words`${code(one.file)} has every round.`)] : [],
    ),
  ];
}

function cancelledOf({ cancelled }: TaskFailure): Block[] {
  if (cancelled.length === 0) return [];
  return [paragraph(words`${ownWords(cascadeText(cancelled.length))}: ${cut(cancelled.join(', '), 1_000)}`)];
}

function wordsOf({ agent, lastWords, ended }: TaskFailure): Block[] {
  if (agent === null) return [];
  return [
    ...(lastWords === null ? [] : [paragraph(words`The last words of ${agent}:`), quote(lastWords)]),
    ...(ended === null ? [] : [paragraph(words`How its turn ended:`), quote(ended)]),
  ];
}

function errorsOf({ errors }: TaskFailure): Block[] {
  if (errors.length === 0) return [];
  const lines = errors.map(({ tool, input, output, denied }) => {
    const call = oneLine(input) === '' ? tool : words`${tool} ${input}`;
    const said = output === '' ? [] : words`: ${cut(output, 900)}`;
    return words`${call} ${ownWords(denied ? 'was denied' : 'failed')}${said}`;
  });
  return [paragraph(ownWords('Tool calls that failed:')), list(lines)];
}

/** The commands contain only slugs, refs and commit ids, so they need no quoting. */
function commandsOf({ work, next }: TaskFailure): Block[] {
  return [
    ...(work === null ? [] : [paragraph(words`Its work is kept at ${code(work.ref)}:`), commands([work.show])]),
    ...(next.length === 0 ? [] : [paragraph(ownWords('Next:')), commands(next)]),
  ];
}

/** Each round on one line. The section of a failed task has its feedback in full. */
export function reviewsSection({ board }: RunReading): Section | undefined {
  const rows = [...board.tasks.values()].flatMap(({ task, work }) =>
    work.rounds.map((round, index): Text[] => {
      const [by, said] = judged(round.by, round.feedback);
      return [
        code(task.id),
        ownWords(roundText(round, task)),
        code(round.commit.slice(0, 12)),
        votesOf(round, roundsOf(work.rounds.slice(0, index), { id: round.review })),
        by,
        words`${repliesOf(round)}${settledText(round)}${cut(said, 400)}`,
      ];
    }),
  );
  const ofStages = judgedStagesOf(board).flatMap(({ stage, cap, rounds }) =>
    rounds.map(({ round, approved, repeated, by, text }): Text[] => {
      const [names, said] = judged(by, text);
      const verdict = verdictText(approved, repeated);
      return [code(stage), ownWords(`${round} of ${cap}`), ownWords('all'), verdict, names, cut(said, 400)];
    }),
  );
  rows.push(...ofStages);
  return tableSection('Reviews', ['task', 'round', 'commit', 'verdict', 'by', 'feedback'], rows);
}

interface Judge {
  readonly role: string;
  readonly agent: string;
}

/** Who judged, and what was said without the name and verdict of the only judge, which have columns of their own. */
function judged(by: readonly Judge[], text: string): readonly [by: string, said: string] {
  let names = '';
  for (const { role, agent } of by)
    names += `${names === '' ? '' : ', '}${role === agent ? agent : `${role} (${agent})`}`;
  const [first] = by;
  if (by.length !== 1 || first === undefined) return [names, text];
  const only = `${names}: `;
  const said = judgeWords(text);
  return [names, said.startsWith(only) ? said.slice(only.length) : said];
}

function repliesOf({ disagreed = [] }: RoundRecord): Text {
  return disagreed.map(({ finding, why }) => words`${ownWords(finding)}: its author disagrees: ${cut(why, 200)}. `);
}

function settledText({ settled = [] }: RoundRecord): Text {
  return settled.length === 0 ? '' : ownWords(`${settled.map(({ finding, as }) => `${finding} ${as}`).join(', ')}. `);
}

function roundText(round: RoundRecord, task: NewTask): string {
  const of = round.review === undefined ? '' : `${round.review}, `;
  return `${of}${round.round} of ${reviewOfRound(task, round)?.rounds ?? round.round}`;
}

/** Fewer votes than were asked for are no full approval. */
function votesOf(round: RoundRecord, earlier: readonly RoundRecord[]): Text {
  const verdict = verdictOf(round, earlier);
  const { silent = [] } = round;
  if (silent.length === 0) return verdict;
  return words`${verdict}, ${strong(ownWords('without a verdict'), 'bad')} of ${silent.map(({ role }) => role).join(', ')}`;
}

function verdictOf({ approved, overruled, findings, by }: RoundRecord, earlier: readonly RoundRecord[]): Text {
  if (overruled === true) return words`${strong(ownWords('rejected'), 'bad')}, overruled: ${ownWords(LATE_FINDINGS)}`;
  // One look is enough where several reviewers approve.
  const looks = by.flatMap(({ approved: yes, look }): Look[] => (yes ? [look ?? 'some'] : []));
  return approved
    ? ownWords(
        `approved${lookText(looks.reduce<Look | undefined>(lookOf, undefined))}`,
        looks.includes('none') ? undefined : 'good',
      )
    : verdictText(false, isRepeated(findings, earlier));
}

function verdictText(approved: boolean, isRepetition: boolean): Text {
  if (approved) return ownWords('approved', 'good');
  const rejected = strong(ownWords('rejected'), 'bad');
  return isRepetition ? words`${rejected}, not converging: the same findings as before` : rejected;
}

export function followUpsSection({ board }: RunReading): Section | undefined {
  const lines = [...board.tasks.values()].flatMap(({ task, work }) =>
    work.followUps.map((text) => words`${code(task.id)}: ${cut(text, 600)}`),
  );
  if (lines.length === 0) return undefined;
  const what = ownWords('Reviewers remarked this. It blocked nothing, and was not done.');
  return section('Follow-ups', [paragraph(what), list(lines)]);
}

/** Assumptions and gaps of delivered work, as its authors say. */
export function reportedSection({ board }: RunReading): Section | undefined {
  const lines = reportedOf(board).flatMap(({ task, assumed, notDone }) => [
    ...assumed.map((text) => words`${code(task)} ${ownWords('assumes')}: ${cut(text, 600)}`),
    ...notDone.map((text) => words`${code(task)} ${strong(ownWords('lacks'))}: ${cut(text, 600)}`),
  ]);
  if (lines.length === 0) return undefined;
  const what = ownWords('The authors of delivered tasks say this. squad has not checked it.');
  return section('Assumed, and not done', [paragraph(what), list(lines)]);
}
