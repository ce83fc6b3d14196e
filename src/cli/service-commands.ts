import type { Commands } from './command-row.ts';
import { FLAGS } from './command-context.ts';
import { JSON_OBJECT } from './flags.ts';

/** A service that works without a person: the queue, and schedules. It never loads the graph. */
export const SERVICE_COMMANDS: Commands = {
  serve: {
    about: 'Work through the queue, and start the schedules of squad.yaml by the clock, until it is stopped.',
    examples: ['squad serve', 'squad serve --detach', 'squad serve --unit > ~/.config/systemd/user/squad.service'],
    load: async () => (await import('./commands/serve.ts')).serve,
    commands: {
      status: {
        about: 'Show since when the service runs, what it waits for, and the slots that started no run.',
        examples: ['squad serve status'],
        flags: [JSON_OBJECT],
        load: async () => (await import('./commands/serve-status.ts')).serveStatus,
      },
      stop: {
        about: 'Stop the service and its engine. Runs can continue later.',
        examples: ['squad serve stop'],
        flags: [JSON_OBJECT],
        load: async () => (await import('./commands/serve-stop.ts')).serveStop,
      },
      check: {
        about:
          'Check the schedules of squad.yaml and what they start, ask for your consent, and show their next slots.',
        examples: ['squad serve check'],
        flags: FLAGS['serve check'],
        load: async () => (await import('./commands/serve-check.ts')).serveCheck,
      },
      limits: {
        hidden: true,
        about: 'Record the limits of all runs as the settings say now. `squad serve` starts this.',
        flags: [],
        load: async () => (await import('./commands/serve-limits.ts')).serveLimits,
      },
      team: {
        hidden: true,
        about: 'Do what is next for the team: plan requests, open or close a sprint. `squad serve` starts this.',
        flags: [],
        load: async () => (await import('./commands/serve-team.ts')).serveTeam,
      },
      slot: {
        hidden: true,
        about: 'Submit one slot of a schedule. `squad serve` starts this.',
        words: [
          ['<schedule>', 'the name of a schedule'],
          ['<instant>', 'when it was due, such as 2026-11-28T02:00:00.000Z'],
        ],
        flags: [],
        load: async () => (await import('./commands/serve-slot.ts')).serveSlot,
      },
    },
  },
};
