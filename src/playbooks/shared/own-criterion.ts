import { renderPrompt, type ChangedPrompts, type FactsOf } from '../../prompts/render.ts';

const NONE: FactsOf<'reviewer/criterion'> = { document: '', criterion: '', message: '', before: '' };

/** A criterion of a review that squad adds. */
export function ownCriterion(facts: Partial<FactsOf<'reviewer/criterion'>>, prompts?: ChangedPrompts): string {
  return renderPrompt('reviewer/criterion', { ...NONE, ...facts }, prompts);
}
