import { PEOPLE_KINDS } from '../../model/people/kinds.ts';
import { outcomeSchema, TERMINAL, type Message, type Outcome } from '../../model/people/message.ts';
import { replySchema } from '../../model/people/reply.ts';
import { badInput, usageError } from '../../model/errors.ts';
import type { Attachment } from '../../model/sprint/request.ts';
import { MOST_TEXT_BYTES } from '../../rules/sprint/intake.ts';
import { uuid7 } from '../../substrate/system/clock/ids.ts';
import { plainJson } from '../../text/json.ts';
import { operatorOf } from '../machine.ts';
import { lookIn, withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { replyId } from './settle.ts';

/** Takes a message of the operator, who may do all, and returns its id. Throws for a text that no channel takes. */
export async function ask(
  workspace: OpenedWorkspace,
  { text, attachments = [] }: { readonly text: string; readonly attachments?: readonly Attachment[] },
): Promise<string> {
  if (text.trim() === '')
    throw usageError('the message is empty', 'Say what you want: `squad ask "how is it going?"`.');
  if (Buffer.byteLength(text) > MOST_TEXT_BYTES)
    throw badInput('the message is larger than 64 KiB', 'Put the details into a file: `squad ask "…" --attach FILE`.');
  const { composition, host } = workspace;
  const at = composition.clock.now();
  const person = operatorOf(host);
  const message: Message = {
    ...{ channel: TERMINAL, sender: person, name: person, place: TERMINAL, at },
    text: composition.redactor([]).text(text.trim()),
    attachments: [...attachments],
  };
  const id = `${TERMINAL}:${uuid7(at)}`;
  await withLedger(workspace, 'write', (ledger) =>
    ledger.writeRecord({ kind: PEOPLE_KINDS.message, id, value: plainJson(message), after: 0 }),
  );
  return id;
}

export interface AskedOutcome extends Outcome {
  /** For its sender; empty: there is no answer. */
  readonly says: string;
}

/** The outcome of a message so far; undefined: nothing was done about it yet. */
export function outcomeOf(workspace: OpenedWorkspace, id: string): AskedOutcome | undefined {
  return lookIn(workspace, (ledger) => {
    const outcome = ledger.record(PEOPLE_KINDS.outcome, id);
    if (outcome === undefined) return undefined;
    const read = outcomeSchema.parse(outcome.value);
    const reply = ledger.record(PEOPLE_KINDS.reply, replyId(id, read.state === 'waits' ? 'asks' : 'answer'));
    return { ...read, says: reply === undefined ? '' : replySchema.parse(reply.value).text };
  });
}
