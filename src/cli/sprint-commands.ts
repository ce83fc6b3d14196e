import type { Commands } from './command-row.ts';
import { FLAGS } from './command-context.ts';
import { JSON_OBJECT } from './flags.ts';

/** A team that works for weeks: requests come in, a backlog is kept, and sprints bring it onto one branch. */
export const SPRINT_COMMANDS: Commands = {
  sprint: {
    about: 'Work for a milestone with the whole team, or see how the sprint stands.',
    examples: ['squad sprint start "a login page"', 'squad sprint status', 'squad sprint stop'],
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
    },
  },
};
