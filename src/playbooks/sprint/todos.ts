import type { PlannedEntry, View } from '../../model/plan.ts';
import { isSelectable } from '../../model/sprint/team.ts';
import type { SprintOptions } from '../../model/sprint/options.ts';
import { numbered } from '../../model/slug.ts';
import { quotedName } from '../../text/plain-text.ts';
import { sortByNeeds } from '../shared/sort-by-needs.ts';
import { backlogNow } from './backlog-records.ts';
import type { AnswerOf } from '../../model/sprint/answers.ts';
import { unrouted, type RoutedStep } from '../../model/sprint/routing.ts';

/** Leaves room for the names of the stages behind it. */
const LONGEST_ID = 24;

type Todo = AnswerOf<'todos'>['proposals']['todos'][number];

/** A todo as an entry of the list. `item`: what it comes from. */
export interface TodoEntry extends PlannedEntry {
  readonly item: string;
}

/** The entries of the chosen todos, in the order of their needs, and why they cannot be used. */
export function readTodos(
  options: SprintOptions,
  view: View,
  todos: readonly Todo[],
): { readonly problems: readonly string[]; readonly entries: readonly TodoEntry[] } {
  const ids = idsOf(todos.map(({ item }) => item));
  const all = todos.map(({ needs, ...todo }): TodoEntry => {
    const before = [...new Set(needs)].flatMap((need) => ids.get(need) ?? []);
    return { ...todo, id: ids.get(todo.item) ?? todo.item, needs: before };
  });
  const entries = sortByNeeds(all);
  const problems = todoProblems(options, view, todos);
  const left = all.filter((one) => !entries.includes(one)).map(({ item }) => item);
  if (problems.length > 0 || left.length === 0) return { problems, entries };
  return { problems: [`these todos need each other in a circle: ${left.join(', ')}`], entries };
}

function todoProblems(options: SprintOptions, view: View, todos: readonly Todo[]): string[] {
  const backlog = new Map(backlogNow(options.backlog, view).map((item) => [item.id, item]));
  const items = todos.map(({ item }) => item);
  const staffed = view.roster.map(({ role }) => role);
  return [
    ...(todos.length <= options.maxTodos
      ? []
      : [`there are ${todos.length} todos; a sprint has at most ${options.maxTodos}`]),
    ...todos.flatMap(({ item, title, brief, acceptance, needs }, index) => {
      const found = backlog.get(item);
      const wrong = [
        ...(found === undefined ? ['the backlog has no such item'] : []),
        ...(found === undefined || isSelectable(found)
          ? []
          : [`it is ${found.state}; only pending items can be selected`]),
        ...(items.indexOf(item) === index ? [] : ['the item has a todo already']),
        ...(needs.includes(item) ? ['it needs itself'] : []),
        ...needs
          .filter((need) => !items.includes(need))
          .map((need) => `it needs ${quotedName(need)}, which is no todo of this sprint`),
        ...unrouted({ policy: options.policy, staffed, text: [title, brief, ...acceptance].join('\n') }, CHAIN),
      ];
      return wrong.map((problem) => `todo ${index + 1} (${quotedName(item)}): ${problem}`);
    }),
  ];
}

const CHAIN = ['architect_guidance', 'developer_build', 'qa_validation'] as const satisfies readonly RoutedStep[];

/** A short name for each item, which the tasks of its chain begin with. */
function idsOf(items: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  return new Map(
    items.map((item) => {
      const plain = item.slice(0, LONGEST_ID).replace(/-+$/, '');
      let id = plain;
      for (let number = 2; taken.has(id); number += 1) id = numbered(plain.slice(0, LONGEST_ID - 4), number);
      taken.add(id);
      return [item, id] as const;
    }),
  );
}
