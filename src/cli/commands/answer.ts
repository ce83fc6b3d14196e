import { z } from 'zod';
import { usageError, type SquadError } from '../../model/errors.ts';
import type { OpenQuestion } from '../../read-model/open-questions.ts';
import type { RunReading } from '../../read-model/read-run.ts';
import type { CommandContext, RunNameOptions } from '../command-context.ts';
import { openRun, writeLedger } from '../open-run.ts';
import { operatorOf } from '../host.ts';
import { printResult } from '../output.ts';
import { plainLine } from '../../text/plain-text.ts';

const MOST_CHARACTERS = 20_000;

/**
 * One word answers the only open question; with more words the first one is the question's id. squad never guesses, because
 * a recorded answer cannot be changed.
 */
export async function answer(
  context: CommandContext,
  words: readonly string[],
  options: RunNameOptions,
): Promise<void> {
  const opened = await openRun(context, options.run);
  const { row, questions, driven } = opened.reading;
  const [first = '', ...rest] = words;
  const question = rest.length === 0 ? onlyQuestion(opened.reading) : namedQuestion(opened.reading, first);
  const given = checkAnswer(question, rest.length === 0 ? first : rest.join(' '));
  const { seq, data } = await writeLedger(opened, (ledger) =>
    ledger.command(row.id, 'answer', { question: question.id, answer: given }, operatorOf(context.host)),
  );
  const { answer: text } = storedSchema.parse(data);
  const found = { type: 'answered', runId: row.id, question: question.id, answer: text, seq, driven };
  const left = questions.filter(({ id, recorded }) => recorded === null && id !== question.id);
  printResult(context.output, options, found, [
    `answered  ${plainLine(question.id, 80)}: ${plainLine(text, 200)}`,
    ...left.map(({ id, text: asked }) => `open      ${plainLine(id, 80)}: ${plainLine(asked, 200)}`),
    ...(driven ? [] : [`Next: squad resume ${row.name}`]),
  ]);
}

/** The answer as stored, without secrets. */
const storedSchema = z.object({ answer: z.string() });

function onlyQuestion({ row, questions }: RunReading): OpenQuestion {
  const open = questions.filter(({ recorded }) => recorded === null);
  const [question, ...more] = open;
  if (question !== undefined && more.length === 0) return question;
  if (question === undefined) throw nothingOpen(row.name, questions);
  throw usageError(
    `${row.name} has ${open.length} open questions, so the answer needs the question’s id first`,
    `Open: ${idsOf(open)}.`,
  );
}

function namedQuestion({ row, questions }: RunReading, id: string): OpenQuestion {
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
function checkAnswer({ id, options }: OpenQuestion, given: string): string {
  const text = given.trim();
  if (text === '') throw usageError(`the answer to ${id} is empty`, 'Write the answer after the question’s id.');
  if (text.length > MOST_CHARACTERS) {
    throw usageError(`the answer is longer than ${MOST_CHARACTERS} characters`, 'Shorten it, or name a file in it.');
  }
  if (options.length === 0) return text;
  const option = options.find((one) => one.toLowerCase() === text.toLowerCase());
  if (option !== undefined) return option;
  throw usageError(
    `${plainLine(text, 80)} is not an option of ${id}`,
    `One of: ${options.map((one) => `"${plainLine(one, 80)}"`).join(', ')}.`,
  );
}

function idsOf(questions: readonly OpenQuestion[]): string {
  return questions.map(({ id }) => plainLine(id, 80)).join(', ');
}
