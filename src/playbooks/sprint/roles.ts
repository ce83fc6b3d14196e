import type { CastMember, CastSource, Role } from '../../model/plan.ts';

export const SPRINT_ROLES: Readonly<Record<string, Role>> = {
  research: { delivers: 'none', prompt: 'research/role' },
  planner: { delivers: 'each', prompt: 'sprint-planner/role' },
  designer: { delivers: 'none', prompt: 'designer/role' },
  architect: { delivers: 'none', judges: true, prompt: 'architect/role' },
  developer: { delivers: 'each', prompt: 'developer/role' },
  qa: { delivers: 'none', judges: true, prompt: 'qa/role' },
  'version-controller': { delivers: 'each', prompt: 'version-controller/role' },
};

/** Only a run that plans findings has it, and only where `squad.yaml` has an agent of that role. */
export const SOURCER: Role = { delivers: 'none', prompt: 'sourcer/role' };

/** One agent for each role and two that build, spread over the runtimes so that no model judges its own work alone. */
export function sprintCast({ runtimes }: CastSource): CastMember[] {
  const [first = '', second = first] = runtimes;
  return [
    { name: 'research', role: 'research', runtime: second, access: 'read-only' },
    { name: 'planner', role: 'planner', runtime: first, access: 'edit' },
    { name: 'designer', role: 'designer', runtime: first, access: 'read-only' },
    { name: 'architect', role: 'architect', runtime: second, access: 'read-only' },
    { name: 'developer-1', role: 'developer', runtime: first, access: 'edit' },
    { name: 'developer-2', role: 'developer', runtime: runtimes[2] ?? first, access: 'edit' },
    { name: 'qa', role: 'qa', runtime: second, access: 'read-only' },
    { name: 'version-controller', role: 'version-controller', runtime: first, access: 'edit' },
  ];
}

/** One agent plans requests. */
export function reviewCast({ runtimes: [first = ''] }: CastSource): CastMember[] {
  return [{ name: 'planner', role: 'planner', runtime: first, access: 'read-only' }];
}
