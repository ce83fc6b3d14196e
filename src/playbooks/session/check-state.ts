import { asObject, isJsonObject, type Json } from '../../text/json.ts';
import type { JsonPath } from '../../text/json-source.ts';
import { doublesIn, isText, rolePath, sayOf, shown, STATE_FILE, type Finding } from './finding.ts';
import type { SessionStatus } from './session.ts';

export const SESSION_STATUSES: readonly SessionStatus[] = ['active', 'paused', 'completed'];

const say = sayOf(STATE_FILE);

/** The fields that the specification requires, in its order. */
export function requiredOfState(state: Json): Finding[] {
  const fields = asObject(state);
  const missing = (name: string): Finding[] =>
    isText(fields[name]) ? [] : [say(`missing required field: ${name}`, [name])];
  const { status, roles } = fields;
  return [
    ...missing('session_id'),
    ...missing('task_description'),
    ...(SESSION_STATUSES.some((one) => one === status) ? [] : [say('has invalid status', ['status'])]),
    ...missing('team_name'),
    ...(Array.isArray(roles) && roles.length > 0
      ? roles.flatMap((role: unknown, index) => requiredOfRole(role, ['roles', index]))
      : [say('missing or empty roles array', ['roles'])]),
  ];
}

function requiredOfRole(role: unknown, at: JsonPath): Finding[] {
  return ['name', 'prefix', 'role_file'].flatMap((name) =>
    isText(asObject(role)[name]) ? [] : [say(`missing required field: ${placeText([...at, name])}`, [...at, name])],
  );
}

const OPTIONAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  pipeline: isJsonObject,
  active_workers: Array.isArray,
  completed_tasks: (value) => Array.isArray(value) && value.every((id) => typeof id === 'string'),
  created_at: (value) => typeof value === 'string',
};

/** Checks that squad needs beyond those of the specification. */
export function soundState(state: Json): Finding[] {
  const fields = asObject(state);
  const roles: readonly unknown[] = Array.isArray(fields['roles']) ? fields['roles'] : [];
  return [
    ...Object.entries(OPTIONAL).flatMap(([name, fits]) =>
      !Object.hasOwn(fields, name) || fits(fields[name]) ? [] : [say(`has invalid ${name}`, [name])],
    ),
    ...doublesIn(completedIn(state)).map(({ text, index }) =>
      say(`has a task twice in completed_tasks: ${shown(text)}`, ['completed_tasks', index]),
    ),
    ...doublesIn(roles.map((role) => asObject(role)['name'])).map(({ text, index }) =>
      say(`has a role twice: ${shown(text)}`, ['roles', index, 'name']),
    ),
    ...roles.flatMap((role, index) => [...optionalOfRole(role, ['roles', index], say), ...roleFile(role, index)]),
  ];
}

/** `sayHere`: for the file that has the role. */
export function optionalOfRole(
  role: unknown,
  at: JsonPath,
  sayHere: (message: string, at: JsonPath) => Finding,
): Finding[] {
  const { responsibility_type: responsibility = '', inner_loop: innerLoop = false } = asObject(role);
  const invalid = (name: string): Finding => sayHere(`has invalid ${placeText([...at, name])}`, [...at, name]);
  return [
    ...(typeof responsibility === 'string' ? [] : [invalid('responsibility_type')]),
    ...(typeof innerLoop === 'boolean' ? [] : [invalid('inner_loop')]),
  ];
}

function roleFile(role: unknown, index: number): Finding[] {
  const { name, role_file: file } = asObject(role);
  if (!isText(name) || !isText(file)) return [];
  const path = file.replace(/^(?:\.\/+)+/, '');
  const at = ['roles', index, 'role_file'];
  if (path === rolePath(name)) return [];
  if (!path.startsWith('roles/') || path.split('/').includes('..'))
    return [say(`has role_file outside roles/: ${shown(file)}`, at)];
  return [say(`has another role_file than ${rolePath(shown(name))}: ${shown(file)}`, at)];
}

/** `roles[0].name` */
export function placeText(path: JsonPath): string {
  return path
    .map((step, index) => (typeof step === 'number' ? `[${step}]` : `${index === 0 ? '' : '.'}${shown(step)}`))
    .join('');
}

/** Tasks that the session says are done, and that it does not have. */
export function unknownCompleted(state: Json, known: ReadonlySet<string>): Finding[] {
  return completedIn(state).flatMap((id, index) =>
    known.has(id) ? [] : [say(`has an unknown task in completed_tasks: ${shown(id)}`, ['completed_tasks', index])],
  );
}

export function completedIn(state: unknown): string[] {
  const { completed_tasks: ids } = asObject(state);
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}
