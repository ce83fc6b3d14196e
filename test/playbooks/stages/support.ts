import { createView } from '../../../src/rules/view.ts';
import { limitsSchema } from '../../../src/model/limits.ts';
import { judgesOf } from '../../../src/squad/preflight/roles.ts';
import type { StageView } from '../../../src/model/plan.ts';
import type { Member, Objective, RunFacts } from '../../../src/model/plan/board.ts';
import { createStagesPlaybook } from '../../../src/playbooks/stages/index.ts';
import type { Stage, StageList } from '../../../src/playbooks/stages/stage-list.ts';
import type { Json } from '../../../src/text/json.ts';
import { factsOf, member, simulate, type Played, type Script, type Turn } from '../simulator.ts';

export const TEAM = [
  member('pm', 'pm'),
  member('ba', 'ba'),
  member('builder-1', 'builder'),
  member('builder-2', 'builder'),
  member('reviewer', 'reviewer'),
];

export const OBJECTIVE: Objective = {
  title: 'Try',
  goals: ['it works'],
  criteria: [{ text: 'it runs', command: 'npm test' }, { text: 'it is pretty' }],
  constraints: ['no new package'],
  context: 'A small {objective}.',
  text: 'Build it.',
};

export function stage(id: string, more: Partial<Stage> = {}): Stage {
  return { id, by: ['builder'], brief: `Do ${id}.`, makes: { code: true }, ...more };
}

export const APPROVED: Json = { approved: true, summary: 'good', findings: [], criteria: [] };

export function rejection(...problems: string[]): Json {
  const findings = problems.map((problem) => ({ file: 'src/a.ts', line: 3, problem, suggestion: `fix ${problem}` }));
  return { approved: false, summary: 'not yet', findings, criteria: [] };
}

export function entry(id: string, more: Record<string, Json> = {}): Json {
  return {
    id,
    title: `Make ${id}`,
    brief: `Write ${id}.`,
    needs: [],
    paths: [`src/${id}`],
    acceptance: [`${id} works`],
    ...more,
  };
}

/** Answers of authors and judges by task; a list answers one turn after the other. */
export function answers(
  byTask: Readonly<Record<string, Json | readonly { readonly says: Json }[]>>,
): NonNullable<Script['turn']> {
  const taken = new Map<string, number>();
  return ({ task, review }: Turn) => {
    const said = review === null ? byTask[task] : undefined;
    if (said === undefined) return undefined;
    if (!Array.isArray(said)) return { output: said as Json };
    const index = taken.get(task) ?? 0;
    taken.set(task, index + 1);
    return { output: (said as { says: Json }[])[Math.min(index, said.length - 1)]?.says ?? null };
  };
}

export interface Play {
  readonly roster?: readonly Member[];
  readonly objective?: Objective;
  readonly script?: Script;
  readonly asksForPlan?: true;
  readonly routes?: NonNullable<RunFacts['routes']>;
}

export function play(
  list: StageList,
  { roster = TEAM, objective = OBJECTIVE, script = {}, ...more }: Play = {},
): Played {
  const playbook = createStagesPlaybook({ name: 'stages', list });
  const from = {
    run: 'try',
    section: undefined,
    limits: limitsSchema.parse({}),
    publish: undefined,
    roles: [],
    objective: { criteria: [] },
  };
  const facts = factsOf(roster, {
    objective,
    options: playbook.options?.(from) ?? {},
    judges: judgesOf(playbook),
    verifies: false,
    ...more,
  });
  const parsed = playbook.parse(facts);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script });
}

/** The tasks that ended as done, in order. */
export function done({ events }: Played): string[] {
  return events.flatMap((event) => (event.type === 'task-done' ? [event.task] : []));
}

export function viewsOf(list: StageList, { board }: Pick<Played, 'board'>): readonly StageView[] {
  return createStagesPlaybook({ name: 'stages', list }).stages?.(createView(board)) ?? [];
}

export function briefOf({ board }: Played, task: string): string {
  return board.tasks.get(task)?.task.brief.text ?? '';
}
