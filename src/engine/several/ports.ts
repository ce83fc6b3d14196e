import type { PublishFacts, RunDefinition } from '../../model/run.ts';
import type { Checkout } from '../../substrate/git/repository.ts';
import { openCheckout } from '../../substrate/git/repository.ts';
import type { Composition } from '../compose.ts';
import type { Several } from '../operations/operation-ports.ts';
import { deliver } from './deliver.ts';
import { bringTogether } from './parts.ts';
import { publishAll } from './publish.ts';

/** How a run of several repositories delivers. undefined: it works on one. */
export function severalOf(
  { git, forge }: Pick<Composition, 'git' | 'forge'>,
  checkout: Checkout,
  definition: RunDefinition,
): Several | undefined {
  const { repositories } = definition;
  if (repositories === undefined) return undefined;
  const forgeOf = async ({ root }: { readonly root: string }) => forge(await openCheckout(git, root));
  return {
    deliver: async (work) => deliver(git, checkout, { ...definition, repositories }, work),
    publish: async ({ repositories: delivered = [] }: Pick<PublishFacts, 'repositories'>, report) =>
      publishAll({ definition, publish: definition.publish, delivered, forgeOf, report }),
  };
}

/** Puts the commit from which a run of several repositories begins into the one in which it is started. Safe to repeat. */
export async function join(
  { git }: Pick<Composition, 'git'>,
  checkout: Checkout,
  definition: RunDefinition,
): Promise<void> {
  const { repositories } = definition;
  if (repositories !== undefined) await bringTogether(git, checkout, { ...definition, repositories });
}
