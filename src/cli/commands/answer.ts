import { z } from 'zod';
import { SquadError } from '../../model/errors.ts';
import type { OpenQuestion } from '../../read-model/open-questions.ts';
import type { RunReading } from '../../read-model/read-run.ts';
import { openLedger } from '../../substrate/ledger/index.ts';
import type { AnswerOptions, CommandContext } from '../command-context.ts';
import { openRun, type OpenedRun } from '../open-run.ts';
import { operatorOf } from '../host.ts';
import { plainLine } from '../../text/plain-text.ts';

const MOST_CHARACTERS = 20_000;

/**
 * One word answers the only open question; with more words the first one is the question's id. squad never guesses, because
 * a recorded answer cannot be changed.
 */
export async function answer(context: CommandContext, words: readonly string[], options: AnswerOptions): Promise<void> {
  const opened = await openRun(context, options.run);
  const { row, questions, driven } = opened.reading;
  const [first = '', ...rest] = words;
  const question = rest.length === 0 ? onlyQuestion(opened.reading) : namedQuestion(opened.reading, first);
  const given = checkAnswer(question, rest.length === 0 ? first : rest.join(' '));
  const { seq, answer: text } = record(opened, { question: question.id, answer: given }, operatorOf(context.host));
  if (options.json === true) {
    context.output.json({ type: 'answered', runId: row.id, question: question.id, answer: text, seq, driven });
    return;
  }
  context.output.line(`answered  ${plainLine(question.id, 80)}: ${plainLine(text, 200)}`);
  const left = questions.filter(({ id, recorded }) => recorded === null && id !== question.id);
  for (const { id, text: asked } of left) {
    context.output.line(`open      ${plainLine(id, 80)}: ${plainLine(asked, 200)}`);
  }
  if (!driven) context.output.line(`Next: squad resume ${row.name}`);
}

/** Stores the answer, and returns it as stored, without secrets. */
function record({ directory, composition, reading }: OpenedRun, data: Answered, by: string) {
  const ledger = openLedger(directory, composition);
  try {
    const { seq, data: stored } = ledger.command(reading.row.id, 'answer', { ...data }, by);
    return { seq, ...answeredSchema.parse(stored) };
  } finally {
    ledger.close();
  }
}

const answeredSchema = z.object({ question: z.string(), answer: z.string() });
type Answered = Readonly<z.infer<typeof answeredSchema>>;

function onlyQuestion({ row, questions }: RunReading): OpenQuestion {
  const open = questions.filter(({ recorded }) => recorded === null);
  const [question, ...more] = open;
  if (question !== undefined && more.length === 0) return question;
  if (question === undefined) throw nothingOpen(row.name, questions);
  throw refusal(
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
  throw refusal(
    `${row.name} has no open question ${plainLine(id, 80)}`,
    `Open: ${idsOf(open)}. To answer without an id, quote the words: \`squad answer "yes, continue"\`.`,
  );
}

function nothingOpen(run: string, recorded: readonly OpenQuestion[]): SquadError {
  const [first] = recorded;
  if (first === undefined) return refusal(`${run} has no open question`, `See the run with \`squad status ${run}\`.`);
  return refusal(
    `${first.id} already has an answer: ${plainLine(first.recorded ?? '', 200)}`,
    `If no engine is running, continue with \`squad resume ${run}\`.`,
  );
}

/** The answer; for a question with options, spelled like the option. */
function checkAnswer({ id, options }: OpenQuestion, given: string): string {
  const text = given.trim();
  if (text === '') throw refusal(`the answer to ${id} is empty`, 'Write the answer after the question’s id.');
  if (text.length > MOST_CHARACTERS) {
    throw refusal(`the answer is longer than ${MOST_CHARACTERS} characters`, 'Shorten it, or name a file in it.');
  }
  if (options.length === 0) return text;
  const option = options.find((one) => one.toLowerCase() === text.toLowerCase());
  if (option !== undefined) return option;
  throw refusal(
    `${plainLine(text, 80)} is not an option of ${id}`,
    `One of: ${options.map((one) => `"${plainLine(one, 80)}"`).join(', ')}.`,
  );
}

function idsOf(questions: readonly OpenQuestion[]): string {
  return questions.map(({ id }) => plainLine(id, 80)).join(', ');
}

function refusal(message: string, next: string): SquadError {
  return new SquadError({ code: 'usage', message, next });
}
