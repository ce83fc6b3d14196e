import { join, relative, resolve, sep } from 'node:path';
import { SquadError, usageError, wrongEnvironment } from '../../../model/errors.ts';
import type { Objective } from '../../../model/objective.ts';
import { COORDINATE, SESSION } from '../../../model/playbook-name.ts';
import { coordinateOptionsSchema } from '../../../playbooks/coordinate/options.ts';
import type { RunDefinition } from '../../../model/run.ts';
import { STATE_FILE } from '../../../playbooks/session/finding.ts';
import { createSessionPlaybook, frozenSession } from '../../../playbooks/session/index.ts';
import type { Session } from '../../../playbooks/session/session.ts';
import { sessionRequired } from '../../../playbooks/session/session-required.ts';
import { plainObjective, settingsOfRun } from '../../preflight/read-input.ts';
import { objectiveWithoutSecrets } from '../../preflight/secrets.ts';
import type { Source, Subject } from '../../preflight/source.ts';
import type { PlaybookRequest } from '../../preflight/playbook-choice.ts';
import type { Redactor } from '../../../model/redaction/redactor.ts';
import type { RunReading } from '../../../view/read-run.ts';
import { isWithin } from '../../../substrate/system/files/confine.ts';
import { realPath } from '../../../substrate/system/files/real-path.ts';
import { counted } from '../../../text/counted.ts';
import { plainLine } from '../../../text/plain-text.ts';
import { shellWord } from '../../../text/shell-word.ts';
import { readSession, readSessionFolder, SESSION_FOLDERS, unwritableIn } from './read-session.ts';
import { refuseNamed, refuseTaken, type FolderRuns } from './session-runs.ts';
import { sessionWithoutSecrets } from './session-secrets.ts';

/** A session by its folder, as a person wrote that. */
export interface NamedSession {
  readonly session: string;
  /** Objective that it was just made for, whose criteria, limits, deadline, priority and name are those of the run. */
  readonly madeFor?: Objective | undefined;
}

/** A folder that is played. Its words are no settings, and its playbook is the only one that suits. */
export function sessionSource(
  { session: folder, madeFor }: NamedSession,
  workingDirectory: string,
  runs: FolderRuns,
): Source {
  return {
    admit: () => refuseNamed(runs, folder, workingDirectory),
    read: async (repository) => {
      if (folder === '') throw sessionRequired();
      const { session, path } = await readSession(folder, workingDirectory);
      if (session.status === 'completed') {
        throw usageError(
          completedText(session),
          `Write \`"status": "active"\` into ${plainLine(join(folder, STATE_FILE), 300)} if there is more to do.`,
        );
      }
      await refuseUnwritable(folder, path);
      await refuseTaken(runs, repository, { session, path, folder });
      const given = { ...session, ...placeIn(repository.root, path) };
      const named = { session: folder, madeFor };
      return { subject: (request, { redactor }) => subjectOf(given, named, { path, runs }, request, redactor) };
    },
    refuseChanged,
    isOf: ({ folder: played }) => played !== undefined && played === realPath(resolve(workingDirectory, folder)),
  };
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

function subjectOf(
  read: Session,
  { session: folder, madeFor }: NamedSession,
  { path, runs }: { readonly path: string; readonly runs: FolderRuns },
  { playbook }: PlaybookRequest,
  redactor: Redactor,
): Subject {
  if (playbook !== undefined && playbook !== SESSION) {
    throw usageError(
      `--session and --playbook ${plainLine(playbook, 60)} cannot be combined: a session always uses its own playbook`,
      'Leave out one of them.',
    );
  }
  const { session, redacted } = sessionWithoutSecrets(read, redactor, folder);
  const plain = plainObjective(session.description, join(folder, STATE_FILE), plainLine(session.id, 200));
  const own = madeFor && settingsOfRun(objectiveWithoutSecrets(madeFor, redactor));
  const names = { objective: own?.frontMatter.name, title: plain.title };
  const next = `Play the session without this deadline: \`squad run --session=${shellWord(folder)}\`.`;
  return {
    objective: { ...plain, ...(own ?? { criteria: criteriaFor(runs.on(path), session) }) },
    ...{ source: folder, folder: path, playbook: createSessionPlaybook(session), names },
    redacted: redacted.map((file) => join(folder, file)),
    ...(madeFor === undefined ? {} : { deadlineIn: { file: madeFor.file, next } }),
  };
}

/**
 * The success criteria of the objective that squad made this session for: those of the newest run that made it in this folder, and not
 * another one. What their commands are, a person is asked as for any others.
 */
function criteriaFor(runs: readonly RunReading[], { id }: Session): Objective['criteria'] {
  const made = runs.flatMap(({ definition: { playbook, options } }) => {
    const read = playbook === COORDINATE ? coordinateOptionsSchema.safeParse(options).data : undefined;
    return read?.id === id && read.criteria.length > 0 ? [read.criteria] : [];
  });
  return made[0] ?? [];
}

/** Where a session is in the checkout. */
function placeIn(root: string, folder: string): Pick<Session, 'place'> {
  const top = realPath(root) ?? root;
  return isWithin(top, folder) ? { place: relative(top, folder).replaceAll(sep, '/') } : {};
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
