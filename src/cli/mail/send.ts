import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { errorText, SquadError } from '../../model/errors.ts';
import type { MailDraft, MailMessage } from '../../model/mail/envelope.ts';
import type { MailRefusal } from '../../model/mail/refusal.ts';
import type { MailParty } from '../../substrate/ports/mailbox.ts';
import type { CommandContext } from '../command-context.ts';
import { plainLine } from '../../text/plain-text.ts';
import { askedBy } from './asked.ts';
import { draftOf } from './drafts.ts';
import { shortId } from './mail-text.ts';
import { withParty, type OpenedMail } from './open-mail.ts';
import type { SendOptions, WaitFor } from './options.ts';
import { refuseFinished } from './refuse-finished.ts';
import { isAnswer, type DraftFacts, type Sending } from './sending.ts';
import { listenForStop } from './stop-signal.ts';
import { waitFor, type WaitEnd } from './wait.ts';
import { workOf } from './work.ts';

/** Sends one message; with `--wait`, ends when that is reached. Exit 65: refused; 1: it never will be; 4: not in time. */
export async function sendMail(
  context: CommandContext,
  verb: Sending,
  words: readonly string[],
  given: SendOptions,
): Promise<void> {
  if (given.timeout !== undefined && given.wait === undefined) {
    throw usage('--timeout is for --wait', 'Say what is waited for: `--wait accepted`, or `--wait done`.');
  }
  const options = withBodyFile(context, given);
  await withParty(context, options, async (opened, party) => {
    await refuseFinished(opened);
    const draft = draftOf(verb, options, factsOf(opened, party, verb, words, options));
    refuseEndlessWait(party, draft, options.wait);
    const answer = opened.mail.send(party, draft, options.key);
    if (!answer.sent) return tellRefusal(context, answer.refusal, options);
    tellSent(context, answer, isHeld(party, answer.message), options);
    if (options.wait !== undefined) await waitAndTell(context, opened, answer.message, options.wait, options);
  });
}

function withBodyFile({ host }: CommandContext, options: SendOptions): SendOptions {
  const { bodyFile } = options;
  if (bodyFile === undefined) return options;
  if (options.body !== undefined) throw usage('--body and --body-file cannot be given together', 'Give one.');
  try {
    return { ...options, body: readFileSync(resolve(host.workingDirectory, bodyFile), 'utf8') };
  } catch (error) {
    throw usage(`${bodyFile} cannot be read: ${errorText(error)}`, 'Name a file that holds one JSON object.');
  }
}

function factsOf(
  opened: OpenedMail,
  party: MailParty,
  verb: Sending,
  words: readonly string[],
  options: SendOptions,
): DraftFacts {
  const text = words.join(' ').replaceAll(/\s+/g, ' ').trim();
  const asked =
    isAnswer(verb, options.action) || options.corr !== undefined ? askedBy(opened, party, verb, options) : undefined;
  return {
    now: opened.clock.now(),
    from: party.address,
    byHand: party.by !== 'turn',
    ...(words.length === 0 ? {} : { text }),
    ...(asked === undefined ? {} : asked),
    ...(verb === 'say' ? { work: workOf(opened, party.address) } : {}),
  };
}

/** Nobody can wait within a turn for what only its end lets out. */
function refuseEndlessWait(party: MailParty, draft: MailDraft, wait: WaitFor | undefined): void {
  if (wait === 'done' && draft.type !== 'ask') {
    throw usage('only an ask is answered, so there is no end to wait for', 'Wait for `accepted`.');
  }
  if (!isHeld(party, draft) || wait === undefined || wait === 'delivered') return;
  throw usage(
    `what is sent here takes effect when this turn ends, so it cannot wait until it is ${wait}`,
    'Leave out --wait, or wait for `delivered`.',
  );
}

/** What changes the plan takes effect with the end of the turn that it comes from. */
function isHeld({ by }: MailParty, { type, action }: Pick<MailDraft, 'type' | 'action'>): boolean {
  return by === 'turn' && (type === 'done' || type === 'fail' || action === 'assign' || action === 'answer');
}

function tellSent(
  { output }: CommandContext,
  { message, repeated }: { readonly message: MailMessage; readonly repeated: boolean },
  held: boolean,
  { json }: SendOptions,
): void {
  if (json === true) return output.json({ event: 'sent', repeated, held, message });
  const { from, to, type, action, task_id: task } = message;
  const kind = action === undefined ? type : `${type}/${action}`;
  const about = task === undefined ? '' : `  ${plainLine(task, 130)}`;
  const done = repeated ? 'sent before' : 'sent';
  const later = held ? '  (when this turn ends)' : '';
  output.line(`${done}  #${message.seq}  ${from} → ${plainLine(to.join(', '), 300)}  ${kind}${about}${later}`);
}

function tellRefusal({ output, exit }: CommandContext, refusal: MailRefusal, { json }: SendOptions): void {
  exit(65);
  const { reason, field, rule } = refusal;
  if (json === true) return output.json({ event: 'refused', reason, field, rule });
  output.problem(`refused  ${reason}  ${plainLine(field === '' ? 'message' : field, 100)}  ${plainLine(rule, 400)}`);
}

const WAIT_EXITS = { reached: 0, failed: 1, 'timed-out': 4 } as const satisfies Record<
  Exclude<WaitEnd, 'interrupted'>,
  number
>;

async function waitAndTell(
  { output, exit }: CommandContext,
  opened: OpenedMail,
  message: MailMessage,
  wait: WaitFor,
  options: SendOptions,
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
      output.line(`${recipient}  ${state}${answer === null ? '' : `, answered by ${answerName(answer)}`}`);
    }
    if (end === 'timed-out' || end === 'interrupted') {
      output.problem(`It is sent, and on its way. See: squad mail trace --corr '#${message.seq}'`);
    }
  } finally {
    stop.stop();
  }
}

function answerName(answer: string): string {
  return answer === 'overdue' ? 'nobody in time' : shortId(answer);
}

function usage(message: string, next: string): SquadError {
  return new SquadError({ code: 'usage', message, next });
}
