import type { AgentRequest, ReviewSlot } from '../model/plan/work.ts';

/** Turns of one reviewer on one commit that may end without a verdict, before another one is asked. */
const MOST_SILENT_TURNS = 2;

/** The agents that could judge. */
export interface Bench {
  /** The names of all members with the role. */
  readonly membersOf: (role: string) => readonly string[];
  /** Roles that judge work of others, in order of preference. */
  readonly judges: readonly string[];
  /** Whether the member could start now: no pause, no lock-out and no usage limit keeps it from that. */
  readonly isFree: (name: string) => boolean;
}

/** Whether another one has to be asked: its reviewer will give no verdict, or has had its turns. */
export function isSilent({ state, used }: AgentRequest): boolean {
  if (state.at === 'answered') return false;
  return state.at === 'failed' || used.retries + used.repairs >= MOST_SILENT_TURNS;
}

/**
 * The substitute for this slot's agent: first from its role, then the review's other roles, then any role that judges; free agents go
 * first. Excludes authors, judges of this review and agents in `tried`. undefined: there is none.
 */
export function nextJudge(
  slot: ReviewSlot,
  slots: readonly ReviewSlot[],
  authors: readonly string[],
  bench: Bench,
): string | undefined {
  const out = [
    ...authors,
    ...slots.flatMap(({ tried, instead }) => [...tried, ...(instead === undefined ? [] : [instead])]),
  ];
  const others = slots.filter((one) => one !== slot);
  const barred = new Set([...out, ...others.flatMap((one) => seatedOn(one, out, bench))]);
  const roles = new Set([slot.role, ...slots.map(({ role }) => role), ...bench.judges]);
  const able = [...roles].flatMap(bench.membersOf).filter((name) => !barred.has(name));
  return able.find(bench.isFree) ?? able[0];
}

/** Who judges on this slot. Before its first turn: the only one who can, if there is no other. */
function seatedOn({ role, request, instead }: ReviewSlot, out: readonly string[], { membersOf }: Bench): string[] {
  const seated = instead ?? request.thread?.agent;
  if (seated !== undefined) return [seated];
  const able = membersOf(role).filter((name) => !out.includes(name));
  return able.length === 1 ? able : [];
}
