import { join } from 'node:path';
import { writeAgainText } from '../../model/folder-written.ts';
import type { FolderFile, FolderMoment, KeepsFolder, MadeFolder } from '../../model/folder.ts';
import { loggedMessage } from '../../model/mail/logged-message.ts';
import type { Board, TaskState } from '../../model/plan/board.ts';
import { WHOLE_RUN } from '../../model/plan/scope.ts';
import type { Phase } from '../../model/plan/work.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { RunState } from '../../model/run-state.ts';
import { sha256Of } from '../../model/sha256.ts';
import { orderOf } from '../../playbooks/shared/mail-orders.ts';
import { createView } from '../../rules/view.ts';
import { liveAttempts } from '../../rules/work-requests.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { type HashEntry, type HashLog, openHashLog } from '../../substrate/system/files/hash-log.ts';
import { makeFolder } from '../../substrate/system/files/make-folder.ts';
import { sharedFolder } from '../../substrate/system/files/shared-folder.ts';
import { defined } from '../../text/defined.ts';
import { asObject } from '../../text/json.ts';
import type { RunFile } from '../../view/report/files/run-file.ts';
import type { OpenSink, SinkWork } from './sink.ts';

type ReadableMail = Pick<Ledger, 'events' | 'lastSeq'> & {
  readonly mail: Pick<Ledger['mail'], 'message' | 'bodyOf' | 'deferredBy' | 'deliveries'>;
};

const FOLDER = '.msg';

/** A message that a turn defers takes effect when its attempt settles, or never. */
const TYPES = ['mail-sent', 'attempt-settled'];

/** Unchanged files that each look compares with what squad wrote, in turns. */
const LOOKED_AT = 8;

/** The hash log of the files that squad wrote there, in the folder of the run. */
const HASHES = 'folder.jsonl';

export interface FolderPorts {
  readonly ledger: Pick<Ledger, 'events' | 'lastSeq' | 'mail'>;
  readonly redactor: Redactor;
  warn(text: string): void;
}

interface FolderOf {
  readonly runId: string;
  readonly name: string;
  /** Real and absolute. */
  readonly folder: string;
  /** The file of the hashes of what squad wrote there. */
  readonly hashes: string;
  readonly keeps: KeepsFolder;
}

/** Keeps the folder that a run was started on. A run without a branch makes its folder instead, if all its work is done. */
export const KEPT_FOLDER: SinkWork = {
  publish: async ({ definition, lease }, board, { makes }) => {
    const isDue = definition.makesBranch === false && board.finished?.outcome === 'done';
    const made = isDue ? makes?.(createView(board)) : undefined;
    if (made === undefined) return {};
    if ('problem' in made) return made;
    const problem = await makeFolder(made, lease.runId);
    if (problem !== undefined) return { problem };
    const { shown, next, note, isThere } = made;
    return defined({ made: shown, next, note, added: isThere ? addedTo(made) : undefined });
  },
  open: ({ keeps, ...ports }, { lease: { runId }, definition: { name, folder }, folder: own }) =>
    folder === undefined || keeps === undefined
      ? undefined
      : folderSink(ports, { runId, name, folder, hashes: join(own, HASHES), keeps }),
};

/** Without the empty ones, most of which were there. What was planned decides: after a crash, the files are there already. */
function addedTo({ files }: MadeFolder): string[] {
  return files.flatMap(({ path, isEmpty }) => (isEmpty === true ? [] : [path]));
}

/** A file as squad wrote it last. */
interface Written {
  readonly text: string;
  readonly stamp: string;
}

/**
 * Keeps the folder that a run was started on as its ledger has it. Writes only what has changed, and keeps what a person has
 * written there meanwhile under another name. Throws the first error, after it has written what it can.
 */
export function folderSink(
  ports: FolderPorts,
  { runId, name, folder, hashes, keeps }: FolderOf,
): OpenSink & Required<Pick<OpenSink, 'write'>> {
  const shared = sharedFolder(folder);
  const mailFiles = createMailFiles(ports.ledger, runId, ports.redactor);
  const written = new Map<string, Written>();
  const look = createLook(written, (path) => shared.stamp(path));
  let opened: HashLog | undefined;
  const open = async (): Promise<HashLog> => {
    const log = await openHashLog(hashes);
    await shared.removeUnfinished(log.paths);
    return log;
  };
  const put = async (log: HashLog, { path, text, held }: FolderFile): Promise<void> => {
    const isFirst = !log.isWritten(path);
    const isOurs = (hash: string): boolean => (isFirst && hash === held) || log.has(path, hash);
    const { stamp, kept } = await shared.put({ path, text, stamp: written.get(path)?.stamp, isOurs });
    written.set(path, { text, stamp });
    if (kept === undefined) return;
    const what =
      isFirst && held === undefined
        ? `${path} was in ${folder} before this run wrote it`
        : `someone else wrote ${path} in ${folder}`;
    ports.warn(`${what}. squad kept it as ${kept} and wrote its own again`);
  };
  const write: NonNullable<OpenSink['write']> = async ({ board, state }) => {
    const status = folderStatus(board, state);
    const files = [...mailFiles(), ...keeps(createView(board), { status })];
    const due = look(files, state !== 'running');
    opened ??= await open();
    const log = opened;
    // A crash from here on leaves files that squad knows as its own.
    const errors: unknown[] = [];
    await log.add(due.map(entryOf)).catch((error: unknown) => {
      if (state === 'running') throw error;
      // A folder that says `active` for good is worse than a file of squad's that the next engine takes for a person's.
      errors.push(error);
    });
    for (const file of due) await put(log, file).catch((error: unknown) => errors.push(error));
    await log.confirm(due.filter(({ path, text }) => written.get(path)?.text === text).map(entryOf));
    if (errors.length > 0) throw errors[0];
  };
  return { folder, write, next: writeAgainText(name) };
}

function entryOf({ path, text }: FolderFile): HashEntry {
  return { path, sha256: sha256Of(text) };
}

/** The files that are to be written: those with another text, and those that someone else has changed or removed. */
function createLook(
  written: ReadonlyMap<string, Written>,
  stampOf: (path: string) => string | undefined,
): (files: readonly FolderFile[], isLast: boolean) => FolderFile[] {
  let next = 0;
  return (files, isLast) => {
    const from = isLast || next >= files.length ? 0 : next;
    const upTo = isLast ? files.length : from + LOOKED_AT;
    next = upTo;
    const due: FolderFile[] = [];
    for (const [index, file] of files.entries()) {
      const before = written.get(file.path);
      const isSame = before?.text === file.text;
      const isTurn = index >= from && index < upTo;
      if (!isSame || (isTurn && stampOf(file.path) !== before.stamp)) due.push(file);
    }
    return due;
  };
}

type Held = Pick<Board, 'accounts' | 'finished' | 'now' | 'pauses' | 'questions' | 'records' | 'tasks'>;

/** `state`: `running`, or how the engine has ended its work. */
export function folderStatus(board: Held, state: RunState): FolderMoment['status'] {
  if (state === 'done') return 'finished';
  return state === 'running' && !isHeld(board) ? 'active' : 'paused';
}

/** Something waits for a person or for a limit to end. */
function isHeld({ finished, pauses, questions, ...board }: Held): boolean {
  return (
    pauses.has(WHOLE_RUN) ||
    (finished !== null && finished.outcome !== 'done') ||
    [...questions.values()].some(({ answer }) => answer === null) ||
    [...board.tasks.values()].some((state) => hasFailed(state, board)) ||
    isLimited(board)
  );
}

/** The run ends as failed for it. It does not for an answer by mail; and what fails of the engine's own, the engine judges. */
function hasFailed({ task, work: { phase } }: TaskState, { records }: Pick<Held, 'records'>): boolean {
  if (phase.at !== 'ended' || phase.as !== 'failed' || task.owner === 'engine') return false;
  return orderOf({ record: (name, id) => records.get(name)?.get(id) }, task.id)?.answers !== true;
}

/** An account is at its usage limit, and nothing is under way on another one. */
function isLimited({ accounts, now, tasks }: Pick<Held, 'accounts' | 'now' | 'tasks'>): boolean {
  const isWaiting = [...accounts.values()].some(({ until }) => until > now);
  // Without an open task the engine checks the whole.
  if (!isWaiting || tasks.open.length === 0) return false;
  return tasks.open.every(({ work }) => liveAttempts(work).length === 0 && FOR_AGENTS.has(work.phase.at));
}

/** The engine works on a task in any other phase. */
const FOR_AGENTS: ReadonlySet<Phase['at']> = new Set(['working', 'reviewing']);

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
