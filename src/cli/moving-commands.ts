import type { Commands } from './command-row.ts';
import { MOVE_FLAGS } from './flags.ts';

/** Commands that take runs to another place. */
export const MOVING_COMMANDS: Commands = {
  pack: {
    about: 'Write the runs of this repository into one file, from which they continue elsewhere.',
    examples: ['squad pack ../runs.tar'],
    words: [['<file>', 'a file that is not there yet']],
    load: async () => (await import('./commands/pack.ts')).pack,
  },
  unpack: {
    about: 'Take over the runs of a pack, in a clone of their repository that has no runs.',
    examples: ['squad unpack ../runs.tar'],
    words: [['<file>', 'a file that `squad pack` has made']],
    load: async () => (await import('./commands/unpack.ts')).unpack,
  },
  move: {
    about: 'Move the runs of this repository to a clone on another machine over ssh, and continue there.',
    examples: [
      'squad move ssh://me@server/home/me/my-project',
      'squad move login-form ssh://server:2222/~/my-project --now',
      'squad move --back',
    ],
    words: [
      ['[words...]', 'the run that continues there (default: the one at work), and `ssh://[user@]host[:port]/path`'],
    ],
    flags: MOVE_FLAGS,
    load: async () => (await import('./commands/move.ts')).move,
  },
};

/** `squad move` starts it on the other machine. */
export const RECEIVING_COMMAND: Commands = {
  receive: {
    hidden: true,
    about: 'Answer one request of `squad move` on another machine, which starts this over ssh.',
    flags: [],
    load: async () => (await import('./commands/move.ts')).receive,
  },
};
