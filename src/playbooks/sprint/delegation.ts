import type { SprintOptions } from '../../model/sprint/options.ts';
import { type ChangedPrompts, renderPrompt } from '../../prompts/render.ts';
import { kickoffWords } from '../../model/sprint/sprint.ts';
import { CONTRACT, type Routed, type RoutedStep, routeStep } from '../../model/sprint/routing.ts';

/** Who was chosen for a step, and what is expected of them; empty: the policy leaves no role, which refuses the sprint. */
export function delegation(
  options: SprintOptions,
  step: RoutedStep,
  roles: readonly string[],
  prompts?: ChangedPrompts,
): string {
  const routed = routeStep({ step, staffed: roles, policy: options.policy, text: kickoffWords(options) });
  if (!routed.ok) return '';
  const { role, strengths, skills, expected, override = '' } = routed;
  return renderPrompt(
    'sprint/delegation',
    { step, roleName: role, strengths, suggested: skills, expected, why: override },
    prompts,
  );
}

/** All that was routed for a sprint, for its record. */
export function routings(options: SprintOptions, roles: readonly string[]): Routed[] {
  return (Object.keys(CONTRACT) as RoutedStep[]).flatMap((step) => {
    const routed = routeStep({ step, staffed: roles, policy: options.policy, text: kickoffWords(options) });
    if (!routed.ok) return [];
    const { ok: _, ...rest } = routed;
    return [rest];
  });
}
