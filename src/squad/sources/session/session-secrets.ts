import { join } from 'node:path';
import type { Redactor } from '../../../model/redaction/redactor.ts';
import { ANALYSIS_FILE, INDEX_FILE, MEMORY_FILE, STATE_FILE } from '../../../playbooks/session/finding.ts';
import type { Session, SessionStart } from '../../../playbooks/session/session.ts';
import { findSecret, secretIn } from '../../preflight/secrets.ts';

/** A session without its secrets, and the files that had some. */
export interface CleanSession {
  readonly session: Session;
  /** Paths below the folder. */
  readonly redacted: readonly string[];
}

/**
 * The session that squad stores, writes and gives agents to read. Throws `bad-input` for a secret in a name, which has to stay as it
 * is. What was redacted has no hash any more, so that squad takes the person's file for one that it must not lose.
 */
export function sessionWithoutSecrets(session: Session, redactor: Redactor, folder: string): CleanSession {
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
