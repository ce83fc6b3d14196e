import { FLAGS } from './command-context.ts';
import type { Commands } from './command-row.ts';

/** Panes in which people watch a team and take part. */
export const TEAM_COMMANDS: Commands = {
  team: {
    about: 'Open a pane for each member of a run, with its turns, its mail and a line to write to it.',
    examples: ['squad team objective.md', 'squad team', 'squad team --close'],
    words: [['[objective]', 'objective of a new run, as `squad run` takes it (default: join the run that is running)']],
    flags: FLAGS.team,
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
