import { Command, CommanderError, Option } from 'commander';
import { SquadError } from '../model/errors.ts';
import { RUNTIME_NAMES } from '../model/runtime-name.ts';
import type { CommandContext, DemoOptions, DevTurnOptions, LogOptions } from './command-context.ts';
import { addControlCommands } from './control-commands.ts';
import type { DbExportOptions } from './commands/db-export.ts';
import { collect, example, positiveNumber, wholeNumber } from './option-values.ts';
import { addLookingCommands } from './looking-commands.ts';
import { addMailCommands } from './mail/mail-commands.ts';
import { LOG_LEVELS } from './render/event-level.ts';
import { addDrivingCommands } from './run-commands.ts';
import { addTeamCommands } from './team-commands.ts';

/** The command line. Each command loads its code when it runs. */
export function createProgram(base: Omit<CommandContext, 'logLevel'>, version: string): Command {
  const program = new Command('squad')
    .description('Run a team of coding agents through one objective and deliver verified work.')
    .version(version)
    .addOption(
      new Option('--log-level <level>', 'how much to print during a run').choices([...LOG_LEVELS]).default('info'),
    )
    .addHelpText('after', example('squad init', 'squad run objective.md', 'squad demo'))
    .showHelpAfterError('(run with --help for the options and an example)')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  const context: CommandContext = {
    ...base,
    logLevel: () => LOG_LEVELS.find((level) => level === program.opts()['logLevel']) ?? 'info',
  };

  program
    .command('init')
    .description('Write squad.yaml and an example objective. Overwrite nothing.')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('squad init'))
    .action(async (options: { json?: boolean }) => (await import('./commands/init.ts')).init(context, options));

  program
    .command('doctor')
    .description('Check this machine and repository, and say how to fix what is missing.')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('squad doctor'))
    .action(async (options: { json?: boolean }) => (await import('./commands/doctor.ts')).doctor(context, options));

  addDrivingCommands(program, context);
  addControlCommands(program, context);
  addLookingCommands(program, context);
  addMailCommands(program, context);
  addTeamCommands(program, context);

  program
    .command('log')
    .description('Print the events of this repository, from the ledger.')
    .argument('[run]', 'name or id of a run (default: all runs)')
    .option('--after <seq>', 'only events after this one', wholeNumber)
    .option('--limit <n>', 'at most this many events', wholeNumber)
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', example('squad log --limit 20'))
    .action(async (run: string | undefined, options: LogOptions) =>
      (await import('./commands/log.ts')).log(context, run, options),
    );

  const database = program
    .command('db')
    .description('Check, back up or export the ledger.')
    .addHelpText('after', example('squad db check', 'squad db backup', 'squad db export'));
  database
    .command('check')
    .description('Check the ledger’s file and history. Change nothing.')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('squad db check'))
    .action(async (options: { json?: boolean }) => (await import('./commands/db-check.ts')).dbCheck(context, options));
  database
    .command('backup')
    .description('Back up the ledger, also during a run, and say how to restore the copy.')
    .argument('[path]', 'path of a new file (default: one in .squad/backups)')
    .option('--json', 'print one JSON object')
    .addHelpText('after', example('squad db backup', 'squad db backup /mnt/usb/squad.db'))
    .action(async (path: string | undefined, options: { json?: boolean }) =>
      (await import('./commands/db-backup.ts')).dbBackup(context, path, options),
    );
  database
    .command('export')
    .description('Print everything in the ledger, one JSON object a line (docs/database.md).')
    .argument('[path]', 'path of a new file (default, or `-`: standard output)')
    .option('--run <run>', 'only this run, by name or id')
    .option('--json', 'print one JSON object about the new file')
    .addHelpText('after', example('squad db export --run my-run run.jsonl', 'squad db export | gzip > ledger.jsonl.gz'))
    .action(async (path: string | undefined, options: DbExportOptions) =>
      (await import('./commands/db-export.ts')).dbExport(context, path, options),
    );

  program
    .command('demo')
    .description('Play a whole run with scripted agents in a new repository. Needs no key or network.')
    .option('--keep <folder>', 'create the repository here (default: a new temporary folder)')
    .option('--remove', 'remove the repository afterwards')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', example('squad demo --keep ./squad-demo'))
    .action(async (options: DemoOptions) => (await import('./commands/demo.ts')).demo(context, options));

  program
    .command('mcp')
    .description('Serve the mailbox to the agent of one turn over stdio. squad starts this itself.')
    .requiredOption('--turn-file <path>', 'identifies the turn; read once, then removed')
    .addHelpText('after', example('squad mcp --turn-file .squad/turns/my-turn/mail-turn.json'))
    .action(notHere);

  addDevCommands(program, context);
  return program;
}

/** The launcher starts the mail server directly. It is a small program, because one runs for each turn. */
function notHere(): never {
  throw new SquadError({
    code: 'usage',
    message: '`squad mcp` is a separate program; this one cannot start it',
    next: 'Run `squad mcp --turn-file <path>`, or `node dist/mcp.mjs --turn-file <path>`.',
  });
}

function addDevCommands(program: Command, context: CommandContext): void {
  const dev = program
    .command('dev')
    .description('Commands for people who work on squad itself.')
    .addHelpText('after', example(DEV_TURN));
  dev
    .command('turn')
    .description('Run one task in one turn, print its events, and leave its work on a branch.')
    .argument('[prompt]', 'the whole prompt; `-` or nothing reads it from stdin')
    .addOption(
      new Option('--runtime <name>', 'the runtime that takes the turn').choices([...RUNTIME_NAMES]).default('claude'),
    )
    .option('--repo <path>', 'the repository', '.')
    .option('--prompt-file <path>', 'read the prompt from this file')
    .option('--instructions <text>', 'instructions of the session', 'You are a member of a squad of coding agents.')
    .addOption(
      new Option('--access <level>', 'what the turn may touch').choices(['read-only', 'edit', 'full']).default('edit'),
    )
    .option('--model <name>', 'the runtime’s own name of a model')
    .option('--schema <path>', 'JSON Schema file that the answer has to satisfy')
    .option('--binary <path>', 'the runtime’s program, when it is not on PATH')
    .option('--env <name>', 'let this variable reach the runtime’s program (repeatable)', collect)
    .option('--config <key=value>', 'a config key of the runtime, its value as JSON or text (repeatable)', collect)
    .option('--minutes <n>', 'wall limit of the turn', positiveNumber, 60)
    .option('--idle-minutes <n>', 'end the turn after this long without a sign of life', positiveNumber, 10)
    .option('--retries <n>', 'more turns after one that was lost', wholeNumber, 2)
    .option('--resume [attempt]', 'continue the newest unfinished turn here, or the one with this attempt')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', example(DEV_TURN, 'squad dev turn --resume'))
    .action(async (prompt: string | undefined, options: DevTurnOptions) =>
      (await import('./commands/dev-turn.ts')).devTurn(context, prompt, options),
    );
}

const DEV_TURN = 'squad dev turn --runtime codex "Fix the typo in README.md and commit"';

export { CommanderError };
