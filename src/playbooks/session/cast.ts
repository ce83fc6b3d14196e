import type { CastMember, CastSource, Role } from '../../model/plan.ts';
import type { Session, SessionRole } from './session.ts';
import { workOf } from './session-list.ts';

/** The roles of a session. Only work on code has to change files, so the agents of any other role may be read-only. */
export function sessionRoles({ roles }: Session): Readonly<Record<string, Role>> {
  return Object.fromEntries(
    roles.map((role) => {
      const delivers = workOf(role) === 'code' ? 'each' : 'none';
      return [role.slug, { delivers, instructions: instructionsOf(role) }];
    }),
  );
}

function instructionsOf({ name, file, text }: SessionRole): string {
  return `Your role is ${name}. The session that you work in describes it (${file}):\n\n${text.trim()}`;
}

/** One agent for each role, spread over the runtimes. */
export function sessionCast({ roles }: Session, { runtimes }: CastSource): CastMember[] {
  return roles.map((role, index) => ({
    name: role.slug,
    role: role.slug,
    runtime: runtimes[index % runtimes.length] ?? '',
    access: workOf(role) === 'reads' ? 'read-only' : 'edit',
  }));
}
