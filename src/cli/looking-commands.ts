import type { Command } from 'commander';
import type { AnswerOptions, CleanOptions, CommandContext } from './command-context.ts';
import { example } from './option-values.ts';

/** What can be asked of a run, and done about it, without driving it. */
export function addLookingCommands(program: Command, context: CommandContext): void {
  const run = 'a run, by name or id; otherwise the one that an engine drives, or the newest';
  program
    .command('status')
    .description('Say where a run stands: its tasks, success criteria, use, and what it waits for.')
    .argument('[run]', run)
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('squad status'))
    .action(async (name: string | undefined, options: { json?: boolean }) =>
      (await import('./commands/status.ts')).status(context, name, options),
    );
  program
    .command('answer')
    .description('Answer a question that a run asks.')
    .argument(
      '<words...>',
      'the question’s id and the answer; one word (or quoted text) answers the only open question',
    )
    .option('--run <run>', run)
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('squad answer "try again"', 'squad answer engine/auth/claude give up'))
    .action(async (words: string[], options: AnswerOptions) =>
      (await import('./commands/answer.ts')).answer(context, words, options),
    );
  program
    .command('report')
    .description('Print the report of a run: outcome, evidence, what changed, what it cost, what was tried again.')
    .argument('[run]', run)
    .option('--json', 'print one JSON object, with the path of the file and its text')
    .addHelpText('after', example('squad report'))
    .action(async (name: string | undefined, options: { json?: boolean }) =>
      (await import('./commands/report.ts')).report(context, name, options),
    );
  program
    .command('clean')
    .description('Remove what finished runs left: worktrees, once all that is in them is in a commit.')
    .argument('[run]', run)
    .option('--all', 'all runs that are over')
    .option('--dry-run', 'change nothing, and say what would be done')
    .option('--turns', 'also the folders of their turns: prompts and raw outputs')
    .option('--refs', 'also refs/squad/<run>, and the run branch where another branch has its work')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('squad clean --all --dry-run'))
    .action(async (name: string | undefined, options: CleanOptions) =>
      (await import('./commands/clean.ts')).clean(context, name, options),
    );
}
