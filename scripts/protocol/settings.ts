import { z } from 'zod';
import { BUILT_IN_RUNTIMES } from '../../src/model/runtime-name.ts';
import { settingsSchemaFor } from '../../src/model/settings.ts';
import { SINKS, tracingSchema } from '../../src/model/tracing.ts';
import { settingsSections } from '../../src/playbooks/registry.ts';
import { stageListSchema } from '../../src/playbooks/stages/stage-schema.ts';
import { jsonSchemaOf } from './tables.ts';

/** Agents of ACP, which the settings themselves may name. */
const ACP_AGENT = '^acp/[a-z][a-z0-9-]{0,31}$';

const runtimesSchema = z.looseObject({ properties: z.looseObject({ claude: z.unknown() }) });
const schemaSchema = z.looseObject({ properties: z.looseObject({ runtimes: runtimesSchema }) });

/** `squad.yaml` for editors. squad itself refuses more: what one key means for another, and names that are not known. */
export function settingsJsonSchema(): object {
  const sections = settingsSections({});
  const settings = settingsSchemaFor({ runtimes: BUILT_IN_RUNTIMES, sections });
  // Applications register playbooks of their own.
  const short = {
    playbook: z.union([z.string(), stageListSchema]).optional(),
    tracing: z.union([z.enum(SINKS), tracingSchema]).optional(),
  };
  const written = jsonSchemaOf(settings.extend(short), 'squad.yaml');
  const { properties, ...rest } = schemaSchema.parse(JSON.parse(JSON.stringify(written), withAgents));
  const { runtimes } = properties;
  const patternProperties = { [ACP_AGENT]: runtimes.properties.claude };
  return { ...rest, properties: { ...properties, runtimes: { ...runtimes, patternProperties } } };
}

/** Where a schema takes the names of squad's own runtimes, it takes those of agents, too. */
function withAgents(_key: string, value: unknown): unknown {
  const { enum: names } = z.object({ enum: z.array(z.unknown()) }).safeParse(value).data ?? {};
  const isRuntime = names !== undefined && String(names) === String(BUILT_IN_RUNTIMES);
  return isRuntime ? { anyOf: [value, { type: 'string', pattern: ACP_AGENT }] } : value;
}
