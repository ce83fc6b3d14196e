import type { Commands } from './command-row.ts';
import { FLAGS } from './command-context.ts';
import { JSON_LINES, JSON_OBJECT } from './flags.ts';

/** A team that works for weeks: requests come in, a backlog is kept, and sprints bring it onto one branch. */
export const SPRINT_COMMANDS: Commands = {
  ask: {
    about: 'Say something to the team in your own words: a request, a question, or a command.',
    examples: ['squad ask "please add a login form"', 'squad ask "how is it going?"', 'squad ask "sprint stop"'],
    words: [['<text>', 'what you want to say']],
    flags: FLAGS.ask,
    load: async () => (await import('./commands/ask.ts')).ask,
  },
  request: {
    about: 'Ask the team for something. The planner makes items of the backlog of it.',
    examples: [
      'squad request "add a login form"',
      'squad request "the form as in the sketch" --attach sketch.png --wait planned',
      'squad request "b-deploy: the port of the server is 8443"',
    ],
    words: [['<text>', 'what you want, or what a blocked item waits for']],
    flags: FLAGS.request,
    load: async () => (await import('./commands/request.ts')).request,
    commands: {
      list: {
        about: 'List the requests, the newest last.',
        examples: ['squad request list'],
        flags: [JSON_LINES],
        load: async () => (await import('./commands/request.ts')).requestList,
      },
      show: {
        about: 'Show a request with its items, their sprints and commits, and the planner’s answer.',
        examples: ['squad request show r-1a2b3c4d'],
        words: [['<request>', 'its id']],
        flags: [JSON_OBJECT],
        load: async () => (await import('./commands/request.ts')).requestShow,
      },
      cancel: {
        about: 'Cancel a request. Its items stay in the backlog: only the planner takes them out.',
        examples: ['squad request cancel r-1a2b3c4d'],
        words: [['<request>', 'its id']],
        flags: [JSON_OBJECT],
        load: async () => (await import('./commands/request.ts')).requestCancel,
      },
    },
  },
  action: {
    about: 'Run one of the commands that squad.yaml has under `actions`, or list them.',
    examples: ['squad action list', 'squad action run deploy staging'],
    commands: {
      list: {
        about: 'List the actions.',
        examples: ['squad action list'],
        flags: [JSON_LINES],
        load: async () => (await import('./commands/action.ts')).actionList,
      },
      run: {
        about: 'Run an action here and now. Its output is kept in the ledger.',
        examples: ['squad action run deploy staging --yes'],
        words: [
          ['<action>', 'its name'],
          ['[arguments...]', 'what its command gets as $1, $2 and so on'],
        ],
        flags: FLAGS['action run'],
        load: async () => (await import('./commands/action.ts')).actionRun,
      },
    },
  },
  backlog: {
    about: 'List what the team has to do, the most urgent first.',
    examples: ['squad backlog', 'squad backlog --json'],
    load: async () => (await import('./commands/backlog.ts')).backlog,
  },
  sprint: {
    about: 'Work for a milestone with the whole team, or see how the sprint stands.',
    examples: ['squad sprint start "a login page"', 'squad sprint status', 'squad sprint report'],
    commands: {
      start: {
        about: 'Start a sprint: the team plans it, does its todos, and brings the work onto the branch `sprints`.',
        examples: [
          'squad sprint start "a login page" --attach sketch.png',
          'squad sprint start "fewer flaky tests" --until 18:00 --yes',
        ],
        words: [['<milestone>', 'what the sprint is for; more lines are its requirements']],
        flags: FLAGS['sprint start'],
        load: async () => (await import('./commands/sprint.ts')).sprintStart,
      },
      stop: {
        about: 'Have the sprint wrap up: no todo starts any more, and the rest is carried over.',
        examples: ['squad sprint stop', 'squad sprint stop --now'],
        flags: FLAGS['sprint stop'],
        load: async () => (await import('./commands/sprint.ts')).sprintStop,
      },
      status: {
        about: 'Show the active sprint with its todos, or why none starts.',
        examples: ['squad sprint status', 'squad sprint status --json'],
        flags: [JSON_OBJECT],
        load: async () => (await import('./commands/sprint-status.ts')).sprintStatus,
      },
      report: {
        about: 'Show the report of a sprint, by default of the last one that ended.',
        examples: ['squad sprint report', 'squad sprint report 260324-Sprint-09:00 --json'],
        words: [['[sprint]', 'its id']],
        flags: [JSON_OBJECT],
        load: async () => (await import('./commands/sprint-report.ts')).sprintReport,
      },
    },
  },
};
