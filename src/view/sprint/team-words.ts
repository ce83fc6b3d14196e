import { ITEM_STATES, type ItemState, type TodoState } from '../../model/sprint/states.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { ShownSprint, ShownTeam, ShownTodo } from './shown-team-schema.ts';

interface TodoLook {
  /** One column; the word says the same. */
  readonly sign: string;
  readonly word: string;
  readonly tone: 'good' | 'bad' | 'open' | 'work' | 'rest';
}

/** From what a person looks for first. */
export const TODO_LOOKS: Readonly<Record<TodoState, TodoLook>> = {
  failed: { sign: '✗', word: 'failed', tone: 'bad' },
  blocked: { sign: '■', word: 'blocked', tone: 'open' },
  uncommitted: { sign: '◐', word: 'not committed', tone: 'open' },
  running: { sign: '●', word: 'running', tone: 'work' },
  queued: { sign: '·', word: 'queued', tone: 'rest' },
  carried_over: { sign: '→', word: 'carried over', tone: 'open' },
  committed: { sign: '✓', word: 'committed', tone: 'good' },
  completed: { sign: '✓', word: 'completed', tone: 'good' },
};

/** `running, todo_execution`. */
export function standingText({ state, phase }: Pick<ShownSprint, 'state' | 'phase'>): string {
  return `${stateWord(state)}${phase === null || phase === '' ? '' : `, ${phase}`}`;
}

/** `1 running, 2 committed`; without todos, that there is none. */
export function todoCounts(todos: readonly Pick<ShownTodo, 'state'>[]): string {
  const counts = Object.entries(TODO_LOOKS).flatMap(([state, { word }]) => counted(todos, state, word));
  return counts.join(', ') || 'no todo yet';
}

/** `2 pending, 1 blocked, 5 done`. */
export function backlogCounts({ counts }: ShownTeam['backlog']): string {
  const words = ITEM_STATES.flatMap((state) =>
    counts[state] === undefined ? [] : [`${counts[state]} ${stateWord(state)}`],
  );
  return words.join(', ') || 'empty';
}

export function stateWord(state: ItemState | ShownSprint['state']): string {
  return state.replace('_', ' ');
}

/** Why a todo is as it is, what it waits for, and its commit, in one line; empty: its state says all. */
export function aboutTodo({ commit, why, waitsFor }: ShownTodo): string {
  const needs = waitsFor.length === 0 ? '' : `waits for ${waitsFor.join('; ')}`;
  return plainLine([why ?? '', needs, commit?.slice(0, 12) ?? ''].filter((part) => part !== '').join('; '), 400);
}

function counted(todos: readonly Pick<ShownTodo, 'state'>[], state: string, word: string): string[] {
  const count = todos.filter((one) => one.state === state).length;
  return count === 0 ? [] : [`${count} ${word}`];
}
