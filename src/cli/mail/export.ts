import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { errorText, SquadError, usageError } from '../../model/errors.ts';
import type { MailMessage } from '../../model/mail/envelope.ts';
import { loggedMessage } from '../../model/mail/logged-message.ts';
import { redactorOf } from '../../model/redaction/redactor.ts';
import type { MailTrace } from '../../substrate/ports/mailbox.ts';
import type { CommandContext } from '../command-context.ts';
import type { OpenedMail } from './open-mail.ts';
import type { MailOptions } from './options.ts';

interface ExportContext {
  readonly host: Pick<CommandContext['host'], 'workingDirectory' | 'environment'>;
  readonly output: Pick<CommandContext['output'], 'json' | 'line'>;
}

type ExportedMail = Pick<OpenedMail, 'mail' | 'root' | 'policy'> & { readonly run: Pick<OpenedMail['run'], 'id'> };

/**
 * Writes the mail of a run in the shapes of the protocol's logs (docs/mail.md) into a new or empty folder, for other programs.
 * Secrets are removed. Throws `usage` for a folder that is not empty.
 */
export function exportMail(
  { host, output }: ExportContext,
  opened: ExportedMail,
  path: string,
  { json }: MailOptions,
): void {
  const folder = resolve(host.workingDirectory, path);
  makeEmpty(folder);
  const redactor = redactorOf(host.environment, []);
  const files = createFiles(folder, (value) => redactor.json(value));
  const counts = writeLogs(opened, files);
  const { messages, acks } = counts;
  writeState(opened, counts, files);
  files.flush();
  if (json === true) output.json({ event: 'exported', path: folder, messages, acks });
  else output.line(`${messages} messages and ${acks} acks in ${folder}`);
}

function makeEmpty(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (readdirSync(folder).length === 0) return;
  } catch (error) {
    throw refusal(`${folder} cannot be written to: ${errorText(error)}`);
  }
  throw refusal(`${folder} is not empty`);
}

function refusal(message: string): SquadError {
  return usageError(message, 'Name a folder that is new or empty: `squad mail trace --export ./mail`.');
}

interface Files {
  append(name: string, value: object): void;
  whole(name: string, value: object): void;
  /** Writes what `append` has held back. */
  flush(): void;
}

const CHUNK_CHARACTERS = 64 * 1024;

/** Few files get many lines, so lines are written in chunks. */
function createFiles(folder: string, redact: (value: object) => object): Files {
  const held = new Map<string, string>();
  const pathOf = (name: string): string => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return path;
  };
  const flush = (name: string, text: string): void => {
    appendFileSync(pathOf(name), text, { mode: 0o600 });
    held.set(name, '');
  };
  return {
    append: (name, value) => {
      const text = `${held.get(name) ?? ''}${JSON.stringify(redact(value))}\n`;
      held.set(name, text);
      if (text.length > CHUNK_CHARACTERS) flush(name, text);
    },
    whole: (name, value) => {
      writeFileSync(pathOf(name), `${JSON.stringify(redact(value), null, 2)}\n`, { flag: 'wx', mode: 0o600 });
    },
    flush: () => {
      for (const [name, text] of held) flush(name, text);
    },
  };
}

interface Counts {
  readonly messages: number;
  readonly acks: number;
  /** Time of the newest message (epoch ms); null: there is none. */
  readonly lastTs: number | null;
  /** By message. */
  readonly deliveries: ReadonlyMap<string, Deliveries>;
}

/** By recipient. */
type Deliveries = Record<string, { status: string; retry_count: number; last_ts: number }>;

function noteDelivery(
  all: Map<string, Deliveries>,
  entry: Exclude<MailTrace, { event: 'message' | 'presence' }>,
): void {
  const { id, agent, ts } = entry;
  const deliveries = all.get(id) ?? {};
  const { status = 'delivered', retry_count: retries = 0 } = deliveries[agent] ?? {};
  const states: Readonly<Record<string, string>> = {
    retry: 'delivered',
    dead: 'failed',
    overdue: status,
    void: 'void',
  };
  deliveries[agent] = {
    status: entry.event === 'ack' ? entry.ack : (states[entry.event] ?? status),
    retry_count: entry.event === 'retry' ? retries + 1 : retries,
    last_ts: ts,
  };
  all.set(id, deliveries);
}

function noteDeferred(all: Map<string, Deliveries>, { id, to, ts }: MailMessage): void {
  const deferred = { status: 'deferred', retry_count: 0, last_ts: ts };
  all.set(id, Object.fromEntries(to.map((agent) => [agent, deferred])));
}

/**
 * The logs hold what took effect. Who reads them delivers every message in them that has no ack, so what is deferred, or void because
 * its turn did not complete, is in the state of deliveries alone.
 */
function writeLogs({ mail, run }: ExportedMail, files: Files): Counts {
  const counts = { messages: 0, acks: 0, lastTs: null as number | null, deliveries: new Map<string, Deliveries>() };
  for (const entry of mail.trace({ runId: run.id })) {
    if (entry.event === 'presence') continue;
    if (entry.event === 'message') {
      counts.lastTs = entry.message.ts;
      if (entry.held !== null) noteDeferred(counts.deliveries, entry.message);
      else if (mail.deliveries(entry.message.id).some(({ state }) => state !== 'void')) {
        counts.messages += 1;
        writeMessage(mail.bodyOf(entry.message), entry.message, files);
      }
      continue;
    }
    if (entry.event === 'ack') {
      counts.acks += 1;
      writeAck(entry, files);
    }
    noteDelivery(counts.deliveries, entry);
  }
  return counts;
}

function writeMessage(body: string, message: MailMessage, files: Files): void {
  const { line, blob } = loggedMessage(message, body);
  if (blob !== undefined) files.whole(blob.path, blob.value);
  files.append(`logs/messages-${message.epoch}.jsonl`, line);
}

function writeAck(ack: Extract<MailTrace, { event: 'ack' }>, files: Files): void {
  files.append(`logs/acks-${epochOf(ack.id)}.jsonl`, ack);
  const { id, agent, ts } = ack;
  const event = ack.ack === 'delivered' ? 'deliver' : 'accepted';
  files.append(`inbox/${agent}.jsonl`, { event, id, ts });
}

/** The epoch in `<session>-<epoch>-<seq>`. */
function epochOf(id: string): string {
  return id.split('-').at(-2) ?? '0';
}

function writeState({ mail, run, root, policy }: ExportedMail, { lastTs, deliveries }: Counts, files: Files): void {
  const { session, tasks } = mail.status(run.id);
  files.whole('meta/session.json', {
    session_id: session.id,
    created_at: session.createdAt,
    workspace: root,
    roles: Object.fromEntries(policy.members.map(({ address, role }) => [address, role])),
  });
  files.whole('state/delivery.json', Object.fromEntries(deliveries));
  files.whole('state/router.json', { epoch: session.epoch, last_seq: session.lastSeq, last_ts: lastTs });
  files.whole(
    'state/tasks.json',
    Object.fromEntries(
      tasks.map(({ id, status, owner, deadline, retries, lastUpdateSeq }) => [
        id,
        { status, owner, deadline, retries, last_update_seq: lastUpdateSeq },
      ]),
    ),
  );
}
