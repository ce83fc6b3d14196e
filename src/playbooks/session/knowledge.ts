import type { View } from '../../model/plan.ts';
import { PLAYED } from '../../model/playbook-name.ts';
import { fileName, ownNames } from '../../text/file-name.ts';
import { asObject, type Json } from '../../text/json.ts';
import { visibleText } from '../../text/plain-text.ts';
import { WISDOM, workerSchema, type WorkerAnswer } from './answer.ts';
import type { Session, SessionRole, SessionTask } from './session.ts';

/** Results of all tasks of a session that are done. */
export interface Knowledge {
  readonly session: Session;
  /** In the order of their ends. */
  readonly left: readonly Left[];
}

/** The results of one task. Invisible characters are shown as codes. */
export interface Left {
  readonly task: SessionTask;
  readonly role: SessionRole;
  readonly summary: string;
  readonly artifact: NamedText | null;
  readonly memory: WorkerAnswer['memory'];
  readonly wisdom: Readonly<Record<(typeof WISDOM)[number], readonly string[]>>;
  readonly explorations: readonly Exploration[];
  /** One record for each round of a discussion. */
  readonly discussion: readonly NamedText[];
}

interface NamedText {
  /** File name, unique in its folder. */
  readonly name: string;
  readonly text: string;
}

interface Exploration {
  readonly name: string;
  readonly angle: string;
  readonly keywords: readonly string[];
  readonly findings: string;
}

/** A task that is done, and what it answered. */
interface Done {
  readonly task: SessionTask;
  readonly round: number;
  readonly answer: Json | undefined;
}

/** The last one of each session: most events add nothing to it, and others a task at its end. */
const LAST = new WeakMap<Session, Fold>();
/** A view never changes. */
const DONE_TASKS = new WeakMap<View, readonly Done[]>();
const TASKS = new WeakMap<Session, ReadonlyMap<string, SessionTask>>();

/**
 * Folds the answers of all done tasks, so that a lost turn adds nothing and a repeated one counts once. Returns the same object if nothing
 * was added.
 */
export function knowledgeOf(session: Session, view: View): Knowledge {
  const done = doneTasks(session, view);
  const last = LAST.get(session);
  const isOn = last?.done.every((one, index) => isSame(one, done[index])) === true;
  const before = isOn && last !== undefined ? last : emptyFold(session);
  if (before.done.length === done.length) return before.knowledge;
  const left = done.slice(before.done.length).flatMap((one) => before.read(one));
  const knowledge = { session, left: [...before.knowledge.left, ...left] };
  LAST.set(session, { ...before, done, knowledge });
  return knowledge;
}

interface Fold {
  readonly done: readonly Done[];
  readonly knowledge: Knowledge;
  /** Gives names that nothing before it has. */
  readonly read: (done: Done) => Left[];
}

export function sessionTask(session: Session, slug: string): SessionTask | undefined {
  let tasks = TASKS.get(session);
  if (tasks === undefined) {
    tasks = new Map(session.tasks.map((task) => [task.slug, task]));
    TASKS.set(session, tasks);
  }
  return tasks.get(slug);
}

/** The tasks that this run has done, in the order of their ends. */
export function doneTasks(session: Session, view: View): readonly Done[] {
  const known = DONE_TASKS.get(view);
  if (known !== undefined) return known;
  const done = view.records(PLAYED).flatMap(({ id: slug, value }) => {
    const task = sessionTask(session, slug);
    const { task: id = slug } = asObject(value);
    const state = view.task(String(id));
    return task === undefined || state?.status !== 'done' ? [] : [{ task, round: state.round, answer: state.answer }];
  });
  DONE_TASKS.set(view, done);
  return done;
}

function isSame(one: Done, other: Done | undefined): boolean {
  return one.task === other?.task && one.answer === other.answer && one.round === other.round;
}

/** Names follow from what the folder held and from the order, so that a file keeps its name. */
function emptyFold(session: Session): Fold {
  const { roles, start } = session;
  const byRole = new Map(roles.map((role) => [role.slug, role]));
  const artifact = ownNames(start.artifacts.map(({ name }) => name));
  const exploration = ownNames(start.explorations.files.map(({ name }) => name));
  const discussion = ownNames(start.discussions);
  return {
    done: [],
    knowledge: { session, left: [] },
    read: ({ task, round, answer }) => {
      const role = byRole.get(task.role);
      const worker = workerSchema.safeParse(answer).data;
      // An answer of another form leaves nothing.
      if (role === undefined || worker === undefined) return [];
      const plain = readAnswer(worker);
      return [
        {
          ...{ ...plain, task, role },
          artifact: plain.artifact && { ...plain.artifact, name: artifact(plain.artifact.name) },
          explorations: plain.explorations.map((one) => ({ ...one, name: exploration(one.name) })),
          discussion: plain.discussion.map((text, index) => {
            // One text alone is of a version in which a task had one record, of its own round.
            const number = typeof worker.discussion === 'string' ? round : index + 1;
            return { name: discussion(`${task.slug}-${number}.md`), text };
          }),
        },
      ];
    },
  };
}

type Plain = Omit<Left, 'task' | 'role' | 'discussion'> & { readonly discussion: readonly string[] };

function readAnswer({ summary, artifact, memory, explorations, discussion, ...wisdom }: WorkerAnswer): Plain {
  const shown = (texts: readonly string[]): string[] => texts.flatMap((text) => shownText(text) || []);
  return {
    summary: shownText(summary),
    artifact: artifact && { name: artifactName(artifact.name), text: shownText(artifact.markdown) },
    memory: memory.map(({ key, value }) => ({ key: formed(key), value: value.toWellFormed() })),
    wisdom: { learnings: shown(wisdom.learnings), decisions: shown(wisdom.decisions), issues: shown(wisdom.issues) },
    explorations: explorations.map(({ angle, keywords, findings }) => ({
      ...{ name: fileName(`explore-${fileName(angle)}.json`), angle: formed(angle), findings: findings.toWellFormed() },
      keywords: keywords.map(formed).filter((word) => word !== ''),
    })),
    discussion: shown(discussion),
  };
}

function artifactName(name: string): string {
  const safe = fileName(`${name.trim().replace(/\.(?:md|markdown)$/i, '')}.md`);
  // A name without letters leaves only the ending.
  return safe.endsWith('.md') ? safe : 'artifact.md';
}

/** A name as JSON holds it. Not every reader takes half a character. */
function formed(name: string): string {
  return name.toWellFormed().trim();
}

/** With a line break at the end of no line but those within, and nothing hidden. */
function shownText(text: string): string {
  return visibleText(text.toWellFormed().replaceAll('\r\n', '\n'))
    .replace(/^\s*\n/, '')
    .trimEnd();
}
