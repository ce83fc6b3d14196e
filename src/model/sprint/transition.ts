import { z } from 'zod';

/** A step asks for one of these with its answer. */
export const OUTCOMES = ['continue', 'advance', 'reopen', 'block', 'complete'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Why work is done again, and by whom. */
export const CATEGORIES = ['scope', 'ux', 'architecture', 'implementation', 'verification'] as const;
export type Category = (typeof CATEGORIES)[number];

const PHASES = ['planning', 'implementation', 'validation', 'closeout'] as const;
type Phase = (typeof PHASES)[number];

const STEPS = [
  ...(['research_initial', 'milestone_refinement', 'artifact_sync', 'backlog_definition'] as const),
  ...(['backlog_prioritization', 'todo_finalization', 'todo_planning', 'architect_guidance'] as const),
  ...(['developer_build', 'architect_review', 'developer_revision', 'qa_validation'] as const),
  ...(['version_controller', 'sprint_report'] as const),
] as const;
export type Step = (typeof STEPS)[number];

const MOST_TEXT = 2_000;
const text = z.string().max(MOST_TEXT);
const texts = z.array(text).max(20);

/** `workflow_transition`. No field is optional, because strict structured output requires all. */
export const transitionSchema = z.object({
  outcome: z
    .enum(OUTCOMES)
    .describe(
      '`continue`: this step once more. `advance`: the next one. `reopen`: an earlier one. `block`: a person is needed',
    ),
  target_phase: z.enum(PHASES).nullable().describe('where it should lead; squad compares it with its own list'),
  target_step: z.enum(STEPS).nullable().describe('where it should lead; squad compares it with its own list'),
  reopen_category: z.enum(CATEGORIES).nullable().describe('of `reopen`, and of no other outcome'),
  reason: text.describe('one or two sentences'),
  unresolved_items: texts.describe('what is still open, for the next step'),
  finalize_phase: z.boolean().describe('true: this phase is complete'),
  required_inputs: texts.describe('of `block`: what is missing, one an entry'),
  recommended_next_step: text.nullable().describe('of `block`: what a person should do next'),
});
export type Transition = z.infer<typeof transitionSchema>;

interface Place {
  readonly phase: Phase;
  readonly step: Step;
}

interface StepRule {
  readonly phase: Phase;
  /** The outcomes that the step may ask for, and where the list leads with each. */
  readonly leads: Readonly<Partial<Record<Outcome, Place | null>>>;
  /** The categories by which it may reopen. */
  readonly categories?: readonly Category[];
}

const to = (phase: Phase, step: Step): Place => ({ phase, step });
const planning = (own: Step, next: Step): StepRule => ({
  phase: 'planning',
  leads: { continue: to('planning', own), advance: to('planning', next), block: null },
});

/** The steps whose answer has a transition, with what each may ask for. Reviews name a category in a form of their own. */
const RULES = {
  research_initial: {
    phase: 'planning',
    leads: { continue: to('planning', 'research_initial'), advance: to('planning', 'milestone_refinement') },
  },
  milestone_refinement: planning('milestone_refinement', 'artifact_sync'),
  backlog_definition: planning('backlog_definition', 'backlog_prioritization'),
  backlog_prioritization: planning('backlog_prioritization', 'todo_finalization'),
  todo_finalization: planning('todo_finalization', 'todo_planning'),
  todo_planning: {
    phase: 'planning',
    leads: {
      advance: to('implementation', 'architect_guidance'),
      complete: to('closeout', 'version_controller'),
      block: null,
    },
  },
  architect_guidance: {
    phase: 'implementation',
    leads: { advance: to('implementation', 'developer_build'), reopen: null, block: null },
    categories: ['scope', 'ux'],
  },
  developer_build: {
    phase: 'implementation',
    leads: { advance: to('validation', 'architect_review'), reopen: null, block: null },
    categories: ['scope', 'ux', 'architecture'],
  },
  version_controller: { phase: 'closeout', leads: { complete: null, advance: null } },
  sprint_report: { phase: 'closeout', leads: { complete: null } },
} as const satisfies Partial<Record<Step, StepRule>>;
export type AnsweringStep = keyof typeof RULES;

/** Where the list leads with each category. */
export const REOPENED_AT: Readonly<Record<Category, Place>> = {
  scope: to('planning', 'todo_planning'),
  ux: to('planning', 'todo_planning'),
  architecture: to('implementation', 'architect_guidance'),
  implementation: to('implementation', 'developer_build'),
  verification: to('implementation', 'developer_build'),
};

interface Facts {
  /** From 1: how often the step has been done, with this time. */
  readonly round: number;
  /** How often it may be done. */
  readonly cap: number;
  /** Attachments that its answer does not name as read. */
  readonly unread: readonly string[];
}

/** Why this step may not ask for this; empty: it may. */
export function transitionProblems(step: AnsweringStep, asked: Transition, { round, cap, unread }: Facts): string[] {
  const rule: StepRule = RULES[step];
  const { outcome, reopen_category: category, reason, required_inputs: inputs, recommended_next_step: next } = asked;
  const lead = rule.leads[outcome];
  if (lead === undefined)
    return [`${step} may not ask for \`${outcome}\`; it may ask for ${Object.keys(rule.leads).join(', ')}`];
  const { categories = [] } = rule;
  const isKnown = category !== null && categories.includes(category);
  return [
    ...(outcome === 'reopen' && !isKnown
      ? [`\`reopen_category\` must be one of ${categories.join(', ')} here, not ${category ?? 'null'}`]
      : []),
    ...(outcome !== 'reopen' && category !== null ? ['`reopen_category` belongs to `reopen` alone: write null'] : []),
    ...(outcome === 'reopen' || outcome === 'block' ? reasonProblems(reason) : []),
    ...(outcome === 'block' && inputs.every(isBlank) && isBlank(next ?? '')
      ? ['`block` says what is missing in `required_inputs`, or what to do in `recommended_next_step`']
      : []),
    ...(outcome === 'block' && unread.length > 0
      ? [`read these attachments first, and name them in \`attachments_read\`: ${unread.join(', ')}`]
      : []),
    ...(outcome === 'continue' && round >= cap
      ? [
          `${step} has been done ${cap} times, which is the most: ask for ${Object.keys(rule.leads).slice(1).join(' or ')}`,
        ]
      : []),
    ...(outcome === 'continue' && asked.finalize_phase
      ? ['`finalize_phase` is true and `outcome` continues the same phase; give one of the two']
      : []),
    ...targetProblems(asked, outcome === 'reopen' && isKnown ? REOPENED_AT[category] : lead),
  ];
}

function targetProblems({ target_phase: phase, target_step: step, outcome }: Transition, lead: Place | null): string[] {
  const shown = lead === null ? 'null' : undefined;
  return [
    ...(phase === null || phase === lead?.phase
      ? []
      : [`\`target_phase\` is ${phase}, and \`${outcome}\` leads to ${shown ?? lead?.phase}`]),
    ...(step === null || step === lead?.step
      ? []
      : [`\`target_step\` is ${step}, and \`${outcome}\` leads to ${shown ?? lead?.step}`]),
  ];
}

function reasonProblems(reason: string): string[] {
  return isBlank(reason) ? ['`reason` is empty'] : [];
}

function isBlank(value: string): boolean {
  return value.trim() === '';
}
