import { limitsSchema } from '../../model/limits.ts';
import type { CastMember, CastSource, OptionsSource, Playbook } from '../../model/plan.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { createStagesPlaybook } from '../stages/index.ts';
import type { StageList } from '../stages/stage-list.ts';
import { literal } from './index.ts';
import { builderRoles, DELIVERY_ROLES } from './roles.ts';

type Subject = Pick<OptionsSource, 'roles' | 'limits' | 'publish' | 'prompts'>;

/** Two turns for small work: one builder does the whole objective, and one reviewer looks at it. */
function soloList({ roles, limits, publish, prompts }: Subject): StageList {
  const rounds = limits.reviewRounds;
  return {
    shows: 'tasks',
    stages: [
      {
        id: 'BUILD',
        title: 'Do the work',
        by: builderRoles(roles),
        brief: literal(renderPrompt('builder/whole', {}, prompts)),
        makes: { code: true },
        ...(publish?.pr === true ? { requires: [{ pr: true } as const] } : {}),
        ...(roles.includes('reviewer') ? { review: { id: 'REVIEW', by: ['reviewer'], rounds } } : {}),
      },
    ],
  };
}

/** Before it is known who is there. */
const WHOLE = soloList({ roles: ['builder', 'reviewer'], limits: limitsSchema.parse({}), publish: undefined });

/** `list`: the one that a run began with. */
export function createSoloPlaybook(list: StageList = WHOLE): Playbook<unknown> {
  return createStagesPlaybook({
    name: 'solo',
    joinsRepositories: true,
    list,
    listFor: soloList,
    isForAgents: true,
    roles: DELIVERY_ROLES,
    otherRoles: { delivers: 'each' },
    cast: soloCast,
    lacks: (roster) =>
      builderRoles(roster.map(({ role }) => role)).length === 0
        ? ['solo needs an agent that builds; add one to agents']
        : [],
  });
}

/** The second runtime reviews what the first one made. */
function soloCast({ runtimes: [first = '', second = first] }: CastSource): CastMember[] {
  return [
    { name: 'builder', role: 'builder', runtime: first, access: 'edit' },
    { name: 'reviewer', role: 'reviewer', runtime: second, access: 'read-only' },
  ];
}
