import type { MailStatus } from '../../src/substrate/ports/mailbox.ts';
import type { EngineRoom } from './engine.ts';

export interface MailOfRun {
  readonly status: MailStatus;
  /** `<from> → <to>: <type>/<action>`, in order; without what a turn took with it. */
  readonly messages: readonly string[];
  /** `<id> <recipient>` of what was never read, or never reached its inbox. */
  readonly unread: readonly string[];
}

/** All mail of a run, as the trace tells it. */
export function mailOf({ ledger }: Pick<EngineRoom, 'ledger'>, runId: string): MailOfRun {
  const open = ledger();
  try {
    const lines = [...open.mail.trace({ runId })];
    const acks = new Set(
      lines.flatMap((line) => (line.event === 'ack' ? [`${line.ack} ${line.id} ${line.agent}`] : [])),
    );
    const voided = new Set(lines.flatMap((line) => (line.event === 'void' ? [line.id] : [])));
    const sent = lines.flatMap((line) =>
      line.event === 'message' && !voided.has(line.message.id) ? [line.message] : [],
    );
    return {
      status: open.mail.status(runId),
      messages: sent.map(({ from, to, type, action }) => {
        const kind = action === undefined ? type : `${type}/${action}`;
        return `${from} → ${to.join(' ')}: ${kind}`;
      }),
      unread: sent.flatMap(({ id, to }) =>
        to.flatMap((agent) =>
          ['delivered', 'accepted'].every((ack) => acks.has(`${ack} ${id} ${agent}`)) ? [] : [`${id} ${agent}`],
        ),
      ),
    };
  } finally {
    open.close();
  }
}
