import { FOLLOW_FLAGS, RUN, RUN_WORD } from './flags.ts';
import type { Commands } from './command-row.ts';

/** Commands that show runs. */
export const LOOKING_COMMANDS: Commands = {
  runs: {
    about: 'List the runs of this repository, the newest first, or say in one line what they did since a time.',
    examples: ['squad runs', 'squad runs --since 18:00'],
    pool: 'itself',
    load: async () => (await import('./commands/runs.ts')).runs,
  },
  status: {
    about: 'Show the tasks, success criteria and usage of a run, and what it waits for.',
    examples: ['squad status'],
    words: [RUN_WORD],
    pool: 'reads',
    load: async () => (await import('./commands/status.ts')).status,
  },
  watch: {
    about: 'Watch a run that any process drives, and steer it. Leaving it changes nothing.',
    examples: ['squad watch', 'squad watch my-run --json', 'squad watch --web', 'squad watch --web --all --port 4100'],
    words: [RUN_WORD],
    pool: 'itself',
    load: async () => (await import('./commands/watch.ts')).watch,
  },
  show: {
    about: 'Show what was asked, what agents said and did, the verdicts and the diff.',
    examples: ['squad show', 'squad show greet', 'squad show plan', 'squad show greet-1 --run my-run'],
    words: [
      ['[name]', 'a run, a task or attempt of the run, or `plan` for its plan (default: the running or newest run)'],
    ],
    pool: 'reads',
    load: async () => (await import('./commands/show.ts')).show,
  },
  open: {
    about: 'Open the folder in which an agent works, or a task was done, in your editor.',
    examples: ['squad open greet --print', 'squad open builder-1'],
    words: [['<task>', 'a task, or an agent: the folder of its newest turn']],
    load: async () => (await import('./commands/open.ts')).open,
  },
  log: {
    about: 'Print what happened in a run, or with --raw the rows of the ledger.',
    examples: ['squad log', 'squad log --follow --task greet', 'squad log --raw --limit 20'],
    words: [['[run]', `${RUN}; with --raw or --json: all runs`]],
    pool: 'reads',
    load: async () => (await import('./commands/log.ts')).log,
  },
  report: {
    about: 'Print the report of a run (outcome, evidence, changes, cost, retries), or statistics over all runs.',
    examples: ['squad report', 'squad report my-run --html', 'squad report --all'],
    words: [RUN_WORD],
    pool: 'reads',
    load: async () => (await import('./commands/report.ts')).report,
  },
  trace: {
    about: 'Send the traces of a run that is not running to LangSmith or over OTLP.',
    examples: ['squad trace', 'squad trace my-run --to langsmith'],
    words: [RUN_WORD],
    load: async () => (await import('./commands/trace.ts')).trace,
  },
  studio: {
    about: 'Serve the runs to LangGraph Studio and other LangGraph clients of this machine.',
    examples: ['squad studio', 'squad studio --port 8123 --origin http://localhost:3000'],
    load: async () => (await import('./commands/studio.ts')).studio,
  },
};

/** Commands that take the work of runs, or remove what is left of them. */
export const WORK_COMMANDS: Commands = {
  diff: {
    about: 'Show what a run delivered, or what one task did.',
    examples: ['squad diff', 'squad diff my-run greet --stat'],
    words: [
      ['[run]', `${RUN}, or a task of that run`],
      ['[task]', 'id of a task'],
    ],
    pool: 'takes',
    load: async () => (await import('./commands/diff.ts')).diff,
  },
  merge: {
    about: 'Merge the work of a run into the branch that is checked out, or another one.',
    examples: ['squad merge', 'squad merge my-run --squash --into release', 'squad merge my-run --unverified'],
    words: [RUN_WORD],
    pool: 'takes',
    load: async () => (await import('./commands/merge.ts')).merge,
  },
  pr: {
    about: 'Push the branch of a run that is done, and open a pull request on GitHub or GitLab.',
    examples: ['squad pr', 'squad pr my-run --base main'],
    words: [RUN_WORD],
    pool: 'takes',
    load: async () => (await import('./commands/pr.ts')).pr,
    commands: {
      follow: {
        about:
          'Have failed checks and comments of the pull request of a run that has ended worked on, by `squad serve`.',
        examples: ['squad pr follow', 'squad pr follow my-run --days 7 --merge when-approved'],
        words: [RUN_WORD],
        flags: FOLLOW_FLAGS,
        load: async () => (await import('./commands/pr-follow.ts')).prFollow,
      },
    },
  },
  drop: {
    about: 'Remove the folders and the branch of a run. Refs keep its work.',
    examples: ['squad drop', 'squad drop my-run --all --yes'],
    words: [RUN_WORD],
    load: async () => (await import('./commands/drop.ts')).drop,
  },
  clean: {
    about: 'Remove the folders of finished runs. Uncommitted work is kept in a commit.',
    examples: ['squad clean --all --dry-run'],
    words: [RUN_WORD],
    load: async () => (await import('./commands/clean.ts')).clean,
  },
};

/** The command that checks or copies the ledger. */
export const LEDGER_COMMANDS: Commands = {
  db: {
    about: 'Check, back up or export the ledger.',
    examples: ['squad db check', 'squad db backup', 'squad db export'],
    commands: {
      check: {
        about: 'Check the ledger’s file and history. Change nothing.',
        examples: ['squad db check'],
        load: async () => (await import('./commands/db-check.ts')).dbCheck,
      },
      backup: {
        about: 'Back up the ledger, also during a run, and say how to restore the copy.',
        examples: ['squad db backup', 'squad db backup /mnt/usb/squad.db'],
        words: [['[path]', 'path of a new file (default: in the backups of the state folder)']],
        load: async () => (await import('./commands/db-backup.ts')).dbBackup,
      },
      export: {
        about: 'Print everything in the ledger, one JSON object a line (docs/database.md).',
        examples: ['squad db export --run my-run run.jsonl', 'squad db export | gzip > ledger.jsonl.gz'],
        words: [['[path]', 'path of a new file (default, or `-`: standard output)']],
        load: async () => (await import('./commands/db-export.ts')).dbExport,
      },
    },
  },
};
