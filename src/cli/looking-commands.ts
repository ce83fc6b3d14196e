import type { Command } from 'commander';
import type { AnswerOptions, CleanOptions, CommandContext } from './command-context.ts';
import { example } from './option-values.ts';

/** Commands that show a run, answer its questions or clean up after it. */
export function addLookingCommands(program: Command, context: CommandContext): void {
  const run = 'name or id of a run (default: the one that is running, or the newest)';
  program
    .command('status')
    .description('Show the tasks, success criteria and usage of a run, and what it waits for.')
    .argument('[run]', run)
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('squad status'))
    .action(async (name: string | undefined, options: { json?: boolean }) =>
      (await import('./commands/status.ts')).status(context, name, options),
    );
  program
    .command('answer')
    .description('Answer a question from a run.')
    .argument(
      '<words...>',
      'the question’s id and the answer; a single word or quoted text answers the only open question',
    )
    .option('--run <run>', run)
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('squad answer "try again"', 'squad answer engine/auth/claude give up'))
    .action(async (words: string[], options: AnswerOptions) =>
      (await import('./commands/answer.ts')).answer(context, words, options),
    );
  program
    .command('report')
    .description('Print the report of a run: outcome, evidence, changes, cost and retries.')
    .argument('[run]', run)
    .option('--json', 'print one JSON object with the path and text of the report')
    .addHelpText('after', example('squad report'))
    .action(async (name: string | undefined, options: { json?: boolean }) =>
      (await import('./commands/report.ts')).report(context, name, options),
    );
  program
    .command('clean')
    .description('Remove the worktrees of finished runs. Uncommitted work is kept in a commit.')
    .argument('[run]', run)
    .option('--all', 'clean all finished runs')
    .option('--dry-run', 'show what would be removed, and change nothing')
    .option('--turns', 'also remove the folders of their turns, with prompts and raw output')
    .option('--refs', 'also remove refs/squad/<run>, and the run branch if another branch has its work')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('squad clean --all --dry-run'))
    .action(async (name: string | undefined, options: CleanOptions) =>
      (await import('./commands/clean.ts')).clean(context, name, options),
    );
}
