import { SINKS } from '../engine/sinks/sinks.ts';
import { FLAGS } from './command-context.ts';
import { JSON_OBJECT, LIMIT_FLAGS, RUN_WORD } from './flags.ts';
import type { Commands } from './command-row.ts';
import { OBJECTIVE } from './read-objective.ts';

const CHECK = 'squad session check .workflow/.team/TC-login-2026-02-27';

/** Commands that start, resume or stop an engine, of which only these load the graph, and those about session folders. */
export const RUN_COMMANDS: Commands = {
  run: {
    about: 'Run an objective: plan, build, review and deliver it on the branch squad/<name>.',
    examples: [
      'squad run "add a login form"',
      'squad run objective.md --parallel 3 --max-usd 5 --yes',
      "squad run '#12'",
      'git log -1 --format=%B | squad run -',
      'squad run objective.md --detach',
      'squad run objective.md --dry-run',
      'squad run objective.md --base origin/main --fetch',
      'squad run --session=.workflow/.team/TC-login-2026-02-27',
    ],
    leaves: Object.entries(SINKS).map(([name, { about }]) => [name, about]),
    words: [['[objective]', OBJECTIVE]],
    flags: [...FLAGS.run, ...LIMIT_FLAGS, ['--pool <url>', 'give it to this pool instead, as `squad submit` does']],
    load: async () => (await import('./commands/run.ts')).run,
  },
  'best-of': {
    about:
      'Let several agents do the same work, each by itself. Deliver the best of what passes the checks, and keep the rest.',
    examples: ['squad best-of 3 "add a login form"', 'squad best-of 5 objective.md --max-usd 20 --yes'],
    words: [
      ['<n>', 'how many agents do the work, 2 to 9'],
      ['<objective>', OBJECTIVE],
    ],
    flags: [...FLAGS['best-of'], ...LIMIT_FLAGS],
    load: async () => (await import('./commands/best-of.ts')).bestOf,
  },
  add: {
    about: 'Put an objective into the queue. An engine starts it when it has a free place.',
    examples: [
      'squad add objective.md',
      'squad add "add a login form" --priority high',
      'squad add "then write its tests" --after login-form',
      'squad add objective.md --base main --key nightly-2026-11-27',
    ],
    words: [['[objective]', OBJECTIVE]],
    flags: [...FLAGS.add, ...LIMIT_FLAGS],
    load: async () => (await import('./commands/add.ts')).add,
  },
  queue: {
    about: 'List the runs that wait for an engine, the next one first.',
    examples: ['squad queue', 'squad queue move login-form 1', 'squad queue drop login-form'],
    flags: FLAGS.queue,
    load: async () => (await import('./commands/queue.ts')).queue,
    commands: {
      move: {
        about: 'Move a run to another place of the queue.',
        examples: ['squad queue move login-form 1'],
        words: [
          ['<run>', 'name or id of a run in the queue'],
          ['<place>', 'its new place; 1 starts next'],
        ],
        flags: [JSON_OBJECT],
        load: async () => (await import('./commands/queue.ts')).moveRun,
      },
      drop: {
        about: 'Take a run out of the queue. `squad resume` starts it all the same.',
        examples: ['squad queue drop login-form'],
        words: [['<run>', 'name or id of a run in the queue']],
        flags: [JSON_OBJECT],
        load: async () => (await import('./commands/queue.ts')).dropRun,
      },
    },
  },
  coordinate: {
    about: 'Let a planner design a team for an objective, and write it into a session folder. Make no branch.',
    examples: [
      'squad coordinate objective.md',
      'squad coordinate "add a login form" --into ./team --run',
      'squad coordinate --into ./team --resume',
    ],
    words: [['[objective]', `${OBJECTIVE} (with --resume: default the task of the session)`]],
    flags: [...FLAGS.coordinate, ...LIMIT_FLAGS],
    load: async () => (await import('./commands/coordinate.ts')).coordinate,
  },
  plan: {
    about: 'Plan an objective, and start nothing before you approve the plan.',
    examples: ['squad plan objective.md', 'squad plan "add a login form" --prompts'],
    words: [['<objective>', OBJECTIVE]],
    flags: [...FLAGS.plan, ...LIMIT_FLAGS],
    load: async () => (await import('./commands/plan.ts')).plan,
  },
  compare: {
    about:
      'Run an objective with two sets of prompts, and compare what is on record: one plan, one base commit, one run after another.',
    examples: [
      'squad compare objective.md --prompts squad/prompts --prompts shipped --times 5',
      'squad compare objective.md --prompts planner-a --prompts planner-b --replan',
    ],
    words: [['<objective>', OBJECTIVE]],
    flags: [...FLAGS.compare, ...LIMIT_FLAGS],
    load: async () => (await import('./commands/compare.ts')).compare,
  },
  resume: {
    about: 'Resume a run that was interrupted, paused or stopped, or that waits for you.',
    examples: [
      'squad resume',
      'squad resume my-run --max-minutes 240',
      'squad resume --reload',
      'squad resume my-run --past-deadline',
      'squad resume --detach',
      'squad resume --all',
    ],
    words: [['[run]', 'name or id of a run (default: the one that needs it most)']],
    flags: [...FLAGS.resume, ...LIMIT_FLAGS],
    pool: 'steers',
    load: async () => (await import('./commands/run.ts')).resume,
  },
  stop: {
    about: 'Stop a run and its turns now. `squad resume` continues it.',
    examples: ['squad stop'],
    words: [RUN_WORD],
    pool: 'steers',
    load: async () => (await import('./commands/stop.ts')).stop,
  },
  fork: {
    about: 'Fork a run: start a new one from one of its events. The old run stays as it is.',
    examples: ['squad fork my-run', 'squad fork my-run --at 42 --name second-try'],
    words: [RUN_WORD],
    pool: 'itself',
    load: async () => (await import('./commands/fork.ts')).fork,
  },
  session: {
    about: 'Check the session folder of a team.',
    examples: [CHECK],
    commands: {
      check: {
        about: 'Check a session folder, and list all that is wrong with it. Change nothing.',
        examples: [CHECK],
        words: [['[folder]', 'folder with team-session.json, task-analysis.json and roles/']],
        load: async () => (await import('./commands/session-check.ts')).sessionCheck,
      },
    },
  },
};
