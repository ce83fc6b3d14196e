import { asObject, isJsonObject, type Json } from '../../text/json.ts';
import type { JsonPath } from '../../text/json-source.ts';
import { optionalOfRole, placeText } from './check-state.ts';
import { ANALYSIS_FILE, doublesIn, isText, sayOf, shown, type Finding } from './finding.ts';

const MOST_TASKS = 2000;

const say = sayOf(ANALYSIS_FILE);

/** The fields that the specification requires, in its order. */
export function requiredOfAnalysis(analysis: Json): Finding[] {
  const { capabilities, dependency_graph: graph, roles, tasks } = asObject(analysis);
  const filled = (value: unknown, name: string): Finding[] =>
    Array.isArray(value) && value.length > 0 ? [] : [say(`missing or empty ${name} array`, [name])];
  return [
    ...(Array.isArray(capabilities) ? [] : [say('missing required field: capabilities', ['capabilities'])]),
    ...(isJsonObject(graph) ? [] : [say('missing required field: dependency_graph', ['dependency_graph'])]),
    ...filled(roles, 'roles'),
    ...filled(tasks, 'tasks'),
  ];
}

/** A task as far as it is written rightly. */
export interface WrittenTask {
  readonly index: number;
  readonly id: string;
  readonly owner: string | undefined;
  readonly needs: readonly string[];
}

/** A task's entry in `dependency_graph`. */
export interface WrittenNode {
  readonly id: string;
  /** undefined: nothing. */
  readonly role: string | undefined;
  readonly needs: readonly string[];
}

/** The tasks and the graph, and what is wrong with each of them alone. */
export interface WrittenPlan {
  /** None where one has no id of its own. */
  readonly tasks: readonly WrittenTask[];
  /** undefined: there is none that says what each task needs. */
  readonly graph: readonly WrittenNode[] | undefined;
  readonly findings: readonly Finding[];
}

export function readPlan(analysis: Json): WrittenPlan {
  const { dependency_graph: graph, roles, tasks } = asObject(analysis);
  const listed: readonly unknown[] = Array.isArray(tasks) ? tasks : [];
  const cast: readonly unknown[] = Array.isArray(roles) ? roles : [];
  const ofRoles = [
    ...cast.flatMap((role, index) => missingIn(role, ['name', 'prefix'], ['roles', index])),
    ...cast.flatMap((role, index) => optionalOfRole(role, ['roles', index], say)),
    ...doublesIn(cast.map((role) => asObject(role)['name'])).map(({ text, index }) =>
      say(`has a role twice: ${shown(text)}`, ['roles', index, 'name']),
    ),
  ];
  if (listed.length > MOST_TASKS) {
    const many = say(`has ${listed.length} tasks; a session has at most ${MOST_TASKS}`, ['tasks', MOST_TASKS]);
    return { tasks: [], graph: undefined, findings: [...ofRoles, many] };
  }
  const ids = listed.map((task) => asObject(task)['id']);
  const twice = doublesIn(ids);
  const ofNeeds = listed.flatMap((task, index) => idListFindings(asObject(task), 'blockedBy', ['tasks', index]));
  const ofGraph = Object.entries(asObject(graph)).flatMap(([id, node]) => nodeFindings(node, ['dependency_graph', id]));
  const isSound = isJsonObject(graph) && ofNeeds.length === 0 && ofGraph.length === 0;
  return {
    tasks: twice.length === 0 && ids.every(isText) ? listed.map(writtenTask) : [],
    graph: isSound ? Object.entries(graph).map(writtenNode) : undefined,
    findings: [
      ...ofRoles,
      ...listed.flatMap((task, index) => missingIn(task, ['id', 'subject', 'owner'], ['tasks', index])),
      ...twice.map(({ text, index }) => say(`has a task twice: ${shown(text)}`, ['tasks', index, 'id'])),
      ...ofNeeds,
      ...ofGraph,
    ],
  };
}

function writtenTask(task: unknown, index: number): WrittenTask {
  const { id, owner, blockedBy } = asObject(task);
  return { index, id: textOr(id) ?? '', owner: textOr(owner), needs: idsIn(blockedBy) };
}

function writtenNode([id, node]: readonly [string, unknown]): WrittenNode {
  const { role, depends_on: needs } = asObject(node);
  return { id, role: textOr(role), needs: idsIn(needs) };
}

function missingIn(value: unknown, names: readonly string[], at: JsonPath): Finding[] {
  const fields = asObject(value);
  return names.flatMap((name) =>
    isText(fields[name]) ? [] : [say(`missing required field: ${placeText([...at, name])}`, [...at, name])],
  );
}

function nodeFindings(node: unknown, at: JsonPath): Finding[] {
  if (!isJsonObject(node)) return [say(`has invalid ${placeText(at)}`, at)];
  const { role = '' } = node;
  return [
    ...(typeof role === 'string' ? [] : [say(`has invalid ${placeText([...at, 'role'])}`, [...at, 'role'])]),
    ...idListFindings(node, 'depends_on', at),
  ];
}

/** The ids in a list that need not be there. */
function idListFindings(fields: Readonly<Record<string, unknown>>, name: string, at: JsonPath): Finding[] {
  const { [name]: ids = [] } = fields;
  const place = [...at, name];
  if (!Array.isArray(ids) || !ids.every(isText)) return [say(`has invalid ${placeText(place)}`, place)];
  return doublesIn(ids).map(({ text, index }) =>
    say(`has a task twice in ${placeText(place)}: ${shown(text)}`, [...place, index]),
  );
}

function idsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(isText) : [];
}

function textOr(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}
