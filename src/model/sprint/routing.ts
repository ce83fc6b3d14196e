import type { RoutingPolicy } from './options.ts';
import type { Step } from './transition.ts';

/** The roles that the workflow allows for a step, the one that it means first. `scored`: the policy chooses among them. */
const CONTRACT = {
  research_initial: { roles: ['research', 'planner'] },
  milestone_refinement: { roles: ['planner'] },
  artifact_sync: { roles: ['planner'] },
  backlog_definition: { roles: ['planner'] },
  backlog_prioritization: { roles: ['planner'] },
  todo_finalization: { roles: ['planner'] },
  todo_planning: { roles: ['planner'] },
  planning_advice: { roles: ['designer', 'architect'], scored: true },
  architect_guidance: { roles: ['architect'] },
  developer_build: { roles: ['developer'] },
  architect_review: { roles: ['architect'] },
  developer_revision: { roles: ['developer'] },
  qa_validation: { roles: ['qa'] },
  version_controller: { roles: ['version-controller'] },
  sprint_report: { roles: ['planner'] },
} as const satisfies Readonly<
  Record<Step | 'planning_advice', { readonly roles: readonly string[]; readonly scored?: true }>
>;
export type RoutedStep = keyof typeof CONTRACT;

/** Who does a step, and what the policy says of them. */
export interface Routed {
  readonly step: RoutedStep;
  readonly role: string;
  /** Its strengths that the text names; the highest one of the allowed roles is not always chosen. */
  readonly strengths: string[];
  readonly skills: string[];
  readonly expected: string;
  /** Why the order by score was left. */
  readonly override?: string;
}

export type Routing = ({ readonly ok: true } & Routed) | { readonly ok: false; readonly problem: string };

interface Asked {
  readonly step: RoutedStep;
  /** The roles that an agent has. */
  readonly staffed: readonly string[];
  readonly policy: RoutingPolicy;
  /** The words of the work. */
  readonly text: string;
}

/** The contract of the workflow comes first; the policy excludes, and scores among the roles that are left. */
export function routeStep({ step, staffed, policy, text }: Asked): Routing {
  const contract: { readonly roles: readonly string[]; readonly scored?: true } = CONTRACT[step];
  const present = contract.roles.filter((role) => staffed.includes(role));
  const allowed = present.length > 0 ? present : contract.roles;
  const words = spaced(text);
  const excluded = new Map(
    allowed.flatMap((role) => {
      const phrase = of(policy, role).should_not_handle.find((one) => names(words, one));
      return phrase === undefined ? [] : [[role, phrase] as const];
    }),
  );
  const left = allowed.filter((role) => !excluded.has(role));
  const scored = left
    .map((role) => ({ role, strengths: of(policy, role).strengths.filter((one) => names(words, one)) }))
    .toSorted((a, b) => b.strengths.length - a.strengths.length);
  const [best] = scored;
  const first = left[0];
  if (best === undefined || first === undefined) {
    const why = [...excluded].map(([role, phrase]) => `${role} (“${phrase}”)`).join(', ');
    return { ok: false, problem: `policy.yaml leaves no role for ${step}: should_not_handle excludes ${why}` };
  }
  const role = contract.scored === true ? best.role : first;
  const { suggested_skills: skills, expected_behavior: expected } = of(policy, role);
  const strengths = scored.find((one) => one.role === role)?.strengths ?? [];
  const override = overrideOf({ step, role, best: best.role, wanted: contract.roles[0] ?? '', excluded });
  return { ok: true, step, role, strengths, skills, expected, ...(override === undefined ? {} : { override }) };
}

const STEPS = Object.keys(CONTRACT) as RoutedStep[];
/** A planner may do without advice, and who built revises. */
const DONE_BY_NEED: ReadonlySet<RoutedStep> = new Set(['planning_advice', 'developer_revision']);
const NEEDED = STEPS.filter((step) => !DONE_BY_NEED.has(step));

/** Who does each step; one for which the policy leaves no role is not there. */
export function routedSteps(asked: Omit<Asked, 'step'>): Routed[] {
  return STEPS.flatMap((step) => {
    const { ok: _, ...routed } = routeStep({ ...asked, step });
    return 'role' in routed ? [routed] : [];
  });
}

/** Why the policy leaves no role for steps of a sprint, one line for each; empty: it leaves one for each. */
export function unrouted(asked: Omit<Asked, 'step'>, steps: readonly RoutedStep[] = NEEDED): string[] {
  return steps.flatMap((step) => {
    const routed = routeStep({ ...asked, step });
    return routed.ok ? [] : [routed.problem];
  });
}

interface Choice {
  readonly step: RoutedStep;
  readonly role: string;
  readonly best: string;
  /** The role that the contract means. */
  readonly wanted: string;
  readonly excluded: ReadonlyMap<string, string>;
}

function overrideOf({ step, role, best, wanted, excluded }: Choice): string | undefined {
  const phrase = excluded.get(wanted);
  if (phrase !== undefined) return `${wanted} does not handle “${phrase}”`;
  return role === best ? undefined : `the scores name ${best}, and the workflow gives ${step} to ${role}`;
}

const NONE: RoutingPolicy['roles'][string] = {
  ...{ strengths: [], suggested_skills: [], expected_behavior: '', should_not_handle: [] },
};

function of({ roles }: RoutingPolicy, role: string): RoutingPolicy['roles'][string] {
  return (Object.hasOwn(roles, role) ? roles[role] : undefined) ?? NONE;
}

function spaced(text: string): string {
  return ` ${text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `;
}

/** Whether the phrase is there as whole words. An empty one is nowhere. */
function names(words: string, phrase: string): boolean {
  const wanted = spaced(phrase);
  return wanted.trim() !== '' && words.includes(wanted);
}
