import type { RunDefinition } from '../model/run.ts';
import { TELL_NO_COST } from '../model/runtime-name.ts';

/** A limit that a run will have and that cannot hold for all of it: said before it begins. */
export interface LimitWarning {
  readonly about: 'limits';
  readonly text: string;
  readonly next: string;
}

export function limitWarnings({ agents, limits }: Pick<RunDefinition, 'agents' | 'limits'>): LimitWarning[] {
  const unseen = agents.filter(({ runtime }) => TELL_NO_COST.has(runtime));
  if (unseen.length === 0) return [];
  const runtimes = [...new Set(unseen.map(({ runtime }) => runtime))].join(', ');
  const names = unseen.map(({ name }) => name).join(', ');
  const held = limits.tokens !== undefined || unseen.every((agent) => agent.limits?.tokens !== undefined);
  return [
    {
      about: 'limits',
      text: `limits.usd is not enforceable for ${runtimes}: no cost told (${names})`,
      next: held ? 'Their tokens are limited.' : 'limits.tokens would hold them.',
    },
  ];
}
