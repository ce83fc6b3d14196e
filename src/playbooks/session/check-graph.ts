import type { JsonPath } from '../../text/json-source.ts';
import { sortByNeeds } from '../shared/sort-by-needs.ts';
import type { WrittenNode, WrittenPlan, WrittenTask } from './check-analysis.ts';
import { ANALYSIS_FILE, sayOf, shown, type Finding } from './finding.ts';

const MOST_NAMED = 10;

const say = sayOf(ANALYSIS_FILE);

/**
 * How the tasks fit together: unknown ids, owners, the two forms of the graph, circles. `roles`: undefined where not all are
 * known. Linear in tasks and needs.
 */
export function graphFindings({ tasks, graph }: WrittenPlan, roles: ReadonlySet<string> | undefined): Finding[] {
  // Then it is said already what is wrong with them.
  if (tasks.length === 0) return [];
  const known = new Set(tasks.map(({ id }) => id));
  return [
    ...tasks.flatMap(({ index, id, needs }) => {
      const at = ['tasks', index, 'blockedBy'];
      return unknownIn(needs, known, `blockedBy of ${shown(id)}`, at);
    }),
    ...(roles === undefined ? [] : tasks.flatMap((task) => withoutRole(task, roles))),
    ...(graph ?? []).flatMap((node) => unknownInGraph(node, known)),
    ...(graph === undefined ? [] : disagreements(tasks, graph, known, roles)),
    ...circles(tasks),
  ];
}

function unknownIn(ids: readonly string[], known: ReadonlySet<string>, where: string, at: JsonPath): Finding[] {
  return ids.flatMap((id, position) =>
    known.has(id) ? [] : [say(`has an unknown task in ${where}: ${shown(id)}`, [...at, position])],
  );
}

function unknownInGraph({ id, needs }: WrittenNode, known: ReadonlySet<string>): Finding[] {
  const at = ['dependency_graph', id];
  if (!known.has(id)) return [say(`has an unknown task in dependency_graph: ${shown(id)}`, at)];
  return unknownIn(needs, known, `dependency_graph of ${shown(id)}`, [...at, 'depends_on']);
}

function withoutRole({ index, id, owner }: WrittenTask, roles: ReadonlySet<string>): Finding[] {
  if (owner === undefined || roles.has(owner)) return [];
  return [say(`has an owner without a role in ${shown(id)}: ${shown(owner)}`, ['tasks', index, 'owner'])];
}

/**
 * Where tasks and graph contradict each other. A graph that leaves a task out says that it needs nothing, and nothing of its
 * owner. An unknown id is no contradiction besides.
 */
function disagreements(
  tasks: readonly WrittenTask[],
  graph: readonly WrittenNode[],
  known: ReadonlySet<string>,
  roles: ReadonlySet<string> | undefined,
): Finding[] {
  const nodes = new Map(graph.map((node) => [node.id, node]));
  const isWhole = graph.every(({ id }) => known.has(id));
  return tasks.flatMap((task) => {
    const { id, needs, owner } = task;
    const node = nodes.get(id);
    if (node === undefined && !isWhole) return [];
    const isKnown = [...needs, ...(node?.needs ?? [])].every((need) => known.has(need));
    const isOwned = owner !== undefined && roles?.has(owner) !== false;
    return [
      ...(isKnown ? needsThatDiffer(task, node) : []),
      ...(isOwned && node?.role !== undefined && node.role !== owner
        ? [
            say(
              `disagrees about the owner of ${shown(id)}: tasks has ${shown(owner)}, dependency_graph has ${shown(node.role)}`,
              ['dependency_graph', id, 'role'],
            ),
          ]
        : []),
    ];
  });
}

function needsThatDiffer({ index, id, needs }: WrittenTask, node: WrittenNode | undefined): Finding[] {
  const [listed, drawn] = [new Set(needs), new Set(node?.needs)];
  const differ = (need: string, has: string, lacks: string, at: JsonPath): Finding =>
    say(`disagrees about the needs of ${shown(id)}: ${has} has ${shown(need)}, ${lacks} has not`, at);
  const graph = ['dependency_graph', id, 'depends_on'];
  return [
    ...[...listed]
      .filter((need) => !drawn.has(need))
      .map((need) => differ(need, 'blockedBy', 'dependency_graph', graph)),
    ...[...drawn]
      .filter((need) => !listed.has(need))
      .map((need) => differ(need, 'dependency_graph', 'blockedBy', ['tasks', index, 'blockedBy'])),
  ];
}

/** Reports one circle for each group of tasks that wait for each other. */
function circles(tasks: readonly WrittenTask[]): Finding[] {
  const indexes = new Map(tasks.map(({ id, index }) => [id, index]));
  const linked = tasks.map(({ id, needs }) => ({ id, needs: needs.filter((need) => indexes.has(need)) }));
  const sorted = new Set(sortByNeeds(linked).map(({ id }) => id));
  const next = new Map(
    linked.flatMap(({ id, needs }) => {
      const need = needs.find((one) => !sorted.has(one));
      return sorted.has(id) || need === undefined ? [] : [[id, need] as const];
    }),
  );
  const seen = new Set<string>();
  return [...next.keys()].flatMap((start): Finding[] => {
    const way: string[] = [];
    const steps = new Map<string, number>();
    let at: string | undefined = start;
    while (at !== undefined && !seen.has(at)) {
      seen.add(at);
      steps.set(at, way.length);
      way.push(at);
      at = next.get(at);
    }
    const begins = at === undefined ? undefined : steps.get(at);
    if (begins === undefined) return [];
    const circle = way.slice(begins);
    return [say(`has a circle: ${circleText(circle)}`, ['tasks', indexes.get(circle[0] ?? '') ?? 0, 'blockedBy'])];
  });
}

function circleText(ids: readonly string[]): string {
  const named = [...ids.slice(0, MOST_NAMED), ...(ids.length > MOST_NAMED ? [] : ids.slice(0, 1))].map((id) =>
    shown(id),
  );
  return ids.length > MOST_NAMED ? `${named.join(' needs ')} … (${ids.length} tasks)` : named.join(' needs ');
}
