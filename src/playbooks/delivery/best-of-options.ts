import { z } from 'zod';
import type { OptionsSource, View } from '../../model/plan.ts';
import type { Member } from '../../model/plan/board.ts';
import { criterionCheck, type Requirement } from '../../model/plan/task.ts';
import { TRIES } from '../../model/playbook-name.ts';

const optionsSchema = z.object({
  tries: z.number().int().min(1),
  /** The commands of `verify` when the run began. */
  verify: z.array(z.string()),
});
type BestOfOptions = z.infer<typeof optionsSchema>;

export function bestOfOptions({ tries = TRIES.usual, verify = [] }: OptionsSource): BestOfOptions {
  return { tries, verify: [...verify] };
}

export function triesOf({ options }: Pick<View, 'options'>): number {
  return optionsSchema.parse(options).tries;
}

/** A change that passes `verify` and the commands of the criteria. A command that cannot run at all decides nothing here. */
export function requirementsOf({ options, objective }: Pick<View, 'options' | 'objective'>): Requirement[] {
  const { verify } = optionsSchema.parse(options);
  const commands = new Set([...verify, ...objective.criteria.flatMap(({ command }) => command ?? [])]);
  return [{ kind: 'diff' }, ...[...commands].map(criterionCheck)];
}

/** The agents that do the tries, in turn: each runtime once before any does a second one. */
export function inTurn(builders: readonly Member[], count: number): Member[] {
  const rest = [...Map.groupBy(builders, ({ account }) => account).values()].map((all) => [...all]);
  const order: Member[] = [];
  while (order.length < builders.length) order.push(...rest.flatMap((all) => all.shift() ?? []));
  return Array.from({ length: count }, (_, index) => order[index % order.length]).flatMap((one) => one ?? []);
}
