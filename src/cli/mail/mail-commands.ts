import { InvalidArgumentError, Option, type Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { duration, example, wholeNumber } from '../option-values.ts';
import type { Declined } from './declined.ts';
import { parseMoment, type Moment } from './moment.ts';
import { LOCALES, WAITS, type InboxOptions, type MailOptions, type SendOptions, type TraceOptions } from './options.ts';
import type { Sending } from './sending.ts';

const RUN = 'a run, by name or id; otherwise the one that an engine drives, or the newest';
const DECLINED = `
Declined: --auto-input, because nothing is ever typed into another program (windows of \`squad team\` and \`listen\` show
mail); --auto-reply and --prompt-path, because a model that answers outside its session, budget and worktree would be
outside every cap (the engine wakes the agent that mail is for). See docs/mail.md.`;

/** What people and scripts say and read by mail. Each verb loads its own code when it is used. */
export function addMailCommands(program: Command, context: CommandContext): void {
  const mail = program
    .command('mail')
    .description('Write to the members of a run and read what they write, with or without an engine.')
    .addHelpText('after', example('squad mail inbox', 'squad mail say --as a "which port?"', 'squad mail status'))
    .addHelpText('after', DECLINED);
  addAsks(mail, context);
  addAnswers(mail, context);
  addWords(mail, context);
  addReading(mail, context);
  addLooking(mail, context);
}

function addAsks(mail: Command, context: CommandContext): void {
  sending(mail, 'review', 'Ask members to review a document.', context)
    .option('--file <path>', 'what to review')
    .option('--focus <list>', 'what to look at above all: func,perf,ux', list)
    .option('--review-deadline <when>', 'by when (default: in an hour): 3600, 90s, 30m, 2h, or a date with time', when)
    .option('--deadline <when>', 'the same', when)
    .addHelpText('after', example('squad mail review --to A,B --task DOC-1 --file docs/design.md --wait accepted'));
  sending(mail, 'assign', 'Give a member a task.', context)
    .option('--action <type>', 'what kind of work: implement (the default), hand-off, …')
    .option('--files <list>', 'which files it is about', list)
    .option('--success-criteria <list>', 'how to tell that it is done; a comma within one is written \\,', list)
    .option('--dependencies <list>', 'tasks that have to be done before', list)
    .option('--deadline <when>', 'by when: 3600 (seconds), 90s, 30m, 2h, or a date with time and zone', when)
    .option('--summary <text>', 'what it is about, in a sentence')
    .addHelpText(
      'after',
      example(
        'squad mail assign --to B --task FEAT-1 --action implement --files src/router.ts \\',
        '  --success-criteria "Tests pass,Code reviewed" --deadline 2h',
      ),
    );
  sending(mail, 'ask', 'Ask a question, or to have a change verified.', context)
    .addOption(new Option('--action <action>', 'which of the two').choices(['clarify', 'verify']).makeOptionMandatory())
    .option('--question <text>', 'what is asked')
    .option('--code-path <path>', 'clarify: where in the code; `-` where it is about none')
    .option('--context <text>', 'clarify: what you know and are doing')
    .option('--expected <text>', 'clarify: what you think the answer is')
    .option('--doc-path <path>', 'where in the documentation')
    .option('--changes-summary <text>', 'verify: how it was changed')
    .addHelpText(
      'after',
      example(
        'squad mail ask --to MAIN --action clarify --task FEAT-1 --code-path src/router.ts#L145 \\',
        '  --question "which back-off?" --context "retries of acks"',
      ),
    );
}

function addAnswers(mail: Command, context: CommandContext): void {
  sending(mail, 'report', 'Report what a review found.', context)
    .option('--file <path>', 'what was reviewed (default: what was asked for)')
    .option('--issues <json>', 'a JSON array of issues (docs/protocol.md); absent: there are none')
    .option('--summary <text>', 'all in all')
    .option('--questions <list>', 'what you want to know', list)
    .addHelpText('after', example('squad mail report --task DOC-1 --body-file review.json'));
  sending(mail, 'send', 'Send an answer, or a note.', context)
    .addOption(new Option('--action <action>', 'which of the two').choices(['answer', 'note']).default('answer'))
    .option('--summary <text>', 'what it says')
    .option('--doc-updated', 'the documentation says it now, in a commit')
    .option('--doc-path <path>', 'where')
    .option('--reason <text>', 'why the documentation needs no change')
    .addHelpText('after', example(`squad mail send --to B --task FEAT-1 --body '{"doc_updated":true}'`));
  sending(mail, 'done', 'Say that what was asked for is done.', context)
    .addOption(new Option('--action <action>', 'in answer to `ask --action verify`').choices(['verified']))
    .option('--new-issues <n>', 'verified: how many new issues there are', wholeNumber)
    .option('--summary <text>', 'what was done')
    .addHelpText('after', example('squad mail done --task FEAT-1', 'squad mail done --action verified'));
  sending(mail, 'fail', 'Say that what was asked for cannot be done.', context)
    .option('--reason <text>', 'why')
    .option('--blocked-by <list>', 'what stands in the way: tasks, files, people', list)
    .addHelpText('after', example('squad mail fail --task FEAT-1 --reason "the API is gone" --blocked-by FEAT-0'));
}

function addWords(mail: Command, context: CommandContext): void {
  saying(mail, 'say', 'Ask MAIN in plain words; what you are at work on is filled in.', 'the question', context)
    .option('--code-path <path>', 'where in the code')
    .option('--doc-path <path>', 'where in the documentation')
    .option('--context <text>', 'what you know and are doing')
    .addHelpText('after', example('squad mail say --as a "which port does the router take?"'));
  saying(mail, 'reply', 'Answer in plain words: what --corr names, or the only open ask.', 'the answer', context)
    .option('--doc-updated', 'the documentation says it now, in a commit')
    .option('--doc-path <path>', 'where')
    .option('--reason <text>', 'why the documentation needs no change')
    .addHelpText('after', example('squad mail reply "it takes 4711"', `squad mail reply --corr '#12' "yes"`));
}

function addReading(mail: Command, context: CommandContext): void {
  speaking(mail.command('inbox'))
    .description('Print unread mail, oldest first, and say that it was read.')
    .option('--peek', 'only look')
    .option('--take', 'read an agent’s mail in its place; otherwise you only look at it')
    .option('--limit <n>', 'at most this many', wholeNumber)
    .addHelpText('after', example('squad mail inbox', 'squad mail inbox --as a --peek --json'))
    .action(async (options: InboxOptions) => (await import('./inbox.ts')).inbox(context, options));
  speaking(mail.command('listen'))
    .description('Print mail as it arrives, until Ctrl-C; reminds of what is not answered.')
    .option('--peek', 'only look')
    .option('--take', 'read an agent’s mail in its place; otherwise you only look at it')
    .addHelpText('after', example('squad mail listen', 'squad mail listen --as a --json'))
    .addHelpText('after', DECLINED)
    .addOption(new Option('--auto-input').hideHelp())
    .addOption(new Option('--auto-reply').hideHelp())
    .addOption(new Option('--prompt-path <path>').hideHelp())
    .action(async (options: InboxOptions & Declined) => {
      (await import('./declined.ts')).refuseDeclined(options);
      return (await import('./listen.ts')).listen(context, options);
    });
}

function addLooking(mail: Command, context: CommandContext): void {
  shown(mail.command('status'))
    .description('Say who is there, what is unread, not answered or given up, and what mail says of tasks.')
    .addHelpText('after', example('squad mail status', 'squad mail status --json'))
    .action(async (options: MailOptions) => (await import('./status.ts')).mailStatus(context, options));
  shown(mail.command('trace'))
    .description('Print every message and what became of it, oldest first.')
    .option('--task <id>', 'only what is about this task')
    .option('--corr <id>', 'only this message and what answers it, by id or number (#12)')
    .option('--after <n>', 'only messages with a higher number', wholeNumber)
    .option('--export <folder>', 'write all of it as the protocol’s logs, into a new or empty folder')
    .addHelpText('after', example('squad mail trace --task FEAT-1', 'squad mail trace --export ./mail'))
    .action(async (options: TraceOptions) => (await import('./trace.ts')).trace(context, options));
}

/** A verb that sends, with the flags that all of them have. */
function sending(mail: Command, verb: Sending, description: string, context: CommandContext): Command {
  return sender(mail.command(verb), description).action(async (options: SendOptions) =>
    (await import('./send.ts')).sendMail(context, verb, [], options),
  );
}

/** One whose words are the message. */
function saying(mail: Command, verb: Sending, description: string, words: string, context: CommandContext): Command {
  return sender(mail.command(verb), description)
    .argument('<words...>', words)
    .action(async (given: readonly string[], options: SendOptions) =>
      (await import('./send.ts')).sendMail(context, verb, given, options),
    );
}

function sender(command: Command, description: string): Command {
  return speaking(command)
    .description(description)
    .option('--to <list>', 'whom: addresses, A,B (default: whoever asked, or MAIN)', list)
    .option('--task <id>', 'the task that it is about')
    .option('--owner <address>', 'whose task it is')
    .option('--corr <id>', 'the message that it answers, by id or number (#12)')
    .option('--body <json>', 'more fields of the body, or others, as a JSON object')
    .option('--body-file <path>', 'the same, from a file')
    .option('--ttl <time>', 'how long it may be under way: 60s, 30m, 2h', duration)
    .option('--key <text>', 'your own name for it: the same again under this key is no second message')
    .addOption(
      new Option('--wait <for>', 'end once every recipient has it, has read it, or has answered').choices(WAITS),
    )
    .option('--timeout <time>', 'with --wait: at most so long (exit 4): 60s, 30m, 2h', duration);
}

function speaking(command: Command): Command {
  return shown(command).option(
    '--as <member>',
    'as whom a person speaks or reads (default: MAIN, where that is a person)',
  );
}

function shown(command: Command): Command {
  return command
    .option('--run <run>', RUN)
    .addOption(new Option('--locale <locale>', 'how messages are shown (default: as squad.yaml says)').choices(LOCALES))
    .option('--json', 'print one JSON object a line');
}

/** `a,b` and given again; `\,` is a comma within one. */
function list(value: string, before: readonly string[] = []): readonly string[] {
  const parts = value.split(/(?<!\\),/).map((part) => part.replaceAll('\\,', ',').trim());
  return [...before, ...parts.filter((part) => part !== '')];
}

function when(text: string): Moment {
  const moment = parseMoment(text);
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError(`${text} is no time; for example 3600, 90s, 30m, 2h or 2026-12-24T17:00+01:00`);
}
