import type { Command } from 'commander';
import type { Flag } from '../../text/flags.ts';
import type { CommandContext } from '../command-context.ts';
import { addCommands, example, type CommandRow, type Commands } from '../command-row.ts';
import {
  FIELD_FLAGS,
  INBOX_FLAGS,
  LISTEN_FLAGS,
  MAIL_FLAGS,
  SEND_FLAGS,
  TRACE_FLAGS,
  type SendOptions,
} from './options.ts';
import { SEND_COMMANDS, type SendCommand } from './send-command.ts';

const READING: Commands = {
  inbox: {
    about: 'Print what waits for your answer, then unread mail, oldest first. What it prints counts as read.',
    examples: ['squad mail inbox', 'squad mail inbox --as a --peek --json'],
    flags: INBOX_FLAGS,
    load: async () => (await import('./inbox.ts')).inbox,
  },
  listen: {
    about: 'Print mail as it arrives, until Ctrl-C, with reminders of unanswered asks.',
    examples: ['squad mail listen', 'squad mail listen --as a --json'],
    flags: LISTEN_FLAGS,
    load: async () => (await import('./listen.ts')).listen,
  },
  status: {
    about: 'Show members, unread and unanswered mail, mail that was given up, and tasks of mail.',
    examples: ['squad mail status', 'squad mail status --json'],
    flags: MAIL_FLAGS,
    load: async () => (await import('./status.ts')).mailStatus,
  },
  trace: {
    about: 'Print every message and its deliveries, oldest first.',
    examples: ['squad mail trace --task FEAT-1', 'squad mail trace --export ./mail'],
    flags: TRACE_FLAGS,
    load: async () => (await import('./trace.ts')).trace,
  },
};

/** The commands that people and scripts write and read mail with. */
export function addMailCommands(mail: Command, context: CommandContext): void {
  mail.addHelpText('after', example('squad mail inbox', 'squad mail say --as a "which port?"', 'squad mail status'));
  const sending = Object.fromEntries(SEND_COMMANDS.map((command) => [command.name, rowOf(command)]));
  addCommands(mail, { ...sending, ...READING }, context);
}

function rowOf(command: SendCommand): CommandRow {
  const { name, does, actions, needsAction, inWords, makes } = command;
  const flags: Flag[] = command.flags.map((flag) => FIELD_FLAGS[flag.type](flag.name, flag.help));
  if (actions.length > 0) flags.push(['--action <action>', 'the kind of message', actions]);
  if (makes.some(({ kind }) => kind.base64)) {
    flags.push(['--body-encoding <encoding>', 'how --body is written', ['json', 'base64']]);
  }
  return {
    about: does,
    examples: command.example,
    words: inWords ? [['<words...>', 'your words']] : [],
    flags: [...SEND_FLAGS, ...flags],
    needs: needsAction ? ['action'] : [],
    load: async () => {
      const { sendMail } = await import('./send.ts');
      return inWords
        ? async (about, words: readonly string[], options: SendOptions) => sendMail(about, name, words, options)
        : async (about, options: SendOptions) => sendMail(about, name, [], options);
    },
  };
}
