import { Option, type Command } from 'commander';
import { RUNTIME_NAMES } from '../model/runtime-name.ts';
import type { CommandContext, ResumeOptions, RunOptions, StopOptions } from './command-context.ts';
import { duration, example, positiveNumber, wholeNumber } from './option-values.ts';

/** Commands that drive a run, or end one. They alone load the graph. */
export function addDrivingCommands(program: Command, context: CommandContext): void {
  const run = program
    .command('run')
    .description('Take an objective through planning, building, review and delivery, onto the branch squad/<name>.')
    .argument('<objective>', 'a Markdown file with goals and success criteria (`squad init` writes an example)')
    .option(
      '--playbook <name>',
      'how the work is organised: delivery, objective or council (default: the objective’s, then squad.yaml’s, then delivery)',
    )
    .addOption(new Option('--runtime <name>', 'who takes all turns').choices([...RUNTIME_NAMES]))
    .option('--name <name>', 'name of the run and of its branch (default: from the title)')
    .option('--yes', 'agree to the commands that the objective and squad.yaml name, for this run')
    .option('--allow-full-access', 'let agents whose settings say `access: full` work without any confinement')
    .option('--strict', 'exit with 1 if a criterion was not checked, or a person skipped or accepted a task')
    .option('--resume', 'go on with the newest unfinished run of this objective, if there is one');
  addLimits(run)
    .addHelpText('after', example('squad run objective.md', 'squad run objective.md --parallel 3 --max-usd 5 --yes'))
    .action(async (path: string, options: RunOptions) =>
      (await import('./commands/run.ts')).run(context, path, options),
    );

  const resume = program
    .command('resume')
    .description('Go on with a run that was interrupted, stopped at a limit, is paused, waits for you, or died.')
    .argument('[run]', 'a run, by name or id; otherwise the one that needs it most')
    .option('--agent <name>', 'let this agent go on, that was paused')
    .option('--task <id>', 'let this task go on, that was paused')
    .option('--all', 'take up every run that has no engine and needs one, side by side; for a timer')
    .option('--reload', 'read setup, verify and limits again from squad.yaml; ask before new commands run')
    .option('--yes', 'with --reload: agree to the commands in squad.yaml for this run')
    .option('--every <duration>', 'with --all: look again and again, for example every 60s', duration);
  addLimits(resume)
    .addHelpText(
      'after',
      example(
        'squad resume',
        'squad resume my-run --max-minutes 240',
        'squad resume --reload',
        'squad resume --all --every 60s',
      ),
    )
    .action(async (name: string | undefined, options: ResumeOptions) =>
      (await import('./commands/run.ts')).resume(context, name, options),
    );

  program
    .command('stop')
    .description('Stop a run: its turns are ended now, and nothing of it lives afterwards. It can be resumed.')
    .argument('[run]', 'a run, by name or id; otherwise the one that an engine drives, or the newest')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('squad stop'))
    .action(async (name: string | undefined, options: StopOptions) =>
      (await import('./commands/stop.ts')).stop(context, name, options),
    );
}

function addLimits(command: Command): Command {
  return command
    .option('--parallel <n>', 'turns that may run at once', wholeNumber)
    .option('--max-minutes <n>', 'engine time of the whole run', positiveNumber)
    .option('--max-usd <n>', 'cost of the whole run, where runtimes tell it', positiveNumber)
    .option('--max-turns <n>', 'turns of the whole run', wholeNumber)
    .option('--max-tokens <n>', 'input and output tokens of the whole run', wholeNumber)
    .option('--wait', 'wait for the reset of a usage limit (the default)')
    .option('--no-wait', 'end with exit 4 instead of waiting for the reset of a usage limit')
    .option('--json', 'print one JSON object a line')
    .option('--plain', 'no status line, whatever the terminal');
}
