// @module-tag all
import { describe, expect, it } from 'vitest';
import { limitsSchema } from '../../src/model/limits.ts';
import { runDefinitionSchema } from '../../src/model/run.ts';
import { ALL } from '../support/lane.ts';
import { isJsonObject, type Json } from '../../src/text/json.ts';
import type { Part } from './world/simulated-agents.ts';
import { runWorld, type Crash, type WorldEnd } from './world/simulated-world.ts';

const MINUTE = 60_000;
const WALL = Date.UTC(2026, 10, 20, 12);
const ISSUE = {
  ...{ doc_path: 'docs/design.md', code_paths: [], category: 'func', severity: 'high' },
  ...{ summary: 'It does not say when.', suggestion: 'Say it.' },
};
const NOTHING = { issues: [], summary: 'nothing to say', questions: [] };
const AGENTS = [{ name: 'main', role: 'main' }, ...['a', 'b', 'c'].map((name) => ({ name, role: 'member' }))];

/** How long each turn takes, in minutes; absent: one. */
type Minutes = Readonly<Record<string, number>>;

function partOf(task: string, minutes: Minutes): Part {
  const said = (structured: Json): Part => ({
    ms: (minutes[task] ?? 1) * MINUTE,
    toolMs: 500,
    result: { outcome: 'completed', text: 'see the answer', structured },
  });
  const writes = (path: string): Pick<Part, 'deed'> => ({
    deed: { writes: { [path]: `${task}\n` }, commits: true },
  });
  if (task === 'review-1') return said({ ...NOTHING, issues: [ISSUE] });
  if (task.startsWith('improve')) return { ...said({ changes_summary: 'all' }), ...writes('docs/design.md') };
  if (task === 'assign') return said({ summary: 'one piece', assignments: [ASSIGNED] });
  if (task === 'close') return said({ summary: 'all is there', open_points: [] });
  if (task.startsWith('execute')) return { ...said({}), ...writes('src/router.txt') };
  return said(NOTHING);
}

const ASSIGNED = {
  ...{ task_id: 'T-1', to: 'B', task_type: 'implement', summary: 'Let it wait.', files: ['src/router.txt'] },
  ...{ success_criteria: ['it waits'], dependencies: [], deadline_minutes: 200 },
};

function playCouncil(minutes: Minutes, reviewMinutes: number, crashes: readonly Crash[] = []): Promise<WorldEnd> {
  const { repository: _, ...definition } = runDefinitionSchema.parse({
    ...{ version: 1, name: 'simulated', source: 'council', playbook: 'council' },
    objective: {
      ...{ title: 'Waits', goals: [], criteria: [], constraints: [], context: '' },
      text: '# Waits\n\ndocs/design.md is right.\n',
    },
    options: { reviewMinutes },
    agents: AGENTS.map((agent) => ({
      ...agent,
      ...{ runtime: 'claude', account: agent.name, instructions: `You are ${agent.name}.`, access: { level: 'edit' } },
    })),
    ...{ runtimes: {}, limits: limitsSchema.parse({ minutes: 20_000, idleMinutes: 900, turnMinutes: 900 }) },
    ...{ setup: [], verify: [], repository: { root: '/', base: '' }, trusted: null },
    ...{ described: {}, judges: ['reviewer', 'member'], baseline: 'off', plan: 'auto', strict: false },
  });
  return runWorld({
    ...{ seed: 1, wall: WALL, definition, crashes, clockFaults: [], most: 48 * 60 * MINUTE },
    cast:
      () =>
      ({ task }) =>
        partOf(task, minutes),
    answer: (_question, [first = '']) => first,
  });
}

function eventsOf({ history }: WorldEnd, ...types: string[]) {
  return history.events.flatMap(({ type, at, data }) =>
    types.includes(type) && isJsonObject(data) ? [{ type, at, data }] : [],
  );
}

/** Minutes from the start of the turn of this task to its end, and how it ended. */
function turnOf(world: WorldEnd, task: string): { minutes: number; outcome: unknown } {
  const of = (type: string) => eventsOf(world, type).findLast(({ data }) => data['taskId'] === task);
  const end = of('attempt-settled');
  return {
    minutes: Math.round(((end?.at ?? 0) - (of('attempt-spawned')?.at ?? 0)) / MINUTE),
    outcome: end?.data['outcome'],
  };
}

const LATE = ['mail-retried', 'mail-dead', 'mail-void'];

describe('a council in simulated time', () => {
  it('loses no mail of MAIN, nor of a member, that it lets wait for an hour', ALL, async () => {
    // All have reviewed after a minute but one, and MAIN waits for that one; then the members wait for MAIN.
    const world = await playCouncil({ 'review-3': 29, 'improve-1': 45, 'verify-1-2': 9 }, 30);
    expect(world.end).toMatchObject({ end: 'finished', outcome: 'done' });
    expect(world.violations).toEqual([]);
    expect(world.ranMs).toBeGreaterThan(80 * MINUTE);
    expect(eventsOf(world, ...LATE, 'mail-overdue')).toEqual([]);
  });

  it('waits for no reviewer longer than `reviewMinutes`, and loses nothing by it', ALL, async () => {
    const world = await playCouncil({ 'review-2': 200 }, 30);
    expect(world.end).toMatchObject({ end: 'finished', outcome: 'done' });
    expect(turnOf(world, 'review-2')).toEqual({ minutes: 30, outcome: 'cancelled' });
    expect(eventsOf(world, 'mail-overdue')).toMatchObject([{ data: { to: 'B', action: 'review' } }]);
    expect(eventsOf(world, ...LATE)).toEqual([]);
  });

  it('waits for no verifier longer than ten minutes from the start of its turn, and ends this turn', async () => {
    const world = await playCouncil({ 'verify-1-3': 15 }, 30);
    expect(world.end).toMatchObject({ end: 'finished', outcome: 'done' });
    expect(turnOf(world, 'verify-1-3')).toEqual({ minutes: 10, outcome: 'cancelled' });
    expect(eventsOf(world, 'mail-overdue')).toMatchObject([{ data: { to: 'C', action: 'verify' } }]);
    expect(world.violations).toEqual([]);
  });
});
