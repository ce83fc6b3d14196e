import { usageError } from '../../model/errors.ts';
import { answerTimeOf, changesPlan } from '../../model/mail/effects.ts';
import type { MailDraft, MailMessage } from '../../model/mail/envelope.ts';
import type { MailRefusal } from '../../model/mail/refusal.ts';
import type { Delivery, MailParty } from '../../substrate/ports/mailbox.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext } from '../command-context.ts';
import { draftOf, withBodyFile } from './draft.ts';
import { localeOf, shortId } from './mail-text.ts';
import { mailWords, type MailWords } from './mail-words.ts';
import { withParty, type OpenedMail } from './open-mail.ts';
import type { SendOptions, WaitFor } from './options.ts';
import { listenForStop } from './stop-signal.ts';

/**
 * Sends one message. With `--wait` it ends when the recipients have read or answered it. Exit codes: 65 refused, 1 it will
 * never be read or answered, 4 not in time.
 */
export async function sendMail(
  context: CommandContext,
  command: string,
  words: readonly string[],
  given: SendOptions,
): Promise<void> {
  if (given.timeout !== undefined && given.wait === undefined) {
    throw usageError('--timeout needs --wait', 'Say what to wait for: `--wait accepted`, or `--wait done`.');
  }
  const options = withBodyFile(context.host.workingDirectory, given);
  await withParty(context, options, async (opened, party) => {
    await refuseFinished(opened);
    const text = words.length === 0 ? undefined : words.join(' ').replaceAll(/\s+/g, ' ').trim();
    const draft = draftOf(opened, party, command, options, text);
    refuseEndlessWait(party, draft, options.wait);
    const answer = opened.mail.send(party, draft, options.key);
    if (!answer.sent) return printRefusal(context, answer.refusal, options);
    const shown = mailWords(await localeOf(context.host, opened.root, options));
    printSent(context, answer, isDeferred(party, answer.message), options, shown);
    if (options.wait !== undefined) await waitAndReport(context, opened, answer.message, options.wait, options, shown);
  });
}

/** Throws if the run is finished, because no agent would read the mail. */
async function refuseFinished(opened: Pick<OpenedMail, 'ledger' | 'run'>): Promise<void> {
  const last = opened.ledger.segments(opened.run.id).at(-1);
  // A claimed run is not finished: an engine drives it, or has died. The module that reads a run takes time to load.
  if (last === undefined || last.releasedAt === null) return;
  const { finishedRun } = await import('./finished-run.ts');
  const finished = finishedRun(opened);
  if (finished !== undefined) throw finished;
}

/** A turn cannot wait for a message that takes effect only when the turn completes. */
function refuseEndlessWait(party: MailParty, draft: MailDraft, wait: WaitFor | undefined): void {
  if (wait === 'done' && draft.type !== 'ask') {
    throw usageError('--wait done is for asks: nothing else is answered', 'Wait with `--wait accepted`.');
  }
  if (!isDeferred(party, draft) || wait === undefined || wait === 'delivered') return;
  throw usageError(
    `this message takes effect when this turn completes, so this turn cannot wait until it is ${wait}`,
    'Leave out --wait, or use `--wait delivered`.',
  );
}

function isDeferred({ by }: MailParty, draft: Pick<MailDraft, 'type' | 'action'>): boolean {
  return by === 'turn' && changesPlan(draft);
}

function printSent(
  { output }: CommandContext,
  { message, repeated }: { readonly message: MailMessage; readonly repeated: boolean },
  deferred: boolean,
  { json }: SendOptions,
  words: MailWords,
): void {
  if (json === true) return output.json({ event: 'sent', repeated, held: deferred, message });
  const { from, to, type, action, task_id: task } = message;
  const kind = action === undefined ? type : `${type}/${action}`;
  const about = task === undefined ? '' : `  ${plainLine(task, 130)}`;
  const done = repeated ? words.sentBefore : words.sent;
  const later = deferred ? `  ${words.deferred}` : '';
  output.line(`${done}  #${message.seq}  ${from} → ${plainLine(to.join(', '), 300)}  ${kind}${about}${later}`);
}

function printRefusal({ output, exit }: CommandContext, refusal: MailRefusal, { json }: SendOptions): void {
  exit(65);
  const { reason, field, rule } = refusal;
  if (json === true) return output.json({ event: 'refused', reason, field, rule });
  output.problem(`refused  ${reason}  ${plainLine(field === '' ? 'message' : field, 100)}  ${plainLine(rule, 400)}`);
}

const WAIT_EXITS = { reached: 0, failed: 1, 'timed-out': 4 } as const satisfies Record<
  Exclude<WaitEnd, 'interrupted'>,
  number
>;

async function waitAndReport(
  { output, exit }: CommandContext,
  opened: OpenedMail,
  message: MailMessage,
  wait: WaitFor,
  options: SendOptions,
  words: MailWords,
): Promise<void> {
  const stop = listenForStop();
  try {
    const end = await waitFor(opened, message, opened.run.id, { wait, timeoutMs: options.timeout }, stop.aborted);
    exit(end === 'interrupted' ? stop.exitCode() : WAIT_EXITS[end]);
    const deliveries = opened.mail.deliveries(message.id);
    const recipients = deliveries.map(({ recipient, state, answer }) => ({ recipient, state, answer }));
    if (options.json === true) {
      output.json({ event: 'waited', id: message.id, for: wait, end, recipients });
      return;
    }
    for (const { recipient, state, answer } of recipients) {
      output.line(
        `${recipient}  ${words.state[state] ?? state}${answer === null ? '' : `, ${words.answeredBy(answer === 'overdue' ? words.noOneInTime : shortId(answer))}`}`,
      );
    }
    if (end === 'timed-out' || end === 'interrupted') {
      output.problem(words.follow(`squad mail trace --corr '#${message.seq}'`));
    }
  } finally {
    stop.stop();
  }
}

const LOOK_MS = 250;

type WaitEnd = 'reached' | 'failed' | 'timed-out' | 'interrupted';

/**
 * Waits until every recipient has received, read or answered a message, or one of them never will. Meanwhile it applies retries
 * and deadlines, even without an engine. `timeoutMs` undefined: for as long as the message lives.
 */
async function waitFor(
  { mail, clock }: Pick<OpenedMail, 'mail' | 'clock'>,
  message: MailMessage,
  runId: string,
  { wait, timeoutMs }: { readonly wait: WaitFor; readonly timeoutMs: number | undefined },
  aborted: AbortSignal,
): Promise<WaitEnd> {
  const until = timeoutMs === undefined ? Infinity : clock.monotonic() + timeoutMs;
  for (;;) {
    const deliveries = mail.deliveries(message.id);
    const failed = failedReplies(mail.replies(message.id));
    const state = stateOf(wait, deliveries, failed);
    if (state !== 'open') return state;
    if (aborted.aborted) return 'interrupted';
    if (clock.monotonic() >= until) return 'timed-out';
    mail.tick(runId);
    await clock.sleep(Math.min(LOOK_MS, until - clock.monotonic()), aborted);
  }
}

function failedReplies(replies: readonly MailMessage[]): ReadonlySet<string> {
  return new Set(replies.filter(({ type }) => type === 'fail').map(({ id }) => id));
}

/** Pure. `failed`: ids of the replies that are a `fail`. */
export function stateOf(
  wait: WaitFor,
  deliveries: readonly Delivery[],
  failed: ReadonlySet<string>,
): 'open' | 'reached' | 'failed' {
  const states = deliveries.map((delivery) => stateOfOne(wait, delivery, failed));
  if (states.includes('open')) return 'open';
  return states.includes('failed') ? 'failed' : 'reached';
}

function stateOfOne(
  wait: WaitFor,
  { state, answer, message }: Delivery,
  failed: ReadonlySet<string>,
): ReturnType<typeof stateOf> {
  if (wait === 'delivered') return 'reached';
  if (answer !== null && wait === 'accepted') return 'reached';
  if (answer === 'overdue') return answerTimeOf(message.action)?.silence === 'done' ? 'reached' : 'failed';
  if (answer !== null) return failed.has(answer) ? 'failed' : 'reached';
  if (state === 'dead' || state === 'void') return 'failed';
  return state === 'accepted' && wait === 'accepted' ? 'reached' : 'open';
}
