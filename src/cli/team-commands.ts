import type { Command } from 'commander';
import { TEAM_PLAYBOOK } from '../model/playbook-name.ts';
import type { CommandContext } from './command-context.ts';
import { addCommand, lazily, MODEL, PLAYBOOKS, RUNTIMES } from './option-values.ts';

const PLAYBOOK = `playbook of a new run, one of ${PLAYBOOKS} (default: as the objective or squad.yaml says, else ${TEAM_PLAYBOOK})`;

/** Panes in which people watch a team and take part. */
export function addTeamCommands(program: Command, context: CommandContext): void {
  const about = 'Open a pane for each member of a run, with its turns, its mail and a line to write to it.';
  const team = addCommand(program, 'team', about, 'squad team objective.md', 'squad team', 'squad team --close')
    .argument('[objective]', 'objective of a new run, as `squad run` takes it (default: join the run that is running)')
    .option('--run <run>', 'join this run, by name or id')
    .option('--playbook <name>', PLAYBOOK)
    .option('--runtime <name>', `use this runtime for all turns of a new run: ${RUNTIMES}`)
    .option(...MODEL)
    .option('--name <name>', 'name of a new run and its branch')
    .option('--yes', 'allow the commands in the objective and squad.yaml for this run')
    .option('--allow-full-access', 'allow agents with `access: full` to work without a sandbox')
    .option('--detach', 'open the panes without attaching to them')
    .option('--close', 'close the panes of this team; the run continues')
    .action(lazily(context, async () => (await import('./commands/team.ts')).team));
  team
    .command('engine', { hidden: true })
    .description('Run the engine in its pane. `squad team` starts this.')
    .argument('<args...>', 'arguments for squad')
    .requiredOption('--ticket <path>', 'environment of its runtimes; read once, then removed')
    .action(lazily(context, async () => (await import('./commands/team-pane.ts')).teamEngine));
  team
    .command('pane', { hidden: true })
    .description('Run one member’s pane. `squad team` starts this.')
    .option('--run <run>', 'for people who look at processes')
    .option('--as <member>', 'for people who look at processes')
    .requiredOption('--ticket <path>', 'identifies the member; read once, then removed')
    .action(lazily(context, async () => (await import('./commands/team-pane.ts')).teamPane));
}
