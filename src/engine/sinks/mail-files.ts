import { loggedMessage } from '../../model/mail/logged-message.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { RunFile } from '../../view/report/files/run-file.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { asObject } from '../../text/json.ts';

type ReadableMail = Pick<Ledger, 'events' | 'lastSeq'> & {
  readonly mail: Pick<Ledger['mail'], 'message' | 'bodyOf' | 'deferredBy' | 'deliveries'>;
};

const FOLDER = '.msg';

/** A message that a turn defers takes effect when its attempt settles, or never. */
const TYPES = ['mail-sent', 'attempt-settled'];

/**
 * The messages of a run so far, as `squad mail trace --export` has them, in the order in which they took effect. None: no file. Each
 * call reads only the new ones.
 */
export function createMailFiles(ledger: ReadableMail, runId: string, redactor: Redactor): () => readonly RunFile[] {
  let cursor = 0;
  let log = '';
  let blobs: readonly RunFile[] = [];
  const take = (id: string): void => {
    const message = ledger.mail.message(id);
    if (message === undefined) return;
    const { line, blob } = loggedMessage(message, ledger.mail.bodyOf(message));
    log += `${JSON.stringify(redactor.json(line))}\n`;
    if (blob === undefined) return;
    const text = `${JSON.stringify(redactor.json(blob.value), null, 2)}\n`;
    blobs = [...blobs, { path: `${FOLDER}/${blob.path}`, text }];
  };
  const released = (attemptId: string): string[] =>
    ledger.mail
      .deferredBy(attemptId)
      .flatMap(({ id }) => (ledger.mail.deliveries(id).some(({ state }) => state !== 'void') ? [id] : []));
  return () => {
    const last = ledger.lastSeq();
    for (const { seq, type, data } of ledger.events({ stream: runId, after: cursor, types: TYPES })) {
      const { id, held, attemptId } = asObject(data);
      if (type === 'mail-sent' && typeof id === 'string' && typeof held !== 'string') take(id);
      if (type === 'attempt-settled' && typeof attemptId === 'string') released(attemptId).forEach(take);
      cursor = seq;
    }
    // Another process may have sent a message after `last` was read.
    cursor = Math.max(cursor, last);
    return log === '' ? [] : [...blobs, { path: `${FOLDER}/messages.jsonl`, text: log }];
  };
}
