import Mustache from 'mustache';
import { fenceTag } from '../text/fence.ts';
import { plainLine } from '../text/plain-text.ts';
import { FACTS, type Fact, type FactName } from './facts.ts';
import { PROMPTS } from './shipped.ts';

export type PromptName = keyof typeof PROMPTS;
export type FactsOf<N extends PromptName> = { readonly [F in (typeof PROMPTS)[N]['needs'][number]]: Fact<F> };

/** The prompts with the instructions of a role that squad knows. */
export type RolePrompt = Extract<PromptWithoutFacts, `${string}/role`>;

export function isRolePrompt(name: string): name is RolePrompt {
  return Object.hasOwn(PROMPTS, name) && name.endsWith('/role') && name !== 'other/role';
}

/** The prompts that need no facts. */
export type PromptWithoutFacts = {
  [N in PromptName]: (typeof PROMPTS)[N]['needs'] extends readonly [] ? N : never;
}[PromptName];

/** Bodies of prompts that a repository has changed, by name. */
export type ChangedPrompts = Readonly<Record<string, string>>;

/** Those that the runtime of a turn fills in. */
export function promptsOfRuntimes(changed: ChangedPrompts = {}): ChangedPrompts | undefined {
  const own = Object.entries(changed).filter(([name]) => name.startsWith('runtime/'));
  return own.length === 0 ? undefined : Object.fromEntries(own);
}

/** One prompt with its facts filled in. Nothing in a fact is looked at again, and no fact of others gets out of its tags. */
export function renderPrompt<N extends PromptName>(name: N, facts: FactsOf<N>, changed: ChangedPrompts = {}): string {
  const body = Object.hasOwn(changed, name) ? (changed[name] ?? '') : PROMPTS[name].body;
  const kept: string[] = [];
  const keep = (text: string): string => (text === '' ? '' : `\u0000${kept.push(text) - 1}\u0000`);
  const view = Object.fromEntries(
    Object.entries(facts as Readonly<Record<string, string | readonly string[]>>).map(([fact, value]) => [
      fact,
      shown(fact as FactName, value, keep),
    ]),
  );
  const filled = Mustache.render(body, view, {}, { escape: String });
  // Sections that were left out leave empty lines.
  const tidy = filled.replaceAll(/\n{3,}/g, '\n\n').trim();
  return tidy.replaceAll(/\u0000(\d+)\u0000/g, (_, index: string) => kept[Number(index)] ?? '');
}

/** Characters of what agents and programs said. Work that is ordered, and the objective, are never cut. */
const MOST: Partial<Record<FactName, number>> = { feedback: 20_000, findings: 20_000, cause: 20_000, problems: 20_000 };

function shown(fact: FactName, value: string | readonly string[], keep: (text: string) => string): unknown {
  if (typeof value !== 'string') {
    const lines = value.map((line) => keep(plainLine(line, Number.MAX_SAFE_INTEGER)));
    return Object.assign(lines, { toString: () => lines.join(', ') });
  }
  switch (FACTS[fact]) {
    case 'data':
      return value === '' ? '' : keep(fenceTag(fact, value, MOST[fact]));
    case 'own':
      return keep(value);
    default:
      return keep(plainLine(value, Number.MAX_SAFE_INTEGER));
  }
}
