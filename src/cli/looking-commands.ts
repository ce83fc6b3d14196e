import { Option, type Command } from 'commander';
import { SINKS } from '../model/tracing.ts';
import type { CommandContext } from './command-context.ts';
import {
  addCommand,
  JSON_LINES,
  JSON_OBJECT,
  PLAIN_LINES,
  lazily,
  origins,
  port,
  RUN,
  wholeNumber,
} from './option-values.ts';

const NO_PAGER = ['--no-pager', 'print everything at once (default: through $PAGER or less at a terminal)'] as const;

/** Commands that show runs. */
export function addLookingCommands(program: Command, context: CommandContext): void {
  addCommand(program, 'runs', 'List the runs of this repository, the newest first.', 'squad runs')
    .option(...JSON_LINES)
    .action(lazily(context, async () => (await import('./commands/runs.ts')).runs));
  const status = 'Show the tasks, success criteria and usage of a run, and what it waits for.';
  addCommand(program, 'status', status, 'squad status')
    .argument('[run]', RUN)
    .option('--watch', 'show the run until it ends, as `squad watch` does')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/status.ts')).status));
  const watches = ['squad watch', 'squad watch my-run --json'];
  addCommand(
    program,
    'watch',
    'Watch a run that any process drives, and steer it. Leaving it changes nothing.',
    ...watches,
  )
    .argument('[run]', RUN)
    .option(...JSON_LINES)
    .option(...PLAIN_LINES)
    .action(lazily(context, async () => (await import('./commands/watch.ts')).watch));
  addRecordCommands(program, context);
}

function addRecordCommands(program: Command, context: CommandContext): void {
  const show = 'Show what was asked, what agents said and did, the verdicts and the diff.';
  addCommand(program, 'show', show, 'squad show', 'squad show greet', 'squad show greet-1 --run my-run')
    .argument('[name]', 'a run, or a task or attempt of the run (default: the running or newest run)')
    .option('--run <run>', RUN)
    .option(...NO_PAGER)
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/show.ts')).show));
  const logs = ['squad log', 'squad log --follow --task greet', 'squad log --raw --limit 20'];
  addCommand(program, 'log', 'Print what happened in a run, or with --raw the rows of the ledger.', ...logs)
    .argument('[run]', `${RUN}; with --raw or --json: all runs`)
    .option('--follow', 'keep printing new events until the run ends')
    .option('--task <id>', 'only what is about this task')
    .option('--agent <name>', 'only what is about this agent')
    .option('--limit <n>', 'only the last lines; with --raw or --json: at most this many rows', wholeNumber)
    .option('--raw', 'print the rows of the ledger, of all runs or of one')
    .option('--after <seq>', 'with --raw or --json: only rows after this one', wholeNumber)
    .option(...JSON_LINES)
    .action(lazily(context, async () => (await import('./commands/log.ts')).log));
  addCommand(
    program,
    'report',
    'Print the report of a run (outcome, evidence, changes, cost, retries), or statistics over all runs.',
    'squad report',
    'squad report my-run --html',
    'squad report --all',
  )
    .argument('[run]', RUN)
    .option('--html', 'print the path of the same report as a page (report.html), which is made if it is missing')
    .option(
      '--all',
      'print statistics over all runs: completion, time, review rounds, recovery, turns, tokens and cost',
    )
    .option('--json', 'print one JSON object with the path and text of the report, or with --all the statistics')
    .action(lazily(context, async () => (await import('./commands/report.ts')).report));
  const traces = ['squad trace', 'squad trace my-run --to langsmith'];
  addCommand(program, 'trace', 'Send the traces of a run that is not running to LangSmith or over OTLP.', ...traces)
    .argument('[run]', RUN)
    .addOption(
      new Option('--to <sink>', 'where to (default: as the run was started, or as the environment says)').choices([
        ...SINKS,
      ]),
    )
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/trace.ts')).trace));
  const studio = 'Serve the runs to LangGraph Studio and other LangGraph clients of this machine.';
  addCommand(program, 'studio', studio, 'squad studio', 'squad studio --port 8123 --origin http://localhost:3000')
    .option('--port <n>', 'port on loopback', port, 2024)
    .option('--origin <origin>', 'another page that may use the server, besides Studio (repeatable)', origins)
    .option('--tunnel', 'also answer where squad cannot see which process asks, as through an SSH tunnel')
    .option('--json', 'print one JSON object once the server answers')
    .action(lazily(context, async () => (await import('./commands/studio.ts')).studio));
}

/** Commands that take the work of runs, or remove what is left of them. */
export function addWorkCommands(program: Command, context: CommandContext): void {
  const diff = 'Show what a run delivered, or what one task did.';
  addCommand(program, 'diff', diff, 'squad diff', 'squad diff my-run greet --stat')
    .argument('[run]', `${RUN}, or a task of that run`)
    .argument('[task]', 'id of a task')
    .option('--stat', 'print only how many lines of each file changed')
    .option('--name-only', 'print only the names of changed files')
    .option(...NO_PAGER)
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/diff.ts')).diff));
  const merge = 'Merge the work of a run into the branch that is checked out.';
  addCommand(program, 'merge', merge, 'squad merge', 'squad merge my-run --unverified')
    .argument('[run]', RUN)
    .option('--unverified', 'merge although the run is not over, has failed, or its branch was changed')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/merge.ts')).merge));
  const drop = 'Remove the folders and the branch of a run. Refs keep its work.';
  addCommand(program, 'drop', drop, 'squad drop', 'squad drop my-run --all --yes')
    .argument('[run]', RUN)
    .option('--all', 'also remove the refs of its work, and the prompts and output of its turns')
    .option('--yes', 'remove without a question')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/drop.ts')).drop));
  const clean = 'Remove the folders of finished runs. Uncommitted work is kept in a commit.';
  addCommand(program, 'clean', clean, 'squad clean --all --dry-run')
    .argument('[run]', RUN)
    .option('--all', 'clean all finished runs')
    .option('--dry-run', 'show what would be removed, and change nothing')
    .option('--turns', 'also remove the folders of their turns, with prompts and raw output')
    .option('--refs', 'also remove refs/squad/<run>, and the run branch if another branch has its work')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/clean.ts')).clean));
}

/** Commands that check or copy the ledger. */
export function addLedgerCommands(program: Command, context: CommandContext): void {
  const all = ['squad db check', 'squad db backup', 'squad db export'];
  const database = addCommand(program, 'db', 'Check, back up or export the ledger.', ...all);
  addCommand(database, 'check', 'Check the ledger’s file and history. Change nothing.', 'squad db check')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/db-check.ts')).dbCheck));
  const backup = 'Back up the ledger, also during a run, and say how to restore the copy.';
  addCommand(database, 'backup', backup, 'squad db backup', 'squad db backup /mnt/usb/squad.db')
    .argument('[path]', 'path of a new file (default: in the backups of the state folder)')
    .option(...JSON_OBJECT)
    .action(lazily(context, async () => (await import('./commands/db-backup.ts')).dbBackup));
  const exports = ['squad db export --run my-run run.jsonl', 'squad db export | gzip > ledger.jsonl.gz'];
  addCommand(
    database,
    'export',
    'Print everything in the ledger, one JSON object a line (docs/database.md).',
    ...exports,
  )
    .argument('[path]', 'path of a new file (default, or `-`: standard output)')
    .option('--run <run>', 'only this run, by name or id')
    .option('--json', 'print one JSON object about the new file')
    .action(lazily(context, async () => (await import('./commands/db-export.ts')).dbExport));
}
