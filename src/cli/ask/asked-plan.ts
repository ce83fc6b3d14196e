import { usageError } from '../../model/errors.ts';
import type { Proposal } from '../../model/plan/proposal.ts';
import { openRun, type OpenedRun } from '../../squad/open-run.ts';
import { openProposal } from '../../view/proposed-plan.ts';
import type { CommandContext } from '../command-context.ts';

/** The plan that a run asks about. `words`: what a person wrote as an answer. Throws `usage` if it asks about none, or they name another. */
export async function openAskedPlan(
  context: Pick<CommandContext, 'host'>,
  { run, words, flag }: { readonly run: string | undefined; readonly words: readonly string[]; readonly flag: string },
): Promise<{ readonly opened: OpenedRun; readonly proposal: Proposal }> {
  const opened = await openRun(context, run);
  const proposal = openProposal(opened.reading);
  const { name } = opened.reading.row;
  if (proposal === undefined) {
    throw usageError(
      `${name} asks about no plan, and ${flag} is for a plan`,
      `See what it asks with \`squad status ${name}\`.`,
    );
  }
  const { question } = proposal;
  if (words.length > 0 && words.join(' ') !== question) {
    throw usageError(
      `${flag} answers ${question}, and nothing else can be answered with it`,
      `Give only the flag: \`squad answer ${question} ${flag}${flag === '--file' ? ' …' : ''}\`.`,
    );
  }
  return { opened, proposal };
}
