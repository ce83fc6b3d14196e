import { InvalidArgumentError, Option, type Command } from 'commander';
import { LOCALES } from '../../model/locale.ts';
import { parseMoment, type Moment } from '../../text/duration.ts';
import { parseJson } from '../../text/json.ts';
import type { CommandContext } from '../command-context.ts';
import { example } from '../command-row.ts';
import { duration, wholeNumber } from '../option-values.ts';
import { WAITS, type InboxOptions, type MailOptions, type SendOptions, type TraceOptions } from './options.ts';
import { SEND_COMMANDS, type FlagType, type SendCommand, type SendFlag } from './send-command.ts';

const RUN = 'a run, by name or id (default: the one that an engine drives, or the newest)';
const DECLINED = `
Declined: --auto-input, because squad never types into another program (windows of \`squad team\` and \`listen\` show mail);
--auto-reply and --prompt-path, because a model that answers outside its session, budget and folder would be outside
every limit (the engine wakes the agent that mail is for). See docs/mail.md.`;

/** The commands that people and scripts write and read mail with. Each loads its own code when it runs. */
export function addMailCommands(mail: Command, context: CommandContext): void {
  mail
    .addHelpText('after', example('squad mail inbox', 'squad mail say --as a "which port?"', 'squad mail status'))
    .addHelpText('after', DECLINED);
  for (const command of SEND_COMMANDS) addSending(mail, command, context);
  addReading(mail, context);
  addLooking(mail, context);
}

function addSending(mail: Command, command: SendCommand, context: CommandContext): void {
  const added = withSendFlags(mail.command(command.name), command.does).addHelpText(
    'after',
    example(...command.example),
  );
  for (const flag of command.flags) added.addOption(optionOf(flag));
  const { actions, needsAction } = command;
  if (actions.length > 0) {
    const option = new Option('--action <action>', 'the kind of message').choices(actions);
    if (needsAction) option.makeOptionMandatory();
    added.addOption(option);
  }
  if (command.makes.some(({ kind }) => kind.base64)) {
    added.addOption(new Option('--body-encoding <encoding>', 'how --body is written').choices(['json', 'base64']));
  }
  const send = async (words: readonly string[], options: SendOptions): Promise<void> =>
    (await import('./send.ts')).sendMail(context, command.name, words, options);
  if (command.inWords) added.argument('<words...>', 'your words').action(send);
  else added.action((options: SendOptions) => send([], options));
}

const VALUES: Readonly<Record<FlagType, string>> = {
  text: ' <text>',
  list: ' <list>',
  number: ' <n>',
  boolean: '',
  json: ' <json>',
  moment: ' <when>',
};

function optionOf({ name, type, help }: SendFlag): Option {
  const option = new Option(`--${name}${VALUES[type]}`, help);
  const parsers = { list, number: wholeNumber, json: jsonList, moment: when };
  return type === 'text' || type === 'boolean' ? option : option.argParser<unknown>(parsers[type]);
}

function addReading(mail: Command, context: CommandContext): void {
  const reading = (name: string): Command =>
    withMember(mail.command(name))
      .option('--peek', 'only look')
      .option('--take', 'read an agent’s mail in its place (default: only look at it)');
  reading('inbox')
    .description('Print what waits for your answer, then unread mail, oldest first. What it prints counts as read.')
    .option('--limit <n>', 'print at most this many', wholeNumber)
    .addHelpText('after', example('squad mail inbox', 'squad mail inbox --as a --peek --json'))
    .action(async (options: InboxOptions) => (await import('./inbox.ts')).inbox(context, options));
  reading('listen')
    .description('Print mail as it arrives, until Ctrl-C, with reminders of unanswered asks.')
    .addHelpText('after', example('squad mail listen', 'squad mail listen --as a --json'))
    .addHelpText('after', DECLINED)
    .addOption(new Option('--auto-input').hideHelp())
    .addOption(new Option('--auto-reply').hideHelp())
    .addOption(new Option('--prompt-path <path>').hideHelp())
    .action(async (options: InboxOptions) => (await import('./listen.ts')).listen(context, options));
}

function addLooking(mail: Command, context: CommandContext): void {
  withRun(mail.command('status'))
    .description('Show members, unread and unanswered mail, mail that was given up, and tasks of mail.')
    .addHelpText('after', example('squad mail status', 'squad mail status --json'))
    .action(async (options: MailOptions) => (await import('./status.ts')).mailStatus(context, options));
  withRun(mail.command('trace'))
    .description('Print every message and its deliveries, oldest first.')
    .option('--task <id>', 'only messages about this task')
    .option('--corr <id>', 'only this message and its answers, by id or number (#12)')
    .option('--after <n>', 'only messages with a higher number', wholeNumber)
    .option('--export <folder>', 'write everything as the protocol’s logs, into a new or empty folder')
    .addHelpText('after', example('squad mail trace --task FEAT-1', 'squad mail trace --export ./mail'))
    .action(async (options: TraceOptions) => (await import('./trace.ts')).trace(context, options));
}

function withSendFlags(command: Command, description: string): Command {
  return withMember(command)
    .description(description)
    .option('--to <list>', 'the recipients: addresses, A,B (default: the sender of the ask, or MAIN)', list)
    .option('--task <id>', 'the task that it is about')
    .option('--owner <address>', 'the owner of the task')
    .option('--corr <id>', 'the message that it answers, by id or number (#12)')
    .option('--body <json>', 'more fields of the body, as a JSON object')
    .option('--body-file <path>', 'the same, from a file')
    .option('--ttl <time>', 'how long it may take to arrive: 60s, 30m, 2h', duration)
    .option('--key <text>', 'your own name for it: a repeat with this key sends no second message')
    .addOption(
      new Option('--wait <for>', 'wait until every recipient has it, has read it, or has answered').choices(WAITS),
    )
    .option('--timeout <time>', 'with --wait: wait at most this long (exit 4): 60s, 30m, 2h', duration);
}

function withMember(command: Command): Command {
  return withRun(command).option(
    '--as <member>',
    'the member that you speak or read as (default: MAIN, if a person is MAIN)',
  );
}

function withRun(command: Command): Command {
  return command
    .option('--run <run>', RUN)
    .addOption(new Option('--locale <locale>', 'language of messages (default: as in squad.yaml)').choices(LOCALES))
    .option('--json', 'print one JSON object a line');
}

/** `a,b`, also from a repeated flag; `\,` is a comma within an entry. */
function list(value: string, before: unknown): readonly string[] {
  const parts = value.split(/(?<!\\),/).map((part) => part.replaceAll('\\,', ',').trim());
  return [...(Array.isArray(before) ? (before as string[]) : []), ...parts.filter((part) => part !== '')];
}

function when(text: string): Moment {
  const moment = parseMoment(text);
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError(`${text} is not a time; for example 3600, 90s, 30m, 2h or 2026-12-24T17:00+01:00`);
}

function jsonList(text: string): readonly unknown[] {
  const value = parseJson(text);
  if (Array.isArray(value)) return value;
  throw new InvalidArgumentError('It must be a JSON array; docs/protocol.md lists the fields of an entry.');
}
