import { Command, CommanderError, Option } from 'commander';
import { usageError } from '../model/errors.ts';
import { fieldsOf, REQUEST_VERBS, requestOf, type RequestVerb, VERBS } from '../model/plan/verbs.ts';
import { nameOf } from '../text/flags.ts';
import { type CommandContext, FLAGS, type RunNameOptions } from './command-context.ts';
import { JSON_OBJECT, LIMIT_FLAGS, RUN_FLAG, RUN_WORD } from './flags.ts';
import { addCommands, type CommandRow, type Commands, example } from './command-row.ts';
import { LEDGER_COMMANDS, LOOKING_COMMANDS, WORK_COMMANDS } from './looking-commands.ts';
import { MOVING_COMMANDS, RECEIVING_COMMAND } from './moving-commands.ts';
import { LOG_LEVELS } from './render/event-level.ts';
import { POOL_COMMANDS } from './pool/pool-commands.ts';
import { RUN_COMMANDS } from './run-commands.ts';
import { SERVICE_COMMANDS } from './service-commands.ts';
import { SPRINT_COMMANDS } from './sprint-commands.ts';

/** Verbs that do more at a terminal than to store a command. */
const MORE: Partial<Record<RequestVerb, Pick<CommandRow, 'flags' | 'load'>>> = {
  cancel: { flags: FLAGS.cancel, load: async () => (await import('./commands/run.ts')).cancel },
  retry: { flags: FLAGS.retry, load: async () => (await import('./commands/retry.ts')).retry },
};

/** Commands that answer or change a run from another terminal, with or without a running engine. */
const CONTROL_COMMANDS: Commands = {
  answer: {
    about: 'Answer a question from a run.',
    examples: [
      'squad answer "try again"',
      'squad answer engine/auth/claude give up',
      'squad answer --edit',
      'squad answer plan-1 --file plan.yaml',
      'squad answer --paths src/router.ts,docs "yes"',
    ],
    words: [
      ['[words...]', 'the question’s id and the answer; a single word or quoted text answers the only open question'],
    ],
    pool: 'steers',
    load: async () => (await import('./commands/answer.ts')).answer,
  },
  ...Object.fromEntries(REQUEST_VERBS.flatMap(commandOf)),
};

const SETUP_COMMANDS: Commands = {
  init: {
    about: 'Write squad.yaml and an example objective. Overwrite nothing.',
    examples: [
      'squad init',
      'squad init --playbook objective',
      'squad init --playbook sprint --into team',
      'squad init --skill',
    ],
    load: async () => (await import('./commands/init.ts')).init,
  },
  doctor: {
    about: 'Check this machine and repository, and say how to fix what is missing.',
    examples: ['squad doctor', 'squad doctor --trust'],
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  demo: {
    about: 'Play a whole run with scripted agents in a new repository. Needs no key or network.',
    examples: ['squad demo --keep ./squad-demo'],
    load: async () => (await import('./commands/demo.ts')).demo,
  },
};

const ROLE = ['<role>', 'who gets it; or role and occasion in one word, such as builder/role'] as const;
const OCCASION = ['[occasion]', 'when'] as const;

/** Commands about the texts that agents get. */
const PROMPT_COMMANDS: Commands = {
  prompts: {
    about: 'List the prompts of agents, and which of them this repository has changed.',
    examples: ['squad prompts'],
    load: async () => (await import('./commands/prompts.ts')).prompts,
    commands: {
      show: {
        about: 'Show one prompt, the facts that it may name, where it comes from, and an example.',
        examples: ['squad prompts show builder role'],
        words: [ROLE, OCCASION],
        flags: [JSON_OBJECT],
        load: async () => (await import('./commands/prompts.ts')).showPrompt,
      },
      eject: {
        about: 'Write one prompt into squad/prompts of this repository, to change it there.',
        examples: ['squad prompts eject builder role'],
        words: [ROLE, OCCASION],
        load: async () => (await import('./commands/prompts.ts')).ejectPrompt,
      },
      diff: {
        about: 'Show how the prompts of this repository differ from those of squad.',
        examples: ['squad prompts diff', 'squad prompts diff builder role'],
        words: [['[role]', ROLE[1]], OCCASION],
        flags: [JSON_OBJECT],
        load: async () => (await import('./commands/prompts.ts')).diffPrompts,
      },
    },
  },
};

const MEMBER_COMMANDS: Commands = {
  mail: { about: 'Write to the members of a run and read what they write, with or without an engine.' },
  team: {
    about: 'Open a pane for each member of a run, with its turns, its mail and a line to write to it.',
    examples: ['squad team objective.md', 'squad team', 'squad team --close'],
    words: [['[objective]', 'objective of a new run, as `squad run` takes it (default: join the run that is running)']],
    load: async () => (await import('./commands/team.ts')).team,
    commands: {
      engine: {
        hidden: true,
        about: 'Run the engine in its pane. `squad team` starts this.',
        words: [['<args...>', 'arguments for squad']],
        flags: [['--ticket <path>', 'environment of its runtimes; read once, then removed']],
        needs: ['ticket'],
        load: async () => (await import('./commands/team-pane.ts')).teamEngine,
      },
      pane: {
        hidden: true,
        about: 'Run one member’s pane. `squad team` starts this.',
        flags: [
          ['--run <run>', 'for people who look at processes'],
          ['--as <member>', 'for people who look at processes'],
          ['--ticket <path>', 'identifies the member; read once, then removed'],
        ],
        needs: ['ticket'],
        load: async () => (await import('./commands/team-pane.ts')).teamPane,
      },
    },
  },
};

/** Commands for other programs. */
const PROGRAM_COMMANDS: Commands = {
  'mcp-server': {
    about: 'Serve the runs of this repository as tools to an assistant such as Claude Code or Codex, over MCP.',
    examples: [
      'claude mcp add squad -- squad mcp-server --max-usd 5',
      'codex mcp add squad -- squad mcp-server --allow approve --allow merge',
    ],
    flags: [...FLAGS['mcp-server'], ...LIMIT_FLAGS],
    load: async () => (await import('./mcp-server/mcp-server.ts')).mcpServer,
  },
};

const MANAGING_COMMANDS: Commands = {
  ...PROGRAM_COMMANDS,
  ...PROMPT_COMMANDS,
  ...LEDGER_COMMANDS,
  completion: {
    about: 'Print a script that completes commands, options and names of runs, tasks and agents.',
    examples: ['squad completion bash >> ~/.bashrc', 'squad completion zsh >> ~/.zshrc'],
    words: [['<shell>', 'the shell that reads the script', ['bash', 'zsh', 'fish']]],
    flags: [],
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  state: {
    about: 'Show where squad keeps the state of this repository, or take over that of another place.',
    examples: ['squad state', 'squad state --adopt /backup/state/my-project-0123456789abcdef'],
    load: async () => (await import('./commands/state.ts')).state,
  },
  ...MOVING_COMMANDS,
  uninstall: {
    about: 'List what squad keeps on this machine with its size, and remove it after a question.',
    examples: ['squad uninstall --dry-run', 'squad uninstall --yes'],
    load: async () => (await import('./commands/uninstall.ts')).uninstall,
  },
};

/** Commands that squad itself starts. */
const HIDDEN_COMMANDS: Commands = {
  ...RECEIVING_COMMAND,
  mcp: {
    hidden: true,
    about: 'Serve the mailbox to the agent of one turn over stdio. squad starts this itself.',
    examples: ['squad mcp --turn-file /state/turns/my-turn/mail-turn.json'],
    flags: [['--turn-file <path>', 'identifies the turn; read once, then removed']],
    needs: ['turn-file'],
    load: async () => notHere,
  },
  complete: {
    hidden: true,
    about: 'Print what can complete the last word. The scripts of `squad completion` start this.',
    words: [['[words...]', 'the words after squad']],
    flags: [],
    load: async () => async (context: CommandContext, words: readonly string[]) => {
      const whole = await createProgram(context, '', ['node', 'squad', '--help', ...words]);
      await (await import('./commands/complete.ts')).complete(context, whole, words);
    },
  },
};

/** All commands by their titles in the help, and in its order; the help shows none without a title. */
const GROUPS: readonly (readonly [title: string, commands: Commands])[] = [
  ['Start:', SETUP_COMMANDS],
  ['Run an objective:', { ...RUN_COMMANDS, ...SERVICE_COMMANDS }],
  ['Work on many machines:', POOL_COMMANDS],
  ['Work in sprints:', SPRINT_COMMANDS],
  ['Look at runs:', LOOKING_COMMANDS],
  ['Steer a run:', CONTROL_COMMANDS],
  ['Take the work, and clean up:', WORK_COMMANDS],
  ['Work with the members:', MEMBER_COMMANDS],
  ['Manage squad:', MANAGING_COMMANDS],
  ['', HIDDEN_COMMANDS],
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

  // A command is made without those of other groups, which takes a while.
  const named = GROUPS.filter(([, commands]) => Object.hasOwn(commands, argv[2] ?? ''));
  for (const [title, commands] of named.length === 0 ? GROUPS : named) {
    if (title !== '') program.commandsGroup(title);
    addCommands(program, commands, context);
  }
  const mail = program.commands.find((command) => command.name() === 'mail');
  // They are made of the schemas of all messages, and only `mail` itself shows them.
  if (mail !== undefined && argv.includes('mail')) {
    (await import('./mail/mail-commands.ts')).addMailCommands(mail, context);
  }
  return program.helpCommand('help [command]', 'Show the help of a command.');
}

/** The launcher starts the mail server directly. It is a small program, because one runs for each turn. */
function notHere(): never {
  throw usageError(
    '`squad mcp` is a separate program; this one cannot start it',
    'Run `squad mcp --turn-file <path>`, or `node dist/mcp.mjs --turn-file <path>`.',
  );
}

export { type Command, CommanderError };

/** Without words of its own, a verb takes the run as one. */
function commandOf(verb: RequestVerb): [string, CommandRow][] {
  const { about, examples = [], words, flags = [] } = VERBS[verb];
  if (about === undefined) return [];
  const own = words === undefined ? [JSON_OBJECT] : [RUN_FLAG, JSON_OBJECT];
  const more = MORE[verb]?.flags ?? own;
  const load =
    MORE[verb]?.load ??
    (async () =>
      async (context, ...given) =>
        give(context, verb, given));
  const fields = Object.entries(fieldsOf(verb));
  const needs = fields.flatMap(([name, schema]) => (schema.safeParse(undefined).success ? [] : [name]));
  // Only a worker of a pool drains its runs.
  const pool = verb === 'drain' ? {} : { pool: 'steers' as const };
  return [[verb, { about, examples, words: words ?? [RUN_WORD], flags: [...flags, ...more], needs, ...pool, load }]];
}

/** `given`: the values of its words, then those of its flags. */
async function give(context: CommandContext, verb: RequestVerb, given: readonly unknown[]): Promise<void> {
  const { words } = VERBS[verb];
  const options = given[words?.length ?? 1] as RunNameOptions;
  const run = words === undefined ? (given[0] as string | undefined) : options.run;
  const named = (words ?? []).map((word, index) => [nameOf(word), given[index]]);
  const request = requestOf(verb, { ...options, ...Object.fromEntries(named) });
  await (await import('./commands/intervene.ts')).intervene(context, run, request, options);
}
