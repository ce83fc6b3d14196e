import type { CastMember, CastSource, Role } from '../../model/plan.ts';

export const DELIVERY_ROLES: Readonly<Record<string, Role>> = {
  planner: { delivers: 'none', prompt: 'planner/role' },
  builder: { delivers: 'each' },
  reviewer: { delivers: 'none' },
  committer: { delivers: 'each', prompt: 'committer/role' },
  tester: { delivers: 'none', prompt: 'tester/role' },
};

/** Roles that a plan gives no work to. */
const HELPERS: ReadonlySet<string> = new Set(Object.keys(DELIVERY_ROLES).filter((role) => role !== 'builder'));

/** Roles that a plan may give work to. A role that squad does not know builds. */
export function builderRoles(roles: readonly string[]): string[] {
  return [...new Set(roles.filter((role) => !HELPERS.has(role)))];
}

/** One planner, and a builder and a reviewer on every runtime, so that a reviewer is never the author. */
export function deliveryCast({ runtimes }: CastSource): CastMember[] {
  const onEach = (role: string, access: CastMember['access']): CastMember[] =>
    runtimes.map((runtime, index) => ({ name: `${role}-${index + 1}`, role, runtime, access }));
  return [
    { name: 'planner', role: 'planner', runtime: runtimes[0] ?? '', access: 'read-only' },
    ...onEach('builder', 'edit'),
    ...onEach('reviewer', 'read-only'),
  ];
}
