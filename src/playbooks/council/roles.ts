import type { CastMember, CastSource, Role } from '../../model/plan.ts';

/** MAIN can give work to a member that may edit, as long as there is one. */
export const COUNCIL_ROLES: Readonly<Record<string, Role>> = {
  main: { delivers: 'each', prompt: 'main/role' },
  member: { delivers: 'some', judges: true, prompt: 'member/role' },
};

/** MAIN and members `a`, `b`, …. Members get the other runtimes first, so that different models review each other. */
export function councilCast({ runtimes, members }: CastSource): CastMember[] {
  const seats = ['main', ...Array.from({ length: members }, (_none, index) => String.fromCodePoint(0x61 + index))];
  return seats.map((name, index) => {
    const runtime = runtimes[index % runtimes.length] ?? '';
    return { name, role: index === 0 ? 'main' : 'member', runtime, access: 'edit' };
  });
}
