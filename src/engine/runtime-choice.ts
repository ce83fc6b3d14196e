import type { DescribedRuntimes } from '../model/runtime-description.ts';
import type { Settings } from '../model/settings.ts';
import { defined } from '../text/defined.ts';
import type { Composition, RuntimeChoice } from './compose.ts';

type Runtimes = Settings['runtimes'];

/** The settings of a runtime, in the form that `compose` takes. */
export function runtimeChoice(runtimes: Runtimes, name: string): RuntimeChoice {
  const { command, env, config } = runtimes[name] ?? {};
  return defined({ binary: command, allowEnvironment: env ?? [], config });
}

/** Descriptions of the registered runtimes and of those that the settings name. */
export function describeRuntimes(
  ports: Pick<Composition, 'runtimes' | 'describe'>,
  runtimes: Runtimes = {},
): DescribedRuntimes {
  const names = Object.keys({ ...ports.runtimes, ...runtimes });
  return Object.fromEntries(names.map((name) => [name, ports.describe(name)]));
}
