import type { PlannedEntry, View } from '../../model/plan.ts';
import { isSelectable } from '../../model/sprint/team.ts';
import type { SprintOptions } from '../../model/sprint/options.ts';
import { numbered } from '../../model/slug.ts';
import { quotedName } from '../../text/plain-text.ts';
import { sortByNeeds } from '../shared/sort-by-needs.ts';
import { backlogNow } from './backlog-records.ts';
import type { AnswerOf } from '../../model/sprint/answers.ts';
import { routeStep, type RoutedStep } from '../../model/sprint/routing.ts';

/** Leaves room for the names of the stages behind it. */
const LONGEST_ID = 24;

type Todo = AnswerOf<'todos'>['proposals']['todos'][number];

/** A todo as an entry of the list. `item`: what it comes from. */
export interface TodoEntry extends PlannedEntry {
  readonly item: string;
}

/** The entries of the chosen todos, in the order of their needs; or why they cannot be used. */
export function readTodos(
  options: SprintOptions,
  view: View,
  todos: readonly Todo[],
): { readonly problems: readonly string[] } | { readonly problems?: never; readonly entries: readonly TodoEntry[] } {
  const problems = todoProblems(options, view, todos);
  if (problems.length > 0) return { problems };
  const ids = idsOf(todos.map(({ item }) => item));
  const entries = todos.map(({ item, title, brief, acceptance, needs }): TodoEntry => {
    const before = [...new Set(needs)].flatMap((need) => ids.get(need) ?? []);
    return { id: ids.get(item) ?? item, item, title: title.trim(), brief, acceptance: said(acceptance), needs: before };
  });
  const sorted = sortByNeeds(entries);
  if (sorted.length === entries.length) return { entries: sorted };
  const left = entries.filter((one) => !sorted.includes(one)).map(({ item }) => item);
  return { problems: [`these todos need each other in a circle: ${left.join(', ')}`] };
}

function todoProblems(options: SprintOptions, view: View, todos: readonly Todo[]): string[] {
  const backlog = new Map(backlogNow(options.backlog, view).map((item) => [item.id, item]));
  const items = todos.map(({ item }) => item);
  const staffed = view.roster.map(({ role }) => role);
  return [
    ...(todos.length <= options.maxTodos
      ? []
      : [`there are ${todos.length} todos; a sprint has at most ${options.maxTodos}`]),
    ...todos.flatMap((todo, index) => {
      const { item, title, brief, acceptance, needs } = todo;
      const found = backlog.get(item);
      const unknown = needs.filter((need) => !items.includes(need));
      const state =
        found !== undefined && !isSelectable(found) ? [`it is ${found.state}; only pending items can be selected`] : [];
      const wrong = [
        ...(found === undefined ? ['the backlog has no such item'] : state),
        ...(items.indexOf(item) === index ? [] : ['the item has a todo already']),
        ...(title.trim() === '' || brief.trim() === '' ? ['it needs a title and a brief'] : []),
        ...(said(acceptance).length === 0 ? ['it needs at least one acceptance criterion'] : []),
        ...(needs.includes(item) ? ['it needs itself'] : []),
        ...unknown.map((need) => `it needs ${quotedName(need)}, which is no todo of this sprint`),
        ...policyProblems(options, staffed, [title, brief, ...acceptance].join('\n')),
      ];
      return wrong.map((problem) => `todo ${index + 1} (${quotedName(item)}): ${problem}`);
    }),
  ];
}

const CHAIN = ['architect_guidance', 'developer_build', 'qa_validation'] as const satisfies readonly RoutedStep[];

function policyProblems({ policy }: SprintOptions, staffed: readonly string[], text: string): string[] {
  return CHAIN.flatMap((step) => {
    const routed = routeStep({ step, staffed, policy, text });
    return routed.ok ? [] : [routed.problem];
  });
}

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

function said(lines: readonly string[]): string[] {
  return lines.map((one) => one.trim()).filter((one) => one !== '');
}
