import { join, relative, sep } from 'node:path';
import { SquadError, usageError, wrongEnvironment } from '../model/errors.ts';
import type { Criterion, Objective } from '../model/objective.ts';
import type { Playbook, Playbooks } from '../model/plan.ts';
import type { Board } from '../model/plan/board.ts';
import { SESSION } from '../model/playbook-name.ts';
import { sessionRequired } from '../model/session-required.ts';
import type { RunDefinition } from '../model/run.ts';
import type { Redactor } from '../model/redaction/redactor.ts';
import { STATE_FILE } from '../playbooks/session/finding.ts';
import type { Session } from '../playbooks/session/session.ts';
import { DONE } from '../model/session-done.ts';
import { createSessionPlaybook, frozenSession } from '../playbooks/session/index.ts';
import { workOf } from '../playbooks/session/session-list.ts';
import { isWithin } from '../substrate/files/confine.ts';
import { realPath } from '../substrate/files/real-path.ts';
import { counted } from '../text/counted.ts';
import { plainLine } from '../text/plain-text.ts';
import { loneObjective } from './lone-playbook.ts';
import { choosePlaybook, type PlaybookRequest } from './playbook-choice.ts';
import { plainObjective, readObjective, settingsOfRun, type ObjectiveSource } from './read-input.ts';
import { readSession, readSessionFolder, SESSION_FOLDERS, unwritableIn } from './read-session.ts';
import type { SettingsRead } from './read-settings.ts';
import { objectiveWithoutSecrets } from './secrets.ts';
import { sessionWithoutSecrets } from './session-secrets.ts';

/** A session that a person named by its folder. */
export interface GivenSession {
  readonly session: Session;
  /** As it was named. */
  readonly folder: string;
  /** Absolute, without links. */
  readonly path: string;
}

/** The objective or session of a run, as it was read. */
export type Given = { readonly objective: Objective } | GivenSession;

/** The work of a run, as squad stores it. */
export interface Subject {
  readonly objective: Objective;
  readonly source: string;
  /** The session folder; undefined: the run plays no session. */
  readonly folder: string | undefined;
  readonly playbook: Playbook<unknown>;
  /** Files whose secrets were left out. */
  readonly redacted: readonly string[];
}

/** Reads what a run is asked for. Throws for a session that is completed, or whose folder squad cannot write. */
export async function readGiven(source: ObjectiveSource, workingDirectory: string): Promise<Given> {
  if (typeof source === 'string' || 'text' in source) {
    return { objective: await readObjective(source, workingDirectory) };
  }
  const { session: folder } = source;
  if (folder === '') throw sessionRequired();
  const { session, path } = await readSession(folder, workingDirectory);
  if (session.status === 'completed') {
    throw usageError(
      completedText(session),
      `Write \`"status": "active"\` into ${plainLine(join(folder, STATE_FILE), 300)} if there is more to do.`,
    );
  }
  await refuseUnwritable(folder, path);
  return { session, folder, path };
}

export function completedText({ id, tasks }: Session): string {
  return `${plainLine(id, 200)} is completed, with ${counted(tasks.length, 'task')}: nothing is left to start`;
}

/** A run only reads the role files. */
const WRITTEN = SESSION_FOLDERS.filter((name) => name !== 'roles');

async function refuseUnwritable(folder: string, path: string): Promise<void> {
  const found = await unwritableIn(path, WRITTEN);
  if (found === undefined) return;
  throw wrongEnvironment(
    `squad cannot write to ${plainLine(join(folder, found.name), 300)}, where a run updates its session files`,
    'Give yourself the right to write there, or copy the folder and name the copy.',
  );
}

/** Removes secrets and chooses the playbook. Throws for a secret in a part that must stay as it is, or a playbook that does not suit. */
export function subjectOf(
  given: Given,
  request: PlaybookRequest & {
    readonly alone?: Playbook<unknown> | undefined;
    readonly madeFor?: Objective | undefined;
    /** Those of the objective that the session was made for, where that itself is not given. */
    readonly criteria?: readonly Criterion[] | undefined;
  },
  ports: {
    readonly own: Playbooks;
    readonly read: SettingsRead;
    readonly redactor: Redactor;
    /** Top of the checkout. */
    readonly root: string;
  },
): Subject {
  const { own, read, redactor } = ports;
  if (!('session' in given)) {
    const cleared = objectiveWithoutSecrets(given.objective, redactor);
    const redacted = cleared === given.objective ? [] : [cleared.file];
    const objective = loneObjective(cleared, request.alone);
    const playbook = request.alone ?? choosePlaybook(own, request, objective, read);
    return { objective, source: objective.file, folder: undefined, playbook, redacted };
  }
  if (request.playbook !== undefined && request.playbook !== SESSION) {
    throw usageError(
      `--session and --playbook ${plainLine(request.playbook, 60)} cannot be combined: a session always uses its own playbook`,
      'Leave out one of them.',
    );
  }
  const { folder, path } = given;
  const { madeFor, criteria = [] } = request;
  const { session: clean, redacted } = sessionWithoutSecrets(given.session, redactor, folder);
  const session = { ...clean, ...placeIn(ports.root, path) };
  const plain = plainObjective(session.description, join(folder, STATE_FILE), plainLine(session.id, 200));
  return {
    objective:
      madeFor === undefined
        ? { ...plain, criteria: [...criteria] }
        : { ...plain, ...settingsOfRun(objectiveWithoutSecrets(madeFor, redactor)) },
    source: folder,
    folder: path,
    playbook: createSessionPlaybook(session),
    redacted: redacted.map((file) => join(folder, file)),
  };
}

/** Where a session is in the checkout. */
function placeIn(root: string, folder: string): Pick<Session, 'place'> {
  const top = realPath(root) ?? root;
  return isWithin(top, folder) ? { place: relative(top, folder).replaceAll(sep, '/') } : {};
}

/** Ids of those tasks of a run that count as done now and whose role may change files: their work is on the run's branch. */
function doneBy(slugs: readonly string[], { completed, tasks, roles }: Session): string[] {
  const did = new Set(slugs);
  const reading = new Set(roles.filter((role) => workOf(role) === 'reads').map(({ slug }) => slug));
  const done = new Set(completed.filter((slug) => did.has(slug)));
  return tasks.filter(({ slug, role }) => done.has(slug) && !reading.has(role)).map(({ id }) => id);
}

/** The tasks whose work is on the branch of each of these runs. `runs`: the newest first. */
export function tasksByRun<Run extends { readonly board: Pick<Board, 'records'> }>(
  runs: readonly Run[],
  session: Session,
): { readonly reading: Run; readonly tasks: readonly string[] }[] {
  const again = new Set<string>();
  return runs.map((reading) => {
    const did = [...(reading.board.records.get(DONE)?.keys() ?? [])];
    // A task that a newer run did again has its work on the newer branch.
    const own = did.filter((slug) => !again.has(slug));
    for (const slug of did) again.add(slug);
    return { reading, tasks: doneBy(own, session) };
  });
}

/**
 * The newest run that did tasks after this one began. This run read the folder before that, so if it continued, it would write the folder
 * without their results. `runs`: the newest first.
 */
export function playedSince<
  Run extends { readonly row: { readonly id: string }; readonly board: Pick<Board, 'records'> },
>(runs: readonly Run[], runId: string): Run | undefined {
  const own = runs.findIndex(({ row }) => row.id === runId);
  return runs.slice(0, Math.max(own, 0)).find(({ board }) => (board.records.get(DONE)?.size ?? 0) > 0);
}

/**
 * The newest run, if the folder lacks a part of what it did: a new run would do that again. Of another session in the same place it says
 * nothing. `runs`: the newest first.
 */
export function leftIncomplete<
  Run extends { readonly definition: Pick<RunDefinition, 'options'>; readonly folderProblem: string | null },
>([newest]: readonly Run[], { id }: Pick<Session, 'id'>): Run | undefined {
  if (newest === undefined || newest.folderProblem === null) return undefined;
  return frozenSession(newest.definition.options)?.id === id ? newest : undefined;
}

/** Throws `workspace-busy` if the session is no longer as the run took it: another run may have played it meanwhile. */
export async function refuseChanged({ options, folder }: RunDefinition): Promise<void> {
  const known = frozenSession(options)?.start.hashes[STATE_FILE];
  if (folder === undefined || known === undefined) return;
  const read = (await readSessionFolder(folder, folder)).files.get(STATE_FILE);
  if (read !== undefined && 'text' in read && read.hash === known) return;
  throw new SquadError({
    code: 'workspace-busy',
    message: `${plainLine(join(folder, STATE_FILE), 300)} has changed since squad read it`,
    next: 'Run the command again: squad reads the session anew.',
  });
}
