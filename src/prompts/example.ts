import { FACTS, type FactName } from './facts.ts';
import { renderPrompt, type PromptName } from './render.ts';
import { PROMPTS } from './shipped.ts';

/** The prompt with a placeholder for each fact. `body`: in place of squad's. */
export function examplePrompt(name: PromptName, body: string): string {
  const needs: readonly FactName[] = PROMPTS[name].needs;
  const facts = needs.map((fact) => {
    const shown = `<the ${fact}>`;
    return [fact, FACTS[fact] === 'lines' ? [`${shown} 1`, `${shown} 2`] : shown];
  });
  return renderPrompt(name, Object.fromEntries(facts) as never, { [name]: body });
}
