import type { CastMember, CastSource, Role } from '../../model/plan.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Stage, StageList } from '../stages/stage-list.ts';
import type { Session, SessionRole, SessionTask } from './session.ts';

/** The tasks of a session as a list of stages, one for each, with the same ids. Its graph decides what runs at once. */
export function sessionList({ roles, tasks, completed }: Session): StageList {
  const roleOf = new Map(roles.map((role) => [role.slug, role]));
  const done = new Set(completed);
  return { stages: tasks.map((task) => stageOf(task, roleOf.get(task.role), done.has(task.slug))) };
}

function stageOf(task: SessionTask, role: SessionRole | undefined, isDone: boolean): Stage {
  const kind = role === undefined ? 'any' : workOf(role);
  return {
    id: task.slug,
    title: plainLine(task.subject.trim() === '' ? task.id : task.subject),
    shownAs: shownAs(task),
    by: [task.role],
    needs: task.needs,
    brief: briefOf(task, kind),
    makes: MAKES[kind],
    ...(role?.innerLoop === true ? { session: 'thread' } : {}),
    ...(isDone ? { isDone } : {}),
  };
}

/** `any`: squad does not know the responsibility, so the work may change files and need not. */
export type Work = 'reads' | 'code' | 'docs' | 'any';

/** The kind of work that a role's `responsibility_type` means. */
export function workOf({ responsibility }: Pick<SessionRole, 'responsibility'>): Work {
  const said = (responsibility ?? '').trim().toLowerCase();
  if (said === 'read-only') return 'reads';
  if (!said.startsWith('code-gen')) return 'any';
  return /\(\s*docs\s*\)/.test(said) ? 'docs' : 'code';
}

const MAKES: Readonly<Record<Work, Stage['makes']>> = {
  reads: { answer: 'worker' },
  code: { code: true, answer: 'worker' },
  docs: { code: true, answer: 'worker', mayChangeNothing: true },
  any: { code: true, answer: 'worker', mayChangeNothing: true },
};

const LONGEST_NAME = 100;

/** People know a task by the id that they gave it. Of a very long one they see the beginning, and the name that squad gave it. */
function shownAs({ id, slug }: SessionTask): string {
  return id.length <= LONGEST_NAME ? plainLine(id) : `${plainLine(id, LONGEST_NAME)} (${slug})`;
}

const MAY_CHANGE =
  'Commit every change that the repository needs. If it needs none, change nothing: your answer alone completes the task.';

const DUTIES: Readonly<Record<Work, string>> = {
  reads: 'Change no file: what you find goes into your answer.',
  code: 'Commit your work: squad delivers only commits.',
  docs: MAY_CHANGE,
  any: MAY_CHANGE,
};

function briefOf(task: SessionTask, kind: Work): string {
  const what = `Do only this task, and follow your role’s instructions. Other workers do the other tasks:\n\n${task.subject}`;
  // Braces are placeholders of a list.
  return `${what.replaceAll('{', '{{')}\n\n${DUTIES[kind]}`;
}

/** The roles of a session. Only work on code has to change files, so the agents of any other role may be read-only. */
export function sessionRoles({ roles }: Session): Readonly<Record<string, Role>> {
  return Object.fromEntries(
    roles.map((role) => {
      const delivers = workOf(role) === 'code' ? 'each' : 'none';
      return [role.slug, { delivers, instructions: instructionsOf(role) }];
    }),
  );
}

function instructionsOf({ name, file, text }: SessionRole): string {
  return `Your role is ${name}. The session that you work in describes it (${file}):\n\n${text.trim()}`;
}

/** One agent for each role, spread over the runtimes. */
export function sessionCast({ roles }: Session, { runtimes }: CastSource): CastMember[] {
  return roles.map((role, index) => ({
    name: role.slug,
    role: role.slug,
    runtime: runtimes[index % runtimes.length] ?? '',
    access: workOf(role) === 'reads' ? 'read-only' : 'edit',
  }));
}
