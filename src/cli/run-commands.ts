import { Option, type Command } from 'commander';
import { LIMITS } from '../model/limits.ts';
import { RUNTIME_NAMES } from '../model/runtime-name.ts';
import type { CommandContext, ResumeOptions, RunOptions, StopOptions } from './command-context.ts';
import { duration, example, positiveNumber, wholeNumber } from './option-values.ts';

/** Commands that start, resume or stop an engine. Only these load the graph. */
export function addDrivingCommands(program: Command, context: CommandContext): void {
  const run = program
    .command('run')
    .description('Run an objective: plan, build, review and deliver it on the branch squad/<name>.')
    .argument('<objective>', 'Markdown file with goals and success criteria (`squad init` writes an example)')
    .option(
      '--playbook <name>',
      'delivery, objective or council (default: as the objective or squad.yaml says, else delivery)',
    )
    .addOption(new Option('--runtime <name>', 'use this runtime for all turns').choices([...RUNTIME_NAMES]))
    .option('--name <name>', 'name of the run and its branch (default: from the title)')
    .option('--yes', 'allow the commands in the objective and squad.yaml for this run')
    .option('--allow-full-access', 'allow agents with `access: full` to work without a sandbox')
    .option('--strict', 'exit with 1 if a criterion was not checked, or a person skipped or overrode a task')
    .option('--resume', 'resume the newest unfinished run of this objective, if there is one');
  addLimits(run)
    .addHelpText('after', example('squad run objective.md', 'squad run objective.md --parallel 3 --max-usd 5 --yes'))
    .action(async (path: string, options: RunOptions) =>
      (await import('./commands/run.ts')).run(context, path, options),
    );

  const resume = program
    .command('resume')
    .description('Resume a run that was interrupted, paused or stopped, or that waits for you.')
    .argument('[run]', 'name or id of a run (default: the one that needs it most)')
    .option('--agent <name>', 'resume only this paused agent')
    .option('--task <id>', 'resume only this paused task')
    .option('--all', 'resume every run here that needs an engine; meant for a timer')
    .option('--reload', 'read setup, verify and limits again from squad.yaml; ask before new commands run')
    .option('--yes', 'with --reload: allow the commands in squad.yaml for this run')
    .option('--every <duration>', 'with --all: repeat, for example every 60s', duration);
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
    .description('Stop a run and its turns now. `squad resume` continues it.')
    .argument('[run]', 'name or id of a run (default: the one that is running, or the newest)')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('squad stop'))
    .action(async (name: string | undefined, options: StopOptions) =>
      (await import('./commands/stop.ts')).stop(context, name, options),
    );
}

function addLimits(command: Command): Command {
  for (const { about, flag } of LIMITS) {
    if (flag === undefined) continue;
    command.option(`${flag.name} <n>`, `limit the ${about}`, flag.whole ? wholeNumber : positiveNumber);
  }
  return command
    .option('--wait', 'wait for the reset of a usage limit (the default)')
    .option('--no-wait', 'end with exit 4 instead of waiting for the reset of a usage limit')
    .option('--json', 'print one JSON object a line')
    .option('--plain', 'print no status line');
}
