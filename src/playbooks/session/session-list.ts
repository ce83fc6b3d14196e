import type { CastMember, CastSource, Role } from '../../model/plan.ts';
import { renderPrompt, type ChangedPrompts } from '../../prompts/render.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Stage, StageList } from '../stages/stage-list.ts';
import type { Session, SessionRole, SessionTask } from './session.ts';

/** The tasks of a session as a list of stages, one for each, with the same ids. Its graph decides what runs at once. */
export function sessionList({ roles, tasks, completed }: Session, prompts?: ChangedPrompts): StageList {
  const roleOf = new Map(roles.map((role) => [role.slug, role]));
  const done = new Set(completed);
  return { stages: tasks.map((task) => stageOf(task, roleOf.get(task.role), done.has(task.slug), prompts)) };
}

function stageOf(task: SessionTask, role: SessionRole | undefined, isDone: boolean, prompts?: ChangedPrompts): Stage {
  const kind = role === undefined ? 'any' : workOf(role);
  return {
    id: task.slug,
    title: plainLine(task.subject.trim() === '' ? task.id : task.subject),
    shownAs: shownAs(task),
    by: [task.role],
    needs: task.needs,
    brief: briefOf(task, kind, prompts),
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

function briefOf(task: SessionTask, kind: Work, prompts?: ChangedPrompts): string {
  const duty = { reads: kind === 'reads' ? 'yes' : '', mayChange: kind === 'docs' || kind === 'any' ? 'yes' : '' };
  const text = renderPrompt('session/first', { brief: task.subject, ...duty }, prompts);
  // Braces are placeholders of a list.
  return text.replaceAll('{', '{{');
}

/** The roles of a session. Only work on code has to change files, so the agents of any other role may be read-only. */
export function sessionRoles({ roles }: Session): Readonly<Record<string, Role>> {
  return Object.fromEntries(
    roles.map((role) => {
      const delivers = workOf(role) === 'code' ? 'each' : 'none';
      const { name, file, text } = role;
      return [role.slug, { delivers, instructions: text.trim(), describedBy: { name, file } }];
    }),
  );
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
