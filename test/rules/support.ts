import { createBoard } from '../../src/rules/board.ts';
import { newWork } from '../../src/rules/work.ts';
import type { WorkContext } from '../../src/rules/work-step.ts';
import {
  DEFAULT_PLAN_LIMITS,
  type Board,
  type Member,
  type RunFacts,
  type TaskState,
} from '../../src/model/plan/board.ts';
import type { NewTask, TaskEnd } from '../../src/model/plan/task.ts';
import type { EvidenceFacts } from '../../src/model/plan/evidence.ts';
import type { AgentRequest, Phase, RequestState, Used, Work } from '../../src/model/plan/work.ts';
import { factsOf, member } from '../playbooks/simulator.ts';

export function newTask(id: string, more: Partial<NewTask> = {}): NewTask {
  return {
    id,
    title: id,
    role: 'builder',
    kind: 'work',
    needs: [],
    brief: { text: `Do ${id}.` },
    workspace: 'own',
    session: 'new',
    requires: [{ kind: 'diff' }],
    integrate: true,
    ...more,
  };
}

export const REVIEWED: Partial<NewTask> = {
  review: { by: ['reviewer'], quorum: 'all', rounds: 3, criteria: ['it works'] },
};

type LiveState = Extract<RequestState, { at: 'live' }>;

export const UNUSED: Used = { retries: 0, infrastructure: 0, transient: 0, repairs: 0, waits: 0, stalls: 0, asks: 0 };

export const FACTS: EvidenceFacts = {
  commit: 'c1',
  commits: 1,
  base: 'base',
  changedPaths: ['src/a.ts'],
  uncommitted: [],
  files: [],
  commands: [],
  pr: null,
};

/** A task on a board. */
export function stateOf(id: string, more: Partial<NewTask> = {}, work: Partial<Work> = {}): TaskState {
  return { task: newTask(id, more), order: 0, depth: 0, at: { added: 0 }, work: { ...newWork(), ...work } };
}

/** A board of bob, who builds, and rex, who reviews. */
export function boardWith(states: readonly TaskState[], facts: Partial<RunFacts> = {}, roster?: Member[]): Board {
  const board = createBoard(factsOf(roster ?? [member('bob', 'builder'), member('rex', 'reviewer')], facts));
  return { ...board, tasks: states.reduce((tasks, state, order) => tasks.with({ ...state, order }), board.tasks) };
}

export function endedAs(as: TaskEnd, more: Partial<Extract<Phase, { at: 'ended' }>> = {}): Partial<Work> {
  return { phase: { at: 'ended', as, cause: as === 'failed' ? 'attempts' : null, why: `it ${as}`, ...more } };
}

/** What a task's work needs to know of its run. */
export function contextOf(task: Partial<NewTask> = {}, more: Partial<WorkContext> = {}): WorkContext {
  return {
    ...{ task: newTask('t', task), limits: DEFAULT_PLAN_LIMITS, verifies: true, now: 1_000, seq: 9, head: 'base' },
    ...{ isOpen: () => true, threadOf: () => null, membersOf: () => [], judges: [], isFree: () => true },
    ...more,
  };
}

/** A request that is being worked on. */
export function liveRequest(attempt: string, agent = 'bob', more: Partial<LiveState> = {}): AgentRequest {
  const state = { at: 'live', attempt, agent, account: agent, session: `s-${agent}`, stop: null, stall: null } as const;
  return { ...newWork().author, state: { ...state, ...more }, thread: { key: `s-${agent}`, agent } };
}
