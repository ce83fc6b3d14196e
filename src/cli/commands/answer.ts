import { resolve } from 'node:path';
import { badInput, usageError } from '../../model/errors.ts';
import { squadOn } from '../../squad/squad.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { printResult } from '../output.ts';

/** One word answers the only open question; with more words the first one is the question's id. */
export async function answer(
  context: CommandContext,
  words: readonly string[],
  options: Options<'answer'>,
): Promise<void> {
  const { host, output } = context;
  const { given, question } =
    options.file === undefined ? answerIn(words) : await planIn(context, options.file, words, options.run);
  const { name, open, ...found } = await squadOn(host).answer(options.run, given, question, {
    paths: pathsOf(options),
  });
  printResult(output, options, { type: 'answered', ...found }, [
    `answered  ${plainLine(found.question, 80)}: ${plainLine(found.answer, 200)}`,
    ...open.map(({ id, text }) => `open      ${plainLine(id, 80)}: ${plainLine(text, 200)}`),
    ...(found.driven ? [] : [`Next: squad resume ${name}`]),
  ]);
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
  const { openRun } = await import('../../squad/open-run.ts');
  const { openProposal } = await import('../../view/proposed-plan.ts');
  const { orThrow, readText } = await import('../../squad/preflight/read-input.ts');
  const { readPlanFile } = await import('../ask/plan-file.ts');
  const { reading } = await openRun(context, run);
  const question = openProposal(reading)?.question;
  if (question === undefined) {
    const next = `See what it asks with \`squad status ${reading.row.name}\`.`;
    throw usageError(`${reading.row.name} asks about no plan, and --file is for a plan`, next);
  }
  if (words.length > 0 && words.join(' ') !== question) {
    const next = `Give only the file: \`squad answer ${question} --file …\`.`;
    throw usageError(`--file answers ${question}, and nothing else can be answered with it`, next);
  }
  const file = await readText(resolve(context.host.workingDirectory, path), path);
  if (file.type === 'absent') throw usageError(`${plainLine(path)} does not exist`, 'Name a file with the plan.');
  const read = readPlanFile(orThrow(file, path));
  const problems = read === undefined ? ['it is empty'] : read.ok ? [] : read.problems;
  if (read === undefined || !read.ok) {
    const text = problems.map((problem) => `- ${plainLine(problem, 400)}`).join('\n');
    throw badInput(`${plainLine(path)} has no plan:\n${text}`, 'Correct it and answer again. Nothing is recorded yet.');
  }
  return { given: JSON.stringify(read.plan), question };
}
