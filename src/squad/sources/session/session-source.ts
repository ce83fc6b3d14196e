import { join, relative, resolve, sep } from 'node:path';
import { SquadError, usageError, wrongEnvironment } from '../../../model/errors.ts';
import type { Objective } from '../../../model/objective.ts';
import { COORDINATE, SESSION } from '../../../model/playbook-name.ts';
import type { Redactor } from '../../../model/redaction/redactor.ts';
import type { RunDefinition } from '../../../model/run.ts';
import { coordinateOptionsSchema } from '../../../playbooks/coordinate/options.ts';
import { ANALYSIS_FILE, INDEX_FILE, MEMORY_FILE, STATE_FILE } from '../../../playbooks/session/finding.ts';
import { createSessionPlaybook, frozenSession } from '../../../playbooks/session/index.ts';
import { sessionRequired } from '../../../playbooks/session/session-required.ts';
import type { Session, SessionStart } from '../../../playbooks/session/session.ts';
import { isWithin } from '../../../substrate/system/files/confine.ts';
import { realPath } from '../../../substrate/system/files/real-path.ts';
import { counted } from '../../../text/counted.ts';
import { plainLine } from '../../../text/plain-text.ts';
import { shellWord } from '../../../text/shell-word.ts';
import type { RunReading } from '../../../view/read-run.ts';
import type { PlaybookRequest } from '../../preflight/playbook-choice.ts';
import { plainObjective, settingsOfRun } from '../../preflight/read-input.ts';
import { findSecret, objectiveWithoutSecrets, secretIn } from '../../preflight/secrets.ts';
import type { Source, Subject } from '../../preflight/source.ts';
import { readSession, readSessionFolder, SESSION_FOLDERS, unwritableIn } from './read-session.ts';
import { type FolderRuns, refuseNamed, refuseTaken } from './session-runs.ts';

/** A session without its secrets, and the files that had some. */
interface CleanSession {
  readonly session: Session;
  /** Paths below the folder. */
  readonly redacted: readonly string[];
}

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

/**
 * The session that squad stores, writes and gives agents to read. Throws `bad-input` for a secret in a name, which has to stay as it
 * is. What was redacted has no hash any more, so that squad takes the person's file for one that it must not lose.
 */
function sessionWithoutSecrets(session: Session, redactor: Redactor, folder: string): CleanSession {
  refuseSecretNames(session, redactor, folder);
  const redacted = new Set<string>();
  const clean = <Value>(path: string, value: Value): Value => {
    const without = redactor.json(value);
    if (JSON.stringify(without) === JSON.stringify(value)) return value;
    redacted.add(path);
    return without;
  };
  const { start, roles, tasks } = session;
  const known: Session = {
    ...session,
    description: clean(STATE_FILE, session.description),
    roles: roles.map((role) => ({ ...role, text: clean(role.file, role.text) })),
    tasks: tasks.map((task) => ({ ...task, subject: clean(ANALYSIS_FILE, task.subject) })),
    start: cleanStart(start, clean),
  };
  const unchanged = (texts: SessionStart['hashes']): SessionStart['hashes'] =>
    Object.fromEntries(Object.entries(texts).filter(([path]) => !redacted.has(path)));
  const { hashes, texts } = known.start;
  return {
    session: {
      ...known,
      start: { ...known.start, hashes: unchanged(hashes), ...(texts === undefined ? {} : { texts: unchanged(texts) }) },
    },
    redacted: [...redacted],
  };
}

function cleanStart(start: SessionStart, clean: <Value>(path: string, value: Value) => Value): SessionStart {
  const { wisdom, explorations, artifacts } = start;
  const state: unknown = JSON.parse(start.state);
  const stated = clean(STATE_FILE, state);
  // Such a text is left out then, and its values alone are stored.
  for (const [path, text] of Object.entries(start.texts ?? {})) clean(path, text);
  return {
    ...start,
    state: stated === state ? start.state : `${JSON.stringify(stated, null, 2)}\n`,
    memory: clean(MEMORY_FILE, start.memory),
    wisdom: {
      learnings: clean('wisdom/learnings.md', wisdom.learnings),
      decisions: clean('wisdom/decisions.md', wisdom.decisions),
      issues: clean('wisdom/issues.md', wisdom.issues),
    },
    explorations: {
      index: clean(INDEX_FILE, explorations.index),
      files: explorations.files.map((file) => ({ ...file, text: clean(`explorations/${file.name}`, file.text) })),
    },
    artifacts: artifacts.map((file) => ({ ...file, text: clean(`artifacts/${file.name}`, file.text) })),
  };
}

function refuseSecretNames({ id, team, roles, tasks, start }: Session, redactor: Redactor, folder: string): void {
  const { explorations, artifacts, discussions } = start;
  const files = [...[...explorations.files, ...artifacts].map(({ name }) => name), ...Object.keys(start.hashes)];
  const named = roles.map(({ name, prefix, file, responsibility }) => {
    return { name, prefix, role_file: file, responsibility_type: responsibility };
  });
  const stated = { session_id: id, team_name: team, roles: named };
  const places = [
    [STATE_FILE, findSecret(stated, redactor)],
    [ANALYSIS_FILE, findSecret({ tasks: tasks.map((task) => ({ id: task.id })) }, redactor)],
    ['', findSecret([...files, ...discussions], redactor) && 'the name of a file'],
  ] as const;
  for (const [file, what] of places) if (what !== undefined) throw secretIn(join(folder, file), 1, what);
}
