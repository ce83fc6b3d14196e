import { loggedMessage } from '../model/mail/logged-message.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import type { RunFile } from '../report/files/run-file.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { asObject } from '../text/json.ts';

type ReadableMail = Pick<Ledger, 'events' | 'lastSeq'> & { readonly mail: Pick<Ledger['mail'], 'message' | 'bodyOf'> };

const FOLDER = '.msg';

/** The messages of a run so far, as `squad mail trace --export` has them. None: no file. Each call reads only the new ones. */
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
  return () => {
    const last = ledger.lastSeq();
    for (const { seq, data } of ledger.events({ stream: runId, after: cursor, types: ['mail-sent'] })) {
      const { id } = asObject(data);
      if (typeof id === 'string') take(id);
      cursor = seq;
    }
    // Another process may have sent a message after `last` was read.
    cursor = Math.max(cursor, last);
    return log === '' ? [] : [...blobs, { path: `${FOLDER}/messages.jsonl`, text: log }];
  };
}
