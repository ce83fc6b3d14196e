import type { RuntimeDescription } from '../../model/runtime-description.ts';
import { isEndpoint, NETWORK_VARIABLES, unpassedEndpoints } from '../../model/network-variables.ts';
import type { RuntimeSettings } from './cli-adapter.ts';
import type { NetworkSettings } from './network-failure.ts';

/** Splits network variables into those that the program gets and those of the person that it lacks. `name`: the runtime's. */
export function networkOf(
  name: string,
  program: { readonly description: RuntimeDescription; passes(from: RuntimeSettings): readonly string[] },
  settings: RuntimeSettings,
  environment: Readonly<Record<string, string>>,
): NetworkSettings {
  const given = Object.entries(environment).filter(([one, value]) => {
    return value !== '' && (NETWORK_VARIABLES.includes(one) || isEndpoint(one));
  });
  return {
    given: Object.fromEntries(given),
    unpassed: unpassedEndpoints(settings.environment, program.description.variables ?? [], program.passes(settings)),
    setting: `runtimes.${name}.env`,
  };
}
