import { PEOPLE_KINDS } from '../../model/people/kinds.ts';
import { outcomeSchema, TERMINAL, type Message, type Outcome } from '../../model/people/message.ts';
import type { Reply } from '../../model/people/reply.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { defined } from '../../text/defined.ts';
import { plainJson } from '../../text/json.ts';
import { plainText } from '../../text/plain-text.ts';
import { signed } from '../../view/people/notices.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';

/** The end of a message, so far. `says`: for its sender; empty: there is no answer. */
export interface Settled extends Pick<Outcome, 'state' | 'request'> {
  readonly says: string;
}

interface Settles {
  readonly id: string;
  readonly message: Message;
  /** The yes or no that settles it: its own outcome is written with it. */
  readonly by?: string | undefined;
}

/** The id of the answer to a message. Whatever it says, there is one; `asks`: and one that asks for a yes before. */
export function replyId(message: string, what: 'answer' | 'asks' = 'answer'): string {
  return `${message}/${what}`;
}

/**
 * Writes what came of a message, and its answer, in the transaction in which `work` writes what it means. So a message does something once,
 * however often squad is killed. Where another process was faster, nothing is written.
 */
export async function settle(
  workspace: OpenedWorkspace,
  { id, message, by }: Settles,
  work: (ledger: Ledger) => Settled,
): Promise<void> {
  const { composition } = workspace;
  const redactor = composition.redactor([]);
  failpoint('message.acted');
  await withLedger(workspace, 'write', (ledger) =>
    ledger.transact(() => {
      const before = ledger.record(PEOPLE_KINDS.outcome, id);
      if (before !== undefined && (by === undefined || outcomeSchema.parse(before.value).state !== 'waits')) return;
      if (by !== undefined && ledger.record(PEOPLE_KINDS.outcome, by) !== undefined) return;
      const { state, request, says } = work(ledger);
      const at = composition.clock.now();
      ledger.writeRecord({ kind: PEOPLE_KINDS.outcome, id, value: plainJson({ state, at, ...defined({ request }) }) });
      if (by !== undefined)
        ledger.writeRecord({ kind: PEOPLE_KINDS.outcome, id: by, value: { state: 'done', at }, after: 0 });
      if (says.trim() === '') return;
      const reply = replyOf(message, redactor.text(plainText(says)), at);
      const what = replyId(id, state === 'waits' ? 'asks' : 'answer');
      ledger.writeRecord({ kind: PEOPLE_KINDS.reply, id: what, value: plainJson(reply), after: 0 });
    }),
  );
}

function replyOf({ channel, place, sender }: Message, text: string, at: number): Reply {
  if (channel === TERMINAL) return { channel, place, text, at };
  return { channel, place, text: signed([text], 'orchestrator'), at, sender };
}
