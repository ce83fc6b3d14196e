import { usageError } from '../../model/errors.ts';
import { exitCodeOf } from '../../model/run-state.ts';
import { plainText } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { askPlan } from './ask-plan.ts';
import { openAskedPlan } from './asked-plan.ts';
import { planPorts } from './plan-ports.ts';
import { TERMINAL_PROMPTS } from './prompts.ts';

/** Opens the plan that a run asks about in the editor, shows what changed, and asks what to do. undefined: the question stays open. */
export async function editAnswer(
  context: CommandContext,
  words: readonly string[],
  { run, json }: Options<'answer'>,
): Promise<{ readonly given: string; readonly question: string } | undefined> {
  if (json === true || !process.stdin.isTTY || !process.stderr.isTTY) {
    throw usageError(
      '--edit opens an editor, and this is no terminal for a person',
      'Answer with a file: `squad answer --file plan.yaml`. `squad show plan --json` has the plan.',
    );
  }
  const { opened, proposal } = await openAskedPlan(context, { run, words, flag: '--edit' });
  const say = (line: string): void => context.output.problem(plainText(line));
  const ports = { ...(await planPorts(context, opened)), prompts: TERMINAL_PROMPTS, say };
  const given = await askPlan(proposal, ports, new AbortController().signal, 'edit');
  if (given !== undefined) return { given, question: proposal.question };
  say(`Nothing is answered: ${opened.reading.row.name} still asks about ${proposal.question}.`);
  context.exit(exitCodeOf('waiting'));
  return undefined;
}
