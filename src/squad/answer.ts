import { z } from 'zod';
import { usageError, type SquadError } from '../model/errors.ts';
import { MOST_PATHS } from '../model/mail/bodies.ts';
import { pathSchema } from '../model/mail/wire-text.ts';
import { limitOf } from '../model/plan/task.ts';
import { PERMISSION_OPTIONS, questionOf } from '../view/permission-ask.ts';
import type { OpenQuestion } from '../view/open-questions.ts';
import { readRun, type RunReading } from '../view/read-run.ts';
import { listUnfinished } from '../view/unfinished.ts';
import { readEvent } from '../view/replay-plan.ts';
import { plainLine } from '../text/plain-text.ts';
import { operatorOf } from './machine.ts';
import { openAsks, writePermission } from './permission-asks.ts';
import { refuseUnusablePlan } from './plan-question.ts';
import { findCommand, storedKey, type CommandOptions } from './command-key.ts';
import { openRun, type OpenedRun } from './open-run.ts';
import { lookIn, withLedger, type Place } from './open-workspace.ts';

/** Options of `Squad.answer`. */
export interface AnswerOptions extends CommandOptions {
  /**
   * Files and folders that the task of the agent that asked may change besides its planned ones. Only for a question of a task that is
   * kept to planned paths.
   */
  readonly paths?: readonly string[] | undefined;
}

/** A recorded answer. */
export interface Answered {
  readonly runId: string;
  readonly name: string;
  readonly question: string;
  /** As stored: without secrets, and spelled like the option that it names. */
  readonly answer: string;
  /** Number of its event in the ledger. */
  readonly seq: number;
  /** An engine is running the run and continues with it. false: `resume` does. */
  readonly driven: boolean;
  /** The questions that are still open. */
  readonly open: readonly { readonly id: string; readonly text: string; readonly options: readonly string[] }[];
}

/** A plan of fifty tasks fits. */
const MOST_CHARACTERS = 60_000;

/** Records the answer to a question. It never guesses, because a recorded answer cannot be changed. */
export async function answer(
  place: Place,
  run: string | undefined,
  given: string,
  id: string | undefined,
  options: AnswerOptions = {},
): Promise<Answered> {
  const opened = await openAsking(place, run);
  const { row, driven } = opened.reading;
  const key = storedKey(row.id, options.key);
  const permissions = await openAsks(opened);
  const questions = [...opened.reading.questions, ...permissions.map(questionOf)];
  const known = findCommand(opened, key);
  // An answer that is stored was checked, and its question has it.
  const checked =
    known === undefined
      ? await checkedAnswer(opened, questions, { given, id, paths: options.paths ?? [] })
      : readEvent(known, knownSchema).data;
  const { seq, data } = await withLedger(opened, 'write', (ledger) =>
    ledger.command(row.id, 'answer', checked, operatorOf(place.host), key),
  );
  const ask = permissions.find((one) => one.id === checked.question);
  if (ask !== undefined) await writePermission(opened.directory, ask, checked.answer === PERMISSION_OPTIONS[0]);
  const open = questions.filter((one) => one.recorded === null && one.id !== checked.question);
  const { answer: stored } = storedSchema.parse(data);
  return { runId: row.id, name: row.name, question: checked.question, answer: stored, seq, driven, open };
}

/** Without a name the run that is running, or the newest; if that asks nothing, the only one that asks. */
async function openAsking(place: Place, name: string | undefined): Promise<OpenedRun> {
  const opened = await openRun(place, name);
  if (name !== undefined || asks(opened.reading) || (await openAsks(opened)).length > 0) return opened;
  const asking = lookIn(opened, (ledger, lockedBy, now) =>
    listUnfinished(ledger, lockedBy, now).filter(({ runId }) => asks(readRun(ledger, runId, lockedBy))),
  );
  const [only, ...others] = asking ?? [];
  if (only === undefined) return opened;
  if (others.length === 0) return openRun(place, only.runId);
  const names = [only, ...others].map((one) => one.name);
  throw usageError(`${names.length} runs ask: ${names.join(', ')}`, 'Name one: `squad answer --run RUN "…"`.');
}

function asks({ questions }: Pick<RunReading, 'questions'>): boolean {
  return questions.some(({ recorded }) => recorded === null);
}

/** The answer as stored, without secrets. */
const storedSchema = z.object({ answer: z.string() });
const knownSchema = z.object({ data: storedSchema.extend({ question: z.string() }) });

async function checkedAnswer(
  opened: OpenedRun,
  questions: readonly OpenQuestion[],
  { given, id, paths }: { readonly given: string; readonly id: string | undefined; readonly paths: readonly string[] },
): Promise<{ question: string; answer: string; paths?: string[] }> {
  const asked = { row: opened.reading.row, questions };
  const question = id === undefined ? onlyQuestion(asked) : namedQuestion(asked, id);
  const checked = checkAnswer(question, given);
  await refuseUnusablePlan(opened, question.id, checked);
  if (paths.length === 0) return { question: question.id, answer: checked };
  checkPaths(opened.reading, question.id, paths);
  return { question: question.id, answer: checked, paths: [...paths] };
}

/** Only the playbook can say later which of them it adds: the plan may have changed by then. */
function checkPaths({ board, row }: RunReading, id: string, paths: readonly string[]): void {
  const asked = board.questions.get(id);
  const tasks = asked?.by === 'mail' && asked.blocks !== 'run' ? asked.blocks : [];
  if (!tasks.some((task) => limitOf(board.tasks.get(task)?.task.requires ?? []) !== undefined)) {
    throw usageError(
      `${plainLine(id, 80)} comes from no task that is kept to planned paths, so there is nothing to add paths to`,
      `Answer without --paths. See the question with \`squad status ${row.name}\`.`,
    );
  }
  if (paths.length > MOST_PATHS) throw usageError(`an answer adds at most ${MOST_PATHS} paths`, 'Name folders.');
  const wrong = paths.find((path) => !pathSchema.safeParse(path).success);
  if (wrong !== undefined) {
    throw usageError(
      `${JSON.stringify(plainLine(wrong, 80))} is no path`,
      'Give 1 to 500 characters in one line for each.',
    );
  }
}

type Asked = Pick<RunReading, 'row' | 'questions'>;

function onlyQuestion({ row, questions }: Asked): OpenQuestion {
  const open = questions.filter(({ recorded }) => recorded === null);
  const [question, ...more] = open;
  if (question !== undefined && more.length === 0) return question;
  if (question === undefined) throw nothingOpen(row.name, questions);
  throw usageError(
    `${row.name} has ${open.length} open questions, so the answer needs the question’s id first`,
    `Open: ${idsOf(open)}.`,
  );
}

function namedQuestion({ row, questions }: Asked, id: string): OpenQuestion {
  const question = questions.find((one) => one.id === id);
  const open = questions.filter(({ recorded }) => recorded === null);
  if (question?.recorded === null) return question;
  if (question !== undefined) throw nothingOpen(row.name, [question]);
  if (open.length === 0) throw nothingOpen(row.name, questions);
  throw usageError(
    `${row.name} has no open question ${plainLine(id, 80)}`,
    `Open: ${idsOf(open)}. To answer without an id, quote the words: \`squad answer "yes, continue"\`.`,
  );
}

function nothingOpen(run: string, recorded: readonly OpenQuestion[]): SquadError {
  const [first] = recorded;
  if (first === undefined)
    return usageError(`${run} has no open question`, `See the run with \`squad status ${run}\`.`);
  return usageError(
    `${first.id} already has an answer: ${plainLine(first.recorded ?? '', 200)}`,
    `If no engine is running, continue with \`squad resume ${run}\`.`,
  );
}

/** The answer; for a question with options, spelled like the option. */
function checkAnswer({ id, options, freeText }: OpenQuestion, given: string): string {
  const text = given.trim();
  if (text === '') throw usageError(`the answer to ${id} is empty`, 'Write the answer after the question’s id.');
  if (text.length > MOST_CHARACTERS) {
    throw usageError(`the answer is longer than ${MOST_CHARACTERS} characters`, 'Shorten it, or name a file in it.');
  }
  const option = options.find((one) => one.toLowerCase() === text.toLowerCase());
  if (option !== undefined) return option;
  if (freeText) return text;
  throw usageError(
    `${plainLine(text, 80)} is not an option of ${id}`,
    `One of: ${options.map((one) => `"${plainLine(one, 80)}"`).join(', ')}.`,
  );
}

function idsOf(questions: readonly OpenQuestion[]): string {
  return questions.map(({ id }) => plainLine(id, 80)).join(', ');
}
