import type { Composition, Host } from '../../engine/compose.ts';
import type { BoundAgent, RunDefinition } from '../../model/run.ts';
import type { DescribedRuntimes } from '../../model/runtime-description.ts';
import type { Probe } from '../../runtimes/port/agent-runtime.ts';
import { runtimeChoice } from '../../engine/runtime-choice.ts';
import { whyNot } from './runtimes.ts';
import { unsupportedBy } from './unsupported.ts';

/** A note for people about agents without a stand-in. */
export interface StandInNote {
  readonly about: 'stand-ins';
  readonly text: string;
  readonly next?: string | undefined;
}

interface About {
  readonly agents: readonly BoundAgent[];
  readonly runtimes: RunDefinition['runtimes'];
  readonly described: DescribedRuntimes;
  readonly probeOf: (name: string) => Promise<Probe>;
  readonly root: string;
}

/** The roles in which no agent could work while a runtime is at its limit or locked out, where the team has another one at hand. */
export async function standInNotes(
  ports: Pick<Composition, 'runtime'> & { readonly host: Host },
  { agents, runtimes, described, probeOf, root }: About,
): Promise<StandInNote[]> {
  const alone: BoundAgent[] = [];
  const why = new Set<string>();
  for (const agent of agents) {
    const problem = await problemOf(ports, agent, { runtimes, probeOf, root });
    if (problem === undefined) continue;
    alone.push(agent);
    if (problem !== '') why.add(problem);
  }
  const used = new Set(agents.map(({ runtime }) => runtime));
  const ownWorks = [...used].filter((name) => described[name]?.onlyByName !== true);
  const hasOther = ownWorks.length > 1 || agents.some(({ runtime }) => runtimes[runtime]?.fallback !== undefined);
  const roles = rolesAlone(agents, alone);
  if (!hasOther || roles.length === 0) return [];
  const because = why.size === 0 ? '' : `: ${[...why].join('; ')}`;
  return [
    {
      about: 'stand-ins',
      text: `no runtime stands in for ${roles.join(', ')}${because}`,
      next: 'If its runtime cannot be used, the run waits. Name another one with `runtimes.NAME.fallback` in squad.yaml.',
    },
  ];
}

/** A role that has agents on two runtimes keeps one of them. */
function rolesAlone(agents: readonly BoundAgent[], alone: readonly BoundAgent[]): string[] {
  const roles = [...Map.groupBy(alone, ({ role }) => role)].filter(([role, without]) => {
    const runtimes = new Set(agents.flatMap((one) => (one.role === role ? [one.runtime] : [])));
    return without.length > 0 && runtimes.size === 1;
  });
  return roles.map(([role, without]) => `${role} (${[...new Set(without.map(({ runtime }) => runtime))].join(', ')})`);
}

/** Why the fallback of its runtime could not do its work; empty: it has none; undefined: it could. */
async function problemOf(
  ports: Pick<Composition, 'runtime'> & { readonly host: Host },
  agent: BoundAgent,
  { runtimes, probeOf, root }: Pick<About, 'runtimes' | 'probeOf' | 'root'>,
): Promise<string | undefined> {
  const fallback = runtimes[agent.runtime]?.fallback;
  if (fallback === undefined) return '';
  const probe = await probeOf(fallback);
  if (!probe.ok) return `${fallback} cannot be used here: ${whyNot(probe)}`;
  // Models and tools have names that only their runtime knows.
  const { model: _model, allow: _allow, ...moved } = agent;
  const failure = await unsupportedBy(
    () => ports.runtime(fallback, runtimeChoice(runtimes, fallback)),
    { ...moved, runtime: fallback },
    { root, folderOf: () => root, environment: ports.host.environment },
  );
  return failure === undefined ? undefined : `${fallback} cannot do the work of ${agent.name}: ${failure.message}`;
}
