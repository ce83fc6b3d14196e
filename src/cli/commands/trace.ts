import { traceRun } from '../../squad/trace.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import { placeText } from '../../view/tracing-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { printResult } from '../output.ts';

/** Sends the traces of a run that no one drives. Exit 1 if something of it was not sent. */
export async function trace(
  context: CommandContext,
  run: string | undefined,
  options: Options<'trace'>,
): Promise<void> {
  const { output, exit } = context;
  const { name, why, unscored, ...traced } = await traceRun(context, run, options);
  const { sent, dropped, scored, link } = traced;
  printResult(output, options, { type: 'trace', name, ...traced, why: why ?? null }, [
    `${counted(sent, 'span')} of ${name} sent to ${placeText(traced)}, ${dropped} dropped${scored > 0 ? `; ${counted(scored, 'score')}` : ''}`,
    ...(link === undefined ? [] : [plainLine(link, 300)]),
  ]);
  if (unscored !== undefined) output.problem(`squad: the scores were not sent: ${unscored}`);
  if (dropped === 0) return unscored === undefined ? undefined : exit(1);
  output.problem(`squad: ${dropped} dropped: ${plainLine(why ?? '', 200)}`);
  output.problem(
    `Next: once that is fixed, run \`squad trace ${name}\` again. It sends no span twice under another id.`,
  );
  exit(1);
}
