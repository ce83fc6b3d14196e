import { usageError } from '../../model/errors.ts';
import { coordinate as coordinateIn } from '../../squad/coordinate.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { newRunOf } from '../consent.ts';
import { printResult } from '../output.ts';
import { readArgument } from '../read-objective.ts';
import { run, showAndAsk } from './run.ts';

/** Designs a session: a run of one planner, whose result is a folder. Then `--run` runs that. */
export async function coordinate(
  context: CommandContext,
  given: string | undefined,
  options: Options<'coordinate'>,
): Promise<void> {
  const { host, output } = context;
  const { into, resume, run: goesOn } = options;
  if (given === undefined && resume !== true) {
    throw usageError('there is no objective', 'Name one: `squad coordinate objective.md`.');
  }
  const objective = given === undefined ? undefined : await readArgument(context, given);
  const show = await showAndAsk(context, options);
  const { running, folder, next, note, madeFor, invalid } = await coordinateIn({ host }, objective, {
    ...newRunOf(context, options),
    ...{ into, resume, ...show.drive },
  });
  for (const file of invalid)
    output.problem(
      `${plainLine(file)} is not valid. squad writes a new one and keeps yours as ${plainLine(file)}.theirs (or .theirs-2, …).`,
    );
  if (running === undefined) {
    printResult(output, options, { type: 'coordinated', folder, next: [next] }, [
      `${plainLine(folder)} is a valid session: nothing is missing.`,
      ...(goesOn === true ? [] : [`Next: ${next}`]),
    ]);
  } else {
    const end = await show.follow(running);
    if (end.outcome !== 'done') return;
  }
  if (goesOn !== true) {
    if (note !== undefined) output.problem(note);
    return;
  }
  const { name: _name, resume: _resume, model, ...others } = options;
  // A planner that has worked had the model, on its own runtime: the session's agents may be on others.
  const ofSession = running === undefined && model !== undefined ? { model } : {};
  await run(context, undefined, { ...others, ...ofSession, session: folder, madeFor });
}
