import type { RunDefinition } from '../../model/run.ts';
import type { DescribedRuntimes } from '../../model/runtime-description.ts';
import type { AgentSettings, Settings } from '../../model/settings.ts';
import type { Limits } from '../../model/limits.ts';
import { optionsOf } from '../../playbooks/stages/stage-options.ts';
import { decideAgentLimits, limitsAbove, limitsIn, roundsAbove } from '../settings/decide-limits.ts';
import { defaultSettings, type RawSettings } from '../settings/parse-settings.ts';
import { byteCount } from '../../text/byte-count.ts';
import { defined } from '../../text/defined.ts';
import { limitItem } from './run-limits.ts';
import { itemsToTrust, joinedText } from './trust.ts';
import type { TrustItem } from './trust-item.ts';

/**
 * Everything that a recorded run starts, opens and spends, because the record does not say which of it a person asked for. `limits`: those
 * in force now. `ownSettings`: the person's own settings.
 */
export function itemsOfRun(
  definition: RunDefinition,
  limits: Limits,
  ownSettings: RawSettings | undefined,
  described: DescribedRuntimes,
): TrustItem[] {
  const { name, objective, folder } = definition;
  const own = limitsIn(ownSettings);
  const where = `run ${name}`;
  const file = { file: where, text: '' };
  const settings = settingsOf(definition);
  const { criteria } = objective;
  const agents = decideAgentLimits(settings.agents ?? [], { agents: [], run: own }, where).raised;
  // A playbook of squad's own plays a list that no settings can write.
  const list = optionsOf(definition)?.list;
  const rounds = roundsAbove(list?.stages ?? [], own, where);
  const items = itemsToTrust(settings, { file: where, criteria }, file, described, list);
  const raised = [...limitsAbove(limits, own, where), ...agents, ...rounds].map(limitItem);
  const copies = (definition.copied ?? []).map(({ path, bytes }): TrustItem => {
    return {
      from: 'copy',
      run: `${path}, into folders in which work is built or checked`,
      where,
      detail: byteCount(bytes),
    };
  });
  const writes: TrustItem[] = folder === undefined ? [] : [{ from: 'folder', run: `writes into ${folder}`, where }];
  const joined = (definition.repositories?.others ?? []).map(({ root, role }): TrustItem => {
    return { from: 'repository', run: joinedText(root, role), where };
  });
  return [...items, ...copies, ...raised, ...writes, ...joined].map((item) => ({ ...item, where }));
}

/** The definition as settings that would make it. */
function settingsOf(definition: RunDefinition): Settings {
  const { setup, verify, env = [], notify, publish, tracing, runtimes, agents } = definition;
  return {
    ...defaultSettings(),
    ...{ setup, verify, env, notify, publish, tracing, runtimes },
    agents: agents.map(agentOf),
  };
}

function agentOf({ access, skills, mcp, ...agent }: RunDefinition['agents'][number]): AgentSettings {
  const { name, role, runtime, model, allow, limits, effort, hooks, env, home } = agent;
  return {
    ...{ name, role, runtime, access: access.level },
    ...defined({ model, allow, limits, effort, hooks, env, home, mcp }),
    ...(access.level === 'edit' && access.network === true ? { network: true } : {}),
    ...(skills === undefined ? {} : { skills: skills.map(({ from }) => from) }),
  };
}
