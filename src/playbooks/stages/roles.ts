import type { Role } from '../../model/plan.ts';
import type { Member } from '../../model/plan/board.ts';
import { documentsIn, judgedBy, reviewsIn } from './list-facts.ts';
import type { Stage, StageList } from './stage-list.ts';
import { staffedRole } from './stage-progress.ts';
import { reviewersOf } from './stage-duties.ts';

/** The roles of a list. A role that is the first choice for work on files changes files; one that only judges does not. */
export function rolesOf({ stages }: StageList): Readonly<Record<string, Role>> {
  const first = new Set(stages.filter(changesFiles).flatMap(({ by }) => by.slice(0, 1)));
  const works = new Set(stages.filter(changesFiles).flatMap(({ by }) => by));
  const judges = new Set(
    stages.flatMap(({ by, judges: judging, review = [] }) => [
      ...(judging === undefined ? [] : by),
      ...reviewsIn({ review }).flatMap((one) => one.by),
    ]),
  );
  const names = new Set(
    stages.flatMap(({ by, review = [], asks }) => [
      ...by,
      ...reviewsIn({ review }).flatMap((one) => one.by),
      ...(asks?.of ?? []),
    ]),
  );
  const delivers = (role: string): Role['delivers'] =>
    first.has(role) || (works.has(role) && !judges.has(role)) ? 'each' : 'none';
  return Object.fromEntries(
    [...names].map((role) => [role, { delivers: delivers(role), ...(judges.has(role) ? { judges: true } : {}) }]),
  );
}

function changesFiles({ makes }: Stage): boolean {
  return documentsIn(makes).length > 0 || 'code' in makes || 'removes' in makes || 'commit' in makes;
}

/** Problems of the roster, each with a line of `squad.yaml` that helps. Neither an agent nor a role judges its own work. */
export function staffProblems(list: StageList, roster: readonly Pick<Member, 'role' | 'account'>[]): string[] {
  // An account has the name of its runtime.
  const [{ account: runtime } = { account: '<runtime>' }] = roster;
  return list.stages.flatMap((stage) => {
    if (stage.by.length === 0) return [];
    const author = staffedRole(stage.by, roster);
    if (author === undefined) return [lackOf(runtime, stage.id, stage.by)];
    const wrote = new Set(judgedBy(list, stage).flatMap(({ by }) => staffedRole(by, roster) ?? []));
    const judges = stage.by.filter((role) => !wrote.has(role));
    return [
      ...(stage.judges === undefined || staffedRole(judges, roster) !== undefined
        ? []
        : [lackOf(runtime, stage.id, judges, [...wrote].join(' and ') || undefined)]),
      ...reviewsIn(stage).flatMap(({ id, by }) => {
        if (reviewersOf(by, author, roster).length > 0) return [];
        const others = by.filter((role) => role !== author);
        return [lackOf(runtime, id, others, author)];
      }),
    ];
  });
}

function lackOf(runtime: string, stage: string, roles: readonly string[], author?: string): string {
  const besides = author === undefined ? '' : `, besides ${author}, whose work it judges`;
  const [role] = roles;
  if (role === undefined) return `${stage} needs an agent with another role than ${author ?? 'its author'}`;
  const line = `- {name: ${role}, role: ${role}, runtime: ${runtime}}`;
  return `${stage} needs an agent with the role ${roles.join(' or ')}${besides}; add \`${line}\` to agents`;
}
