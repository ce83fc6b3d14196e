import type { CastMember, CastSource, PlaybookSource, Role } from '../../model/plan.ts';

export const OBJECTIVE_ROLES: Readonly<Record<string, Role>> = {
  pm: { delivers: 'each', prompt: 'pm/role' },
  ba: { delivers: 'each', prompt: 'ba/role' },
  writer: { delivers: 'each', prompt: 'writer/role' },
  builder: { delivers: 'each', prompt: 'objective-builder/role' },
  reviewer: { delivers: 'none', prompt: 'objective-reviewer/role' },
};

/**
 * The six personas. The reviewer has the second runtime to itself, so that a model never reviews its own work; the others share the
 * rest.
 */
export function objectiveCast({ runtimes }: CastSource): CastMember[] {
  const [first = '', second = first, ...others] = runtimes;
  const rest = [first, ...others];
  const on = (index: number) => rest[index % rest.length] ?? first;
  return [
    { name: 'pm', role: 'pm', runtime: on(1), access: 'edit' },
    { name: 'ba', role: 'ba', runtime: on(0), access: 'edit' },
    { name: 'writer', role: 'writer', runtime: on(2), access: 'edit' },
    { name: 'builder-1', role: 'builder', runtime: on(0), access: 'edit' },
    { name: 'builder-2', role: 'builder', runtime: on(1), access: 'edit' },
    { name: 'reviewer', role: 'reviewer', runtime: second, access: 'read-only' },
  ];
}

/** A stage of its own each; the work of a writer and of a second builder others can do. */
const NEEDED = ['pm', 'ba', 'builder', 'reviewer'];

/** The personas that a roster lacks, each with the line that adds it. */
export function unstaffed(roster: PlaybookSource['roster']): string[] {
  const runtime = roster[0]?.account ?? '<runtime>';
  return NEEDED.filter((role) => !roster.some((member) => member.role === role)).map((role) => {
    const access = role === 'reviewer' ? 'read-only' : 'edit';
    const line = `- { name: ${role}, role: ${role}, runtime: ${runtime}, access: ${access} }`;
    return `objective needs an agent with the role ${role}; add it to agents: ${line}`;
  });
}
