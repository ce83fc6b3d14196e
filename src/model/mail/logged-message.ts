import type { MailMessage } from './envelope.ts';

/** A message as the protocol's logs have it. */
interface LoggedMessage {
  readonly line: object;
  /** The file with a body too long for its line, as stored. `path` is relative to the folder of the logs. */
  readonly blob: { readonly path: string; readonly value: object } | undefined;
}

/** Fields that a message may lack. The logs have them as null. */
const ABSENT = { action: null, task_id: null, owner: null, deadline: null, corr: null } as const;

export function loggedMessage(message: MailMessage, body: string): LoggedMessage {
  const { id, body_encoding, body_ref } = message;
  const path = body_ref === undefined ? null : `blobs/${id}.json`;
  return {
    line: { event: 'message', ...ABSENT, ...message, body_ref: path },
    blob: path === null ? undefined : { path, value: { id, body_encoding, body } },
  };
}
