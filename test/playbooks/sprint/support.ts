import { limitsSchema } from '../../../src/model/limits.ts';
import type { Playbook, WorkspaceRecord } from '../../../src/model/plan.ts';
import type { Board, Member } from '../../../src/model/plan/board.ts';
import type { SprintOptions } from '../../../src/model/sprint/options.ts';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import { sprintProgressSchema, type SprintProgress } from '../../../src/model/sprint/sprint.ts';
import { itemStateSchema, type BacklogState } from '../../../src/model/sprint/item.ts';
import { createView } from '../../../src/rules/view.ts';
import { createSprintPlaybook } from '../../../src/playbooks/sprint/index.ts';
import { judgesOf } from '../../../src/squad/preflight/roles.ts';
import type { Json } from '../../../src/text/json.ts';
import { factsOf, member, rejects, simulate, type Played, type Script, type Turn } from '../simulator.ts';
import * as says from '../../support/sprint-script.ts';

export const SPRINT_TEAM: readonly Member[] = [
  member('research', 'research', { readOnly: true }),
  member('planner', 'planner'),
  member('designer', 'designer', { readOnly: true }),
  member('architect', 'architect', { readOnly: true }),
  member('dev-1', 'developer'),
  member('dev-2', 'developer'),
  member('qa', 'qa', { readOnly: true }),
];

/** With developers whose work another agent commits. */
export const WITH_COMMITTER: readonly Member[] = [
  ...SPRINT_TEAM.map((one) => (one.role === 'developer' ? { ...one, commits: false } : one)),
  member('vc', 'version-controller'),
];

export interface Scripted {
  readonly options?: Partial<SprintOptions>;
  readonly roster?: readonly Member[];
  /** The items of the sprint, which become its todos. */
  readonly items?: readonly string[];
  /** Answers by task, and of reviews by `task/role`; each list one turn after the other, of which the last repeats. */
  readonly answers?: Readonly<Record<string, readonly Json[]>>;
  readonly script?: Script;
}

/** Plays a sprint whose agents answer as they should, unless `answers` says otherwise. */
export function playSprint(about: Scripted = {}): Played & { readonly playbook: Playbook<unknown> } {
  const { items = ['b-one', 'b-two'], roster = SPRINT_TEAM, answers = {}, script = {} } = about;
  const options = says.sprintOptions(about.options);
  const playbook = createSprintPlaybook(options);
  const roles = [...new Set(roster.map(({ role }) => role))];
  const from = { run: 'try', section: undefined, limits: limitsSchema.parse({}), publish: undefined, roles };
  const facts = factsOf(roster, {
    options: playbook.options?.({ ...from, objective: { criteria: [] } }) ?? {},
    judges: judgesOf(playbook),
    verifies: false,
  });
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const taken = new Map<string, number>();
  const usual = usualAnswers(items);
  const turn = (one: Turn, board: Board): ReturnType<NonNullable<Script['turn']>> => {
    const own = script.turn?.(one, board);
    if (own !== undefined) return own;
    const key = one.review === null ? one.task : `${one.task}/${one.review}`;
    const said = answers[key];
    const index = taken.get(key) ?? 0;
    taken.set(key, index + 1);
    const given = said === undefined ? undefined : said[Math.min(index, said.length - 1)];
    if (given !== undefined) return { output: given };
    return one.review === null ? { output: usual(one.task) } : undefined;
  };
  const played = simulate({ facts, playbook, plan: playbook.plan(parsed.input), script: { ...script, turn } });
  return { ...played, playbook };
}

function usualAnswers(items: readonly string[]): (task: string) => Json {
  const known: Readonly<Record<string, Json>> = {
    research: says.RESEARCH,
    milestone: says.MILESTONE,
    'artifact-sync': null,
    backlog: says.backlog(...items.map((id) => says.write(id))),
    priorities: says.backlog(),
    todos: says.todos(...items.map((id) => says.todo(id))),
    report: says.REPORT,
  };
  return (task) => {
    if (known[task] !== undefined) return known[task];
    const [, id = task, step = ''] = /^(.*?)(?:-(guide|build|commit))?$/.exec(task) ?? [];
    if (step === 'guide') return says.guidance(id);
    if (step === 'build') return says.built(id);
    return step === 'commit' ? says.committed(id) : says.planned(id);
  };
}

/** A rejection with a category. */
export function rejectsFor(category: string, ...inputs: string[]): Json {
  const more = { required_inputs: inputs, recommended_next_step: inputs.length === 0 ? null : 'ask for it' };
  return { ...(rejects(`no ${category}`).output as Record<string, Json>), category, ...more };
}

export const APPROVES: Json = { approved: true, summary: 'good', findings: [], settled: [] };

export function recordsIn(playbook: Playbook<unknown>, board: Board): readonly WorkspaceRecord[] {
  return playbook.records?.(createView(board)) ?? [];
}

export function progressIn({
  playbook,
  board,
}: Pick<ReturnType<typeof playSprint>, 'playbook' | 'board'>): SprintProgress {
  const found = recordsIn(playbook, board).find(({ kind }) => kind === KINDS.progress);
  return sprintProgressSchema.parse(found?.value);
}

/** The state of each todo. */
export function todoStates(played: Pick<ReturnType<typeof playSprint>, 'playbook' | 'board'>): string[] {
  return progressIn(played).todos.map(({ id, state }) => `${id} ${state}`);
}

export function itemState(
  { playbook, board }: Pick<ReturnType<typeof playSprint>, 'playbook' | 'board'>,
  id: string,
): BacklogState {
  const found = recordsIn(playbook, board).find((one) => one.kind === KINDS.itemState && one.id === id);
  return itemStateSchema.parse(found?.value);
}

/** Turns by task and, of reviews, the role. */
export function turnsOf({ turns }: Pick<Played, 'turns'>): string[] {
  return turns.flatMap(({ task, review }) => (task === 'judge' ? [] : [review === null ? task : `${task}/${review}`]));
}
