import type { FolderFile, FolderMoment } from '../../model/folder.ts';
import type { View } from '../../model/plan.ts';
import { defined } from '../../text/defined.ts';
import { jsonEditor, type JsonEdits } from '../../text/edit-json.ts';
import { parseJson, type Json } from '../../text/json.ts';
import { completedIn } from './check-state.ts';
import { STATE_FILE } from './finding.ts';
import { doneTasks, knowledgeOf } from './knowledge.ts';
import { knowledgeFiles } from './knowledge-files.ts';
import type { Session } from './session.ts';

/** All files of the folder at this moment. The state is last, so that results are written before their tasks count as done. */
export function sessionFiles(session: Session, view: View, moment: FolderMoment): readonly FolderFile[] {
  const text = stateText(session, view, moment);
  const state = { path: STATE_FILE, text, ...defined({ held: session.start.hashes[STATE_FILE] }) };
  return [...knowledgeFiles(knowledgeOf(session, view)), state];
}

/** The state file as it was at the start, kept because it is written again after each step. */
interface Before {
  readonly edit: (edits: JsonEdits) => string;
  readonly completed: readonly string[];
}

const BEFORE = new WeakMap<Session, Before>();

function beforeOf(session: Session): Before {
  const known = BEFORE.get(session);
  if (known !== undefined) return known;
  const { state } = session.start;
  const completed = completedIn(parseJson(state));
  const before = { edit: jsonEditor(state), completed };
  BEFORE.set(session, before);
  return before;
}

/** `team-session.json` as the run has it: what squad does not know of it stays as it was, and where it was. */
export function stateText(session: Session, view: View, moment: FolderMoment): string {
  const { tasks, completed, roles } = session;
  const before = beforeOf(session);
  const done = new Set([...completed, ...doneTasks(session, view).map(({ task }) => task.slug)]);
  const ids = new Map(tasks.map(({ slug, id }) => [slug, id]));
  const fresh = [...done].slice(new Set(completed).size);
  const busy = new Set(view.roster.filter((member) => member.busy).map(({ role }) => role));
  return before.edit(
    editsOf(session, {
      status: statusOf(moment, done.size === tasks.length),
      workers: roles.filter(({ slug }) => busy.has(slug)).map(({ name }) => name),
      completed: [...before.completed, ...fresh.map((slug) => ids.get(slug) ?? slug)],
    }),
  );
}

/** The largest text that a run can make of it: all tasks are done, and all roles at work. */
export function largestStateText(session: Session): string {
  const { tasks, roles } = session;
  const [workers, completed] = [roles.map(({ name }) => name), tasks.map(({ id }) => id)];
  return beforeOf(session).edit(editsOf(session, { status: 'completed', workers, completed }));
}

interface StateNow {
  readonly status: Session['status'];
  readonly workers: readonly string[];
  readonly completed: readonly string[];
}

function editsOf({ tasks }: Session, { status, workers, completed }: StateNow): JsonEdits {
  return new Map<string, Json | JsonEdits>([
    ['status', status],
    ['pipeline', new Map(Object.entries({ tasks_total: tasks.length, tasks_completed: completed.length }))],
    ['active_workers', [...workers]],
    ['completed_tasks', [...completed]],
  ]);
}

function statusOf({ status }: FolderMoment, isComplete: boolean): Session['status'] {
  if (status === 'active') return 'active';
  return status === 'finished' && isComplete ? 'completed' : 'paused';
}
