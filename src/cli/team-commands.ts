import { Option, type Command } from 'commander';
import { RUNTIME_NAMES } from '../model/runtime-name.ts';
import type { CommandContext, TeamOptions, TeamPaneOptions } from './command-context.ts';
import { example } from './option-values.ts';

/** Panes for people who want to watch a team, or to take part. */
export function addTeamCommands(program: Command, context: CommandContext): void {
  const team = program
    .command('team')
    .description(
      'Open a pane for MAIN and each member of a run: its agent at work, its mail, and a line to write to it.',
    )
    .argument(
      '[objective]',
      'start a run of this file in a pane of its own; without it, join the run that is under way',
    )
    .option('--run <run>', 'join this run, by name or id')
    .option(
      '--playbook <name>',
      'how a new run is organised (default: the objective’s, then squad.yaml’s, then council)',
    )
    .addOption(new Option('--runtime <name>', 'who takes all turns of a new run').choices([...RUNTIME_NAMES]))
    .option('--name <name>', 'name of a new run and of its branch')
    .option('--yes', 'agree to the commands that the objective and squad.yaml name, for this run')
    .option('--allow-full-access', 'let agents whose settings say `access: full` work without any confinement')
    .addOption(
      new Option(
        '--terminal <name>',
        'where panes are opened (default: team.terminal of squad.yaml, then tmux); terminal and iterm2 are macOS’s, and were never tried there',
      ).choices(['tmux', 'terminal', 'iterm2']),
    )
    .option('--detach', 'open them, and only say how they are looked at')
    .option('--close', 'close the panes that squad has opened here, and nothing else')
    .addHelpText('after', example('squad team objective.md', 'squad team', 'squad team --close'))
    .action(async (objective: string | undefined, options: TeamOptions) =>
      (await import('./commands/team.ts')).team(context, objective, options),
    );
  team
    .command('engine', { hidden: true })
    .description('Runs the engine in its pane; `squad team` starts it.')
    .argument('<args...>', 'arguments for squad')
    .requiredOption('--ticket <path>', 'the environment of its runtimes; read once')
    .addHelpText('after', example('squad team'))
    .action(async (args: string[], options: TeamPaneOptions) =>
      (await import('./commands/team-engine.ts')).teamEngine(context, args, options),
    );
  team
    .command('pane', { hidden: true })
    .description('What runs in a pane; `squad team` starts it.')
    .option('--run <run>', 'for people who look at processes')
    .option('--as <member>', 'for people who look at processes')
    .requiredOption('--ticket <path>', 'whose pane it is; read once')
    .addHelpText('after', example('squad team'))
    .action(async (options: TeamPaneOptions) => (await import('./commands/team-pane.ts')).teamPane(context, options));
}
