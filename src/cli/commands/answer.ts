import { resolve } from 'node:path';
import { usageError } from '../../model/errors.ts';
import { readPlanAnswer } from '../../model/plan/proposal.ts';
import { squadOn } from '../../squad/squad.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { canOffer, offerResume } from '../offer-resume.ts';
import { printResult } from '../output.ts';

/** One word answers the only open question; with more words the first one is the question's id. */
export async function answer(
  context: CommandContext,
  words: readonly string[],
  options: Options<'answer'>,
): Promise<void> {
  const { host, output, remote } = context;
  const asked = await givenIn(context, words, options);
  if (asked === undefined) return;
  const { given, question } = asked;
  const { name, open, ...found } = await (remote ?? squadOn(host)).answer(options.run, given, question, {
    paths: pathsOf(options),
  });
  const isDue = !found.driven && open.length === 0;
  const canResume = isDue && canOffer(context, options);
  printResult(output, options, { type: 'answered', ...found }, [
    `answered  ${plainLine(found.question, 80)}: ${answerText(found.answer, options)}`,
    ...open.map(({ id, text }) => `open      ${plainLine(id, 80)}: ${plainLine(text, 200)}`),
    ...(found.driven || canResume ? [] : [`Next: squad resume ${name}`]),
  ]);
  if (canResume) await offerResume(context, name);
}

/** undefined: the person left it open. */
async function givenIn(
  context: CommandContext,
  words: readonly string[],
  options: Options<'answer'>,
): Promise<Given | undefined> {
  const { edit, file, run } = options;
  if (edit !== true) return file === undefined ? answerIn(words) : planIn(context, file, words, run);
  if (file !== undefined) throw usageError('--edit cannot be combined with --file', 'Leave out one of them.');
  return (await import('../ask/edit-answer.ts')).editAnswer(context, words, options);
}

/** A person who gave a plan has seen it. */
function answerText(answer: string, { edit, file }: Options<'answer'>): string {
  const isPlan = (edit === true || file !== undefined) && readPlanAnswer(answer).say === 'edited';
  return isPlan ? 'your version of the plan' : plainLine(answer, 200);
}

function pathsOf({ paths }: Options<'answer'>): readonly string[] {
  return (paths ?? '').split(',').flatMap((path) => (path.trim() === '' ? [] : [path.trim()]));
}

interface Given {
  readonly given: string;
  readonly question: string | undefined;
}

function answerIn([first, ...rest]: readonly string[]): Given {
  if (first === undefined) {
    throw usageError('the answer is missing', 'Write it in quotes: `squad answer "try again"`.');
  }
  return rest.length === 0 ? { given: first, question: undefined } : { given: rest.join(' '), question: first };
}

/** A person's version of the plan that the run asks about, from a file. */
async function planIn(
  context: CommandContext,
  path: string,
  words: readonly string[],
  run: string | undefined,
): Promise<Given> {
  const { openAskedPlan } = await import('../ask/asked-plan.ts');
  const { orThrow, readText } = await import('../../squad/preflight/read-input.ts');
  const { requirePlan } = await import('../ask/plan-file.ts');
  const { question } = (await openAskedPlan(context, { run, words, flag: '--file' })).proposal;
  const file = await readText(resolve(context.host.workingDirectory, path), path);
  if (file.type === 'absent') throw usageError(`${plainLine(path)} does not exist`, 'Name a file with the plan.');
  return { given: JSON.stringify(requirePlan(orThrow(file, path), path)), question };
}
