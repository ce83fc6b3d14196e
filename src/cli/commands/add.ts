import { readQueue } from '../../squad/queue.ts';
import { submit, type SubmittedRun } from '../../squad/submit.ts';
import type { Named } from '../../squad/sources/source-of.ts';
import { findService } from '../../squad/service/service-lock.ts';
import { openWorkspace } from '../../squad/open-workspace.ts';
import { otherDriver } from '../../substrate/ledger/workspace-lock.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { newRunOf } from '../consent.ts';
import { givenSource } from '../given-source.ts';
import { printResult } from '../output.ts';

/** Puts an objective into the queue. */
export async function add(context: CommandContext, given: string | undefined, options: Options<'add'>): Promise<void> {
  const objective = await givenSource(context, given, options);
  const submitted = await submitHere(context, objective, options);
  const { runId, name, known } = submitted;
  const place = (await readQueue(context)).findIndex((run) => run.runId === runId) + 1;
  const { output } = context;
  if (options.json === true) return output.json({ type: 'run-queued', runId, name, known, place: place || null });
  if (known) return output.line(`${name} was added before: \`squad status ${name}\`.`);
  const { directory } = await openWorkspace(context);
  printResult(output, options, {}, [`${name} is in the queue, at place ${place}.`, nextText(directory)]);
}

/** Who starts it. */
function nextText(directory: string): string {
  if (otherDriver(directory) !== undefined)
    return 'The engine that works here takes it when it has a free place: `squad queue`.';
  return findService(directory) === null
    ? 'No engine works here: `squad resume --all` starts the queue.'
    : '`squad serve` runs here and starts it: `squad queue`.';
}

/** Submits a run with the checks and questions of this terminal, and prints its warnings. */
export async function submitHere(
  context: CommandContext,
  objective: Named,
  options: Options<'add'>,
  attended = false,
): Promise<SubmittedRun> {
  const { key, after, priority } = options;
  const submitted = await submit(context, objective, { ...newRunOf(context, options), key, after, priority, attended });
  for (const text of submitted.warnings) context.output.problem(`note: ${plainLine(text, 800)}`);
  return submitted;
}
