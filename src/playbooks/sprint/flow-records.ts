import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { asObject, plainJson } from '../../text/json.ts';
import type { Category } from '../../model/sprint/transition.ts';

// Decisions of the sprint besides its list. Only the playbook writes these records of the board.

const FLOW = 'sprint-flow';
const BLOCKS = 'sprint-blocks';
const REOPENS = 'sprint-reopens';
const CLOSEOUT = 'sprint-closeout';

type Records = Pick<View, 'record' | 'records'>;

/** Why the sprint ends before its todos. */
export interface EarlyEnd {
  readonly state: 'blocked';
  readonly reason: string;
  readonly at: number;
}

export function earlyEnd({ record }: Records): EarlyEnd | undefined {
  return record(FLOW, 'end') as unknown as EarlyEnd | undefined;
}

/** Ends the run: a sprint without todos is blocked, and a person sees why. */
export function endEarly(now: number, reason: string): PlanChange[] {
  const value: EarlyEnd = { state: 'blocked', reason, at: now };
  return [put(FLOW, 'end', value), { do: 'finish', outcome: 'failed', why: `the sprint is blocked: ${reason}` }];
}

/** Why a todo cannot go on, in the words of the role that says so. */
export interface Block {
  readonly reason: string;
  readonly role: string;
  readonly required_inputs: readonly string[];
  readonly recommended_next_step: string | null;
}

export function blockOf({ record }: Records, entry: string): Block | undefined {
  return record(BLOCKS, entry) as unknown as Block | undefined;
}

export function putBlock(entry: string, block: Block): PlanChange {
  return put(BLOCKS, entry, block);
}

/** Why, and what is needed to continue. */
export function blockText({
  reason,
  required_inputs: inputs,
  recommended_next_step: next,
}: Omit<Block, 'role'>): string {
  return [
    reason,
    ...(inputs.length === 0 ? [] : [`required inputs: ${inputs.join('; ')}`]),
    ...(next === null ? [] : [`next: ${next}`]),
  ].join('; ');
}

interface Reopened {
  readonly by: string;
  readonly category: Category;
  readonly reason: string;
}

/** By its own authors; the board has what reviews reopened. */
export function reopensOf({ record }: Records, entry: string): readonly Reopened[] {
  return (record(REOPENS, entry) ?? []) as unknown as readonly Reopened[];
}

export function putReopen(view: Records, entry: string, reopened: Reopened): PlanChange {
  return put(REOPENS, entry, [...reopensOf(view, entry), reopened]);
}

/** Whether the commit of this task was tried once more, after all other todos. */
export function isClosedOut({ record }: Records, task: string): boolean {
  return asObject(record(CLOSEOUT, task))['again'] === true;
}

export function putCloseout(task: string): PlanChange {
  return put(CLOSEOUT, task, { again: true });
}

function put(where: string, id: string, value: object): PlanChange {
  return { do: 'put', in: where, id, value: plainJson(value) };
}
