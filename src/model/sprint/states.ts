export const ITEM_STATES = ['pending', 'selected', 'blocked', 'done', 'carried_over', 'dropped'] as const;
export type ItemState = (typeof ITEM_STATES)[number];

export const SPRINT_STATES = ['planning', 'running', 'wrap_up', 'completed', 'failed', 'blocked'] as const;
export type SprintState = (typeof SPRINT_STATES)[number];

export const TODO_STATES = [
  ...(['queued', 'running', 'uncommitted', 'committed', 'completed', 'blocked', 'failed', 'carried_over'] as const),
] as const;
export type TodoState = (typeof TODO_STATES)[number];
