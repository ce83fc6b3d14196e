import { Argument, Command, CommanderError, Option } from 'commander';
import { usageError } from '../model/errors.ts';
import type { CommandContext } from './command-context.ts';
import { addControlCommands } from './control-commands.ts';
import { addLedgerCommands, addLookingCommands, addWorkCommands } from './looking-commands.ts';
import { addCommand, example, JSON_LINES, JSON_OBJECT, lazily, PLAYBOOKS } from './option-values.ts';
import { LOG_LEVELS } from './render/event-level.ts';
import { addDrivingCommands } from './run-commands.ts';
import { addTeamCommands } from './team-commands.ts';

type Add = (program: Command, context: CommandContext, argv: readonly string[]) => void | Promise<void>;

interface Group {
  /** Its title in the help; undefined: the help of squad does not show its commands. */
  readonly title?: string;
  readonly names: readonly string[];
  readonly add: Add;
}

/** All commands, in the order of the help. `names`: a command is made without those of other groups, which takes a while. */
const GROUPS: readonly Group[] = [
  { title: 'Start:', names: ['init', 'doctor', 'demo'], add: addSetupCommands },
  {
    title: 'Run an objective:',
    names: ['run', 'coordinate', 'plan', 'resume', 'stop', 'fork', 'session'],
    add: addDrivingCommands,
  },
  {
    title: 'Look at runs:',
    names: ['runs', 'status', 'watch', 'show', 'log', 'report', 'trace', 'studio'],
    add: addLookingCommands,
  },
  {
    title: 'Steer a run:',
    names: ['answer', 'pause', 'drain', 'cancel', 'retry', 'skip', 'override', 'switch'],
    add: addControlCommands,
  },
  { title: 'Take the work, and clean up:', names: ['diff', 'merge', 'drop', 'clean'], add: addWorkCommands },
  { title: 'Work with the members:', names: ['mail', 'team'], add: addMemberCommands },
  { title: 'Manage squad:', names: ['db', 'state', 'completion', 'uninstall'], add: addManagingCommands },
  { names: ['mcp', 'complete'], add: addHiddenCommands },
];

/** The command line for these arguments. Each command loads its code when it runs. */
export async function createProgram(
  base: Omit<CommandContext, 'logLevel'>,
  version: string,
  argv: readonly string[],
): Promise<Command> {
  const { style } = base.output;
  const program = new Command('squad')
    .description('Run a team of coding agents through one objective and deliver verified work.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .addOption(
      new Option('--log-level <level>', 'how much to print during a run').choices([...LOG_LEVELS]).default('info'),
    )
    .addHelpText('after', example('squad init', 'squad run objective.md', 'squad demo'))
    .showHelpAfterError('(run with --help for the options and an example)')
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (text) => style('bold', text),
      styleCommandText: (text) => style('bold', text),
      styleSubcommandText: (text) => style('cyan', text),
      styleOptionText: (text) => style('cyan', text),
      styleArgumentText: (text) => style('yellow', text),
    })
    // The style knows the stream.
    .configureOutput({ getOutHasColors: () => true })
    .exitOverride();
  const context: CommandContext = {
    ...base,
    logLevel: () => LOG_LEVELS.find((level) => level === program.opts()['logLevel']) ?? 'info',
  };

  const named = GROUPS.filter(({ names }) => names.includes(argv[2] ?? ''));
  for (const { title, add } of named.length === 0 ? GROUPS : named) {
    if (title !== undefined) program.commandsGroup(title);
    await add(program, context, argv);
  }
  return program.helpCommand('help [command]', 'Show the help of a command.');
}

function addSetupCommands(program: Command, context: CommandContext): void {
  const about = 'Write squad.yaml and an example objective. Overwrite nothing.';
  addCommand(program, 'init', about, 'squad init', 'squad init --playbook objective')
    .option('--playbook <name>', `write the roster and the roles of this playbook too, one of ${PLAYBOOKS}`)
    .option('--yes', 'ask nothing; write what was found')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/init.ts')).init));
  const doctor = 'Check this machine and repository, and say how to fix what is missing.';
  addCommand(program, 'doctor', doctor, 'squad doctor', 'squad doctor --trust')
    .option('--trust', 'list each program that squad would start here, and what confines it')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/doctor.ts')).doctor));
  const demo = 'Play a whole run with scripted agents in a new repository. Needs no key or network.';
  addCommand(program, 'demo', demo, 'squad demo --keep ./squad-demo')
    .option('--keep <folder>', 'create the repository here (default: a new temporary folder)')
    .option('--remove', 'remove the repository afterwards')
    .option(...JSON_LINES)
    .action(lazily(context, async () => (await import('./commands/demo.ts')).demo));
}

async function addMemberCommands(program: Command, context: CommandContext, argv: readonly string[]): Promise<void> {
  const mail = program
    .command('mail')
    .description('Write to the members of a run and read what they write, with or without an engine.');
  // They are made of the schemas of all messages, and only `mail` itself shows them.
  if (argv.includes('mail')) (await import('./mail/mail-commands.ts')).addMailCommands(mail, context);
  addTeamCommands(program, context);
}

function addManagingCommands(program: Command, context: CommandContext): void {
  addLedgerCommands(program, context);
  const about = 'Print a script that completes commands, options and names of runs, tasks and agents.';
  addCommand(program, 'completion', about, 'squad completion bash >> ~/.bashrc', 'squad completion zsh >> ~/.zshrc')
    .addArgument(new Argument('<shell>', 'the shell that reads the script').choices(['bash', 'zsh', 'fish']))
    .action(lazily(context, async () => (await import('./commands/completion.ts')).completion));
  const state = 'Show where squad keeps the state of this repository, or take over that of another place.';
  addCommand(program, 'state', state, 'squad state', 'squad state --adopt /backup/state/my-project-0123456789abcdef')
    .option('--adopt <folder>', 'copy the runs of this state folder to this repository, which has none')
    .option('--forget <id>', 'remove the state of a repository that is gone')
    .option('--yes', 'do not ask')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/state.ts')).state));
  const uninstall = 'List what squad keeps on this machine with its size, and remove it after a question.';
  addCommand(program, 'uninstall', uninstall, 'squad uninstall --dry-run', 'squad uninstall --yes')
    .option('--dry-run', 'show what would be removed, and change nothing')
    .option('--yes', 'remove without a question')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/uninstall.ts')).uninstall));
}

/** Commands that squad itself starts. */
function addHiddenCommands(program: Command, context: CommandContext): void {
  const mcp = 'Serve the mailbox to the agent of one turn over stdio. squad starts this itself.';
  program
    .command('mcp', { hidden: true })
    .description(mcp)
    .addHelpText('after', example('squad mcp --turn-file /state/turns/my-turn/mail-turn.json'))
    .requiredOption('--turn-file <path>', 'identifies the turn; read once, then removed')
    .action(notHere);
  program
    .command('complete', { hidden: true })
    .description('Print what can complete the last word. The scripts of `squad completion` start this.')
    .argument('[words...]', 'the words after squad')
    .action(async (words: readonly string[]) => {
      const whole = await createProgram(context, '', ['node', 'squad', '--help', ...words]);
      await (await import('./commands/complete.ts')).complete(context, whole, words);
    });
}

/** The launcher starts the mail server directly. It is a small program, because one runs for each turn. */
function notHere(): never {
  throw usageError(
    '`squad mcp` is a separate program; this one cannot start it',
    'Run `squad mcp --turn-file <path>`, or `node dist/mcp.mjs --turn-file <path>`.',
  );
}

export { type Command, CommanderError };
