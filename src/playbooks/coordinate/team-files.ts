import type { MadeFile } from '../../model/folder.ts';
import { asObject, fieldsOf, objectsIn } from '../../text/json.ts';
import { pathProblem } from '../../text/path-problem.ts';
import { ANALYSIS_FILE, roleAt, rolePath, STATE_FILE } from '../session/finding.ts';
import type { Team, TeamRole } from './answer.ts';
import type { CoordinateOptions } from './options.ts';
import { plainLine } from '../../text/plain-text.ts';

/** Parts of a session that begin empty, by their paths. */
const EMPTY: Readonly<Record<string, string>> = {
  'shared-memory.json': '{}\n',
  'wisdom/learnings.md': '',
  'wisdom/decisions.md': '',
  'wisdom/issues.md': '',
  'explorations/cache-index.json': '{}\n',
};
export const EMPTY_FOLDERS: readonly string[] = ['artifacts', 'discussions', '.msg'];

/** The files of the session that are not there yet. What is kept decides over what the planner says about it. */
export function teamFiles(team: Team, options: CoordinateOptions, description: string): MadeFile[] {
  const kept = new Set(options.kept.map(({ path }) => path));
  const written = team.roles.map((role) => ({ path: rolePath(role.name), text: roleText(role) }));
  const files = [
    { path: STATE_FILE, text: stateText(team, options, description) },
    { path: ANALYSIS_FILE, text: jsonText(analysisOf(team)) },
    ...written.filter(({ path }, index) => written.findIndex((other) => other.path === path) === index),
    ...emptyFiles(options),
  ];
  return files.filter(({ path }) => !kept.has(path));
}

export function isBegunEmpty(path: string): boolean {
  return Object.hasOwn(EMPTY, path);
}

function emptyFiles({ invalid }: Pick<CoordinateOptions, 'invalid'>): MadeFile[] {
  return Object.entries(EMPTY).map(([path, text]) => ({
    path,
    text,
    ...(invalid.includes(path) ? {} : { isEmpty: true }),
  }));
}

/** Names of the roles in the files that stay. */
export function keptRoles({ kept }: Pick<CoordinateOptions, 'kept'>): ReadonlySet<string> {
  const texts = kept.filter(({ path }) => path === STATE_FILE || path === ANALYSIS_FILE);
  const names = texts.flatMap(({ text }) => objectsIn(fieldsOf(text)['roles']).map(({ name }) => name));
  return new Set(names.filter((name) => typeof name === 'string'));
}

function stateText(team: Team, { id, team: name, createdAt, kept }: CoordinateOptions, description: string): string {
  // With the graph that is kept, if one is.
  const analysis = kept.find(({ path }) => path === ANALYSIS_FILE)?.text;
  const graph = analysis === undefined ? graphOf(team) : asObject(fieldsOf(analysis)['dependency_graph']);
  const roles = analysis === undefined ? rolesFor(team) : objectsIn(fieldsOf(analysis)['roles']);
  return jsonText({
    session_id: id,
    task_description: description,
    status: 'paused',
    team_name: name,
    roles: roles.map((role) => ({ ...role, role_file: rolePath(String(role['name'])) })),
    pipeline: { dependency_graph: graph, tasks_total: Object.keys(graph).length, tasks_completed: 0 },
    active_workers: [],
    completed_tasks: [],
    created_at: createdAt,
  });
}

function analysisOf(team: Team) {
  const { capabilities, tasks, complexity_score } = team;
  return { capabilities, dependency_graph: graphOf(team), roles: rolesFor(team), tasks, complexity_score };
}

function graphOf({ tasks }: Team): Record<string, { depends_on: readonly string[]; role: string }> {
  return Object.fromEntries(tasks.map(({ id, owner, blockedBy }) => [id, { depends_on: blockedBy, role: owner }]));
}

function rolesFor({ roles }: Team): Record<string, unknown>[] {
  return roles.map(({ name, prefix, responsibility_type, inner_loop }) => ({
    ...{ name, prefix, responsibility_type, inner_loop },
  }));
}

/** Why no file of a role can have this path: squad could not write it, or would not read it again. undefined: one can. */
export function rolePathProblem(path: string): string | undefined {
  return roleAt(path) !== undefined ? pathProblem(path) : 'is not directly below roles/';
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A role file. Nothing that its author wrote can begin a heading, a fence or a block of HTML in it. */
export function roleText({
  name,
  prefix,
  responsibility_type: type,
  identity,
  must,
  must_not: mustNot,
  phases,
}: TeamRole): string {
  return [
    `# Role: ${line(name)}`,
    '## Identity',
    [
      `- **Name**: ${line(name)}`,
      `- **Tag**: \`[${line(name)}]\``,
      `- **Task Prefix**: \`${line(prefix)}-*\``,
      `- **Responsibility**: ${line(type)}`,
    ].join('\n'),
    text(identity),
    '## Boundaries',
    '### MUST',
    list(must),
    '### MUST NOT',
    list(mustNot),
    '## Execution (5-Phase)',
    ...phases.flatMap(({ title, steps }, index) => [
      `### Phase ${index + 1}: ${line(title)}`,
      steps.map((step, number) => `${number + 1}. ${text(step)}`).join('\n'),
    ]),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
}

function list(entries: readonly string[]): string {
  return entries.map((entry) => `- ${text(entry)}`).join('\n');
}

/** Begins a block of Markdown if it is first on its line. */
const BLOCK = /^(?:[#>~`<=+*|-]|\d+[.)])/;

function text(written: string): string {
  const one = line(written);
  return BLOCK.test(one) ? one.replace(/[^\d]/, String.raw`\$&`) : one;
}

function line(written: string): string {
  return plainLine(written, Infinity);
}
