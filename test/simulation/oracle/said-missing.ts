import { pieceOf } from './stage-of.ts';
import type { OracleFacts } from './oracle.ts';
import type { TurnSeen, WorldRecord } from './record.ts';

/** Forms whose list of what is missing keeps the run from its end as done, unless a person says otherwise. */
const DECISIVE = new Set(['followUps left summary tryIt', 'failures passed summary']);

/** Why the run may not be called done, by the words of its own agents. */
export function saidMissing({ record, git }: OracleFacts): string[] {
  const { head } = git;
  // Without the commit of a piece, nothing of it is tested any more.
  const accepted = new Set(
    record.words.flatMap(({ task, as, verb }) => {
      if (as !== 'done' && verb !== 'skip') return [];
      return task.endsWith('-commit') ? [task, `${pieceOf(task)}-test`] : [task];
    }),
  );
  const files = head === undefined ? new Map<string, string>() : git.filesAt(head);
  return [
    ...lastTurns(record).flatMap(({ id, form, task, open }) =>
      DECISIVE.has(form) && open.length > 0 && !accepted.has(task) ? [`${id} said: ${open.join(', ')}`] : [],
    ),
    ...record.givenUp.flatMap(({ turn, task }) => {
      const last = record.turns.findLast((one) => one.task === task && one.isDone && one.form !== REVIEW);
      const of = record.turns.find(({ id }) => id === turn);
      return last?.id === turn && of?.form !== REVIEW && !accepted.has(task) && !task.startsWith('answer-')
        ? [`${turn} gave ${task} up`]
        : [];
    }),
    ...record.turns.flatMap(({ id, stray, task }) =>
      stray !== undefined && files.get(stray.path) === stray.text && !accepted.has(task)
        ? [`${id} left ${stray.path}`]
        : [],
    ),
  ];
}

const REVIEW = 'approved checks findings settled summary';

/** What has to be in the last word of a run that is done all the same: patterns of parts of its headline. */
export function openParts({ record, definition }: OracleFacts): { readonly part: RegExp; readonly why: string }[] {
  const closing = lastTurns(record).filter(({ form }) => form === 'open_points summary');
  return [
    ...closing.flatMap(({ open, id }) =>
      open.map((text) => ({ part: new RegExp(text), why: `${id} said that something is open: ${text}` })),
    ),
    ...unanswered(record).map(({ id }) => ({ part: /not answered/, why: `${id} was never answered` })),
    ...falsePromises(record).map((id) => ({
      part: /documentation/,
      why: `${id} promised a document that is not there`,
    })),
    ...(checksNothing(definition) ? [{ part: /^CHECK was skipped/, why: 'CHECK had nothing to check' }] : []),
    ...silent(record).map((task) => ({ part: new RegExp(`\\b${task}\\b`, 'i'), why: `nothing came of ${task}` })),
  ];
}

/** A list has a stage that runs the commands of criteria, and no criterion has one. */
function checksNothing({ options, objective }: OracleFacts['definition']): boolean {
  const isThere = JSON.stringify(options).includes('"checks":"criteria"');
  return isThere && objective.criteria.every(({ command }) => command === undefined);
}

/** The last turn of each task that came to its end. */
function lastTurns({ turns }: WorldRecord): TurnSeen[] {
  return [...new Map(turns.filter(({ isDone }) => isDone).map((turn) => [`${turn.task} ${turn.form}`, turn])).values()];
}

/** Questions of turns that came to their end, and that no one was heard to answer. With a skipped task goes what it asked. */
function unanswered({ questions, turns, answers, words }: WorldRecord): { id: string }[] {
  const isSkipped = (task: string): boolean => words.findLast((word) => word.task === task)?.verb === 'skip';
  const isAnswered = (id: string): boolean =>
    answers.some(({ question }) => question === `mail/${id.split('-').at(-1) ?? ''}`) ||
    turns.some(
      ({ prompt, form, isDone }) => form === 'answer doc_path doc_updated reason' && isDone && prompt.includes(id),
    );
  return questions.filter(({ id, turn }) => {
    const asked = turns.find((one) => one.id === turn && one.isDone);
    return asked !== undefined && !isSkipped(asked.task) && !isAnswered(id);
  });
}

/** Answers that say that the documentation has it, whose task wrote nothing in the end. */
function falsePromises({ turns }: WorldRecord): string[] {
  const tasks = [
    ...new Set(turns.flatMap(({ form, task }) => (form === 'answer doc_path doc_updated reason' ? [task] : []))),
  ];
  return tasks.flatMap((task) => {
    const all = turns.filter(
      (turn) => turn.task === task && turn.form === 'answer doc_path doc_updated reason' && turn.isDone,
    );
    const last = all.at(-1);
    const isWritten = all.some(({ wrote }) => wrote !== undefined);
    return last !== undefined && last.owns && promises(last) && !isWritten ? [last.id] : [];
  });
}

function promises({ answer }: TurnSeen): boolean {
  return typeof answer === 'object' && answer !== null && 'reason' in answer && answer['reason'] === '';
}

/** Tasks that were begun, and of which no turn came to its end. */
function silent({ turns, words }: WorldRecord): string[] {
  const decided = new Set(words.map(({ task }) => task));
  const tasks = [...new Set(turns.map(({ task }) => task))];
  return tasks.filter(
    (task) =>
      !decided.has(task) &&
      !/^(?:answer-|judge|foreign)/.test(task) &&
      turns.every((turn) => turn.task !== task || !turn.isDone),
  );
}
