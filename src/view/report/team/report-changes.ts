import { plainSlug } from '../../../model/slug.ts';
import { isTodoDone, type Todo } from '../../../model/sprint/sprint.ts';
import type { PlannerReport } from './planner-report.ts';
import { unknownCommits } from './planner-report.ts';
import type { SprintCommit } from './team-facts.ts';

export interface ReportChange {
  readonly title: string;
  /** null: the planner reports a change that no todo of the sprint is about. */
  readonly todo: string | null;
  readonly item: string | null;
  readonly commit: string | null;
  /** How it behaved, in the planner's words. null: the planner did not say. */
  readonly before: string | null;
  readonly after: string | null;
  readonly why: string | null;
  /** Paths that its commit changed, where that was looked up; otherwise those that the planner names. */
  readonly artifacts: readonly string[];
  /** Claims of the planner that the records contradict. */
  readonly doubts: readonly string[];
}

type Said = PlannerReport['changes'][number];

/** A change for each todo that was delivered, with the planner's words about it, then those that only the planner knows of. */
export function reportChanges(
  todos: readonly Todo[],
  { changes }: PlannerReport,
  known: ReadonlySet<string>,
  commits: readonly SprintCommit[] | undefined,
): ReportChange[] {
  const delivered = todos.filter(isTodoDone);
  const said = new Map<Todo, Said>();
  const left: Said[] = [];
  for (const change of changes) {
    const todo = delivered.find((one) => !said.has(one) && isAbout(change, one));
    if (todo === undefined) left.push(change);
    else said.set(todo, change);
  }
  return [
    ...delivered.map((todo) => ofTodo(todo, said.get(todo), known, commits)),
    ...left.map((change) => ofPlanner(change, todos, known)),
  ];
}

/** By ids, or else by a commit that it names, or else by the title. */
function isAbout({ todo, item, title = '', commit = '', artifacts }: Said, one: Todo): boolean {
  if (todo !== undefined || item !== undefined) return todo === one.id || item === one.item || todo === one.item;
  const named = [commit, ...artifacts].map((text) => text.toLowerCase()).filter((text) => COMMIT.test(text));
  if (named.some((text) => one.commit?.startsWith(text) === true)) return true;
  return plainSlug(title) === plainSlug(one.title);
}

const COMMIT = /^[0-9a-f]{7,40}$/;

function ofTodo(
  { id, item, title, commit }: Todo,
  said: Said | undefined,
  known: ReadonlySet<string>,
  commits: readonly SprintCommit[] | undefined,
): ReportChange {
  const paths = commits?.find((one) => one.commit === commit)?.paths;
  const claimed = said?.commit?.toLowerCase();
  const isOther = claimed !== undefined && commit?.startsWith(claimed) !== true;
  return {
    ...{ title: said?.title ?? title, todo: id, item, commit: commit ?? null },
    ...{ before: said?.before ?? null, after: said?.after ?? null, why: said?.why ?? null },
    artifacts: paths ?? said?.artifacts ?? [],
    doubts: [
      ...(isOther ? [`The planner says commit ${claimed}; on record is ${commit ?? 'none'}.`] : []),
      ...doubtsOf(said, isOther ? new Set([...known, claimed]) : known),
      ...(commits === undefined ? [] : missing(said?.artifacts ?? [], commits)),
    ],
  };
}

function ofPlanner(said: Said, todos: readonly Todo[], known: ReadonlySet<string>): ReportChange {
  const todo = todos.find((one) => isAbout(said, one));
  const why =
    todo === undefined
      ? 'No todo of this sprint is on record for it.'
      : `The todo ${todo.id} is ${todo.state}, and was not delivered.`;
  return {
    ...{
      title: said.title ?? 'A change without a title',
      todo: todo?.id ?? null,
      item: todo?.item ?? null,
      commit: null,
    },
    ...{ before: said.before ?? null, after: said.after ?? null, why: said.why ?? null, artifacts: said.artifacts },
    doubts: [why, ...doubtsOf(said, known)],
  };
}

function doubtsOf(said: Said | undefined, known: ReadonlySet<string>): string[] {
  const words = [said?.title, said?.before, said?.after, said?.why, said?.commit, ...(said?.artifacts ?? [])];
  return unknownCommits(words, known).map(
    (commit) => `The planner names the commit ${commit}, which is not on record.`,
  );
}

/** Files that no commit of the sprint has. A document may be named by its title. */
function missing(named: readonly string[], commits: readonly SprintCommit[]): string[] {
  const there = new Set(commits.flatMap(({ paths }) => paths));
  const others = named.filter((name) => FILE.test(name) && !there.has(name.replace(/^\.\//, '')));
  return others.length === 0 ? [] : [`The planner names ${others.join(', ')}; no commit of the sprint changes it.`];
}

const FILE = /^(?:\.\/)?[\w@.-]+(?:\/[\w@.-]+)*\.[a-z]\w{0,5}$/i;
