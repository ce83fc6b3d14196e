import { limitsSchema } from '../../src/model/limits.ts';
import type { OptionsSource } from '../../src/model/plan.ts';
import type { RunFacts } from '../../src/model/plan/board.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { asObject, type Json } from '../../src/text/json.ts';

interface About {
  readonly rounds?: number;
  readonly publish?: OptionsSource['publish'];
}

/** The options of a run of `delivery`: the list that preflight freezes for these agents and this objective. */
export function deliveryOptions(
  agents: readonly { readonly role: string }[],
  objective: OptionsSource['objective'],
  { rounds = 4, publish }: About = {},
): Json {
  const limits = limitsSchema.parse({ reviewRounds: rounds });
  const roles = agents.map(({ role }) => role);
  return (
    createDeliveryPlaybook().options?.({ run: 'try', section: undefined, limits, publish, roles, objective }) ?? {}
  );
}

/** The facts of a run of `delivery` with that list, unless they have one. */
export function withDeliveryList(facts: RunFacts, about?: About): RunFacts {
  const { roster, objective, options } = facts;
  if (Object.hasOwn(asObject(options), 'list')) return facts;
  return { ...facts, options: deliveryOptions(roster, objective, about) };
}
