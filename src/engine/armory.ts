import { join } from 'node:path';
import type { Prepared } from '../attempts/start-attempt.ts';
import type { Host } from '../compose.ts';
import type { Attempt } from '../model/attempt.ts';
import { equip } from '../model/equip.ts';
import type { BoundAgent, RunDefinition } from '../model/run.ts';
import type { TurnRequest } from '../model/turn-request.ts';
import { isStored } from '../substrate/files/content-store.ts';
import { pathText } from '../text/explain-issue.ts';

interface ArmoryPorts {
  readonly definition: Pick<RunDefinition, 'agents'>;
  readonly host: Pick<Host, 'environment'>;
  /** The bound contents of the run. */
  readonly folder: string;
}

/** Equips each turn with what its agent was bound to when the run began, whatever the files say now. */
export function createArmory({ definition, host, folder }: ArmoryPorts) {
  return async (attempt: Attempt, request: TurnRequest): Promise<Prepared> => {
    const agent = attempt.kind === 'turn' ? definition.agents.find(({ name }) => name === attempt.agent) : undefined;
    if (agent === undefined) return { type: 'ready', request };
    for (const [what, hash] of contentsOf(agent)) {
      if (await isStored(folder, hash)) continue;
      const where = join(folder, hash);
      return refused(agent, what, `its copy ${where}, which the run is bound to, is missing or was changed`);
    }
    const { environment } = host;
    const equipped = equip(agent, { environment, folderOf: (hash) => join(folder, hash) });
    if (equipped.type === 'refused') return refused(agent, pathText(equipped.at), equipped.message);
    const { mcp, ...rest } = equipped.equipment;
    return { type: 'ready', request: { ...request, ...rest, mcp: [...request.mcp, ...mcp] } };
  };
}

function contentsOf({ skills = [], files = [] }: BoundAgent): [what: string, hash: string][] {
  return [
    ...skills.map(({ name, hash }): [string, string] => [`the skill ${name}`, hash]),
    ...files.map(({ path, hash }): [string, string] => [path, hash]),
  ];
}

/** A failure that squad asks a person about, who can fix it and retry. */
function refused({ name }: BoundAgent, setting: string, why: string): Prepared {
  const message = `${name}: ${setting}: ${why}`;
  return { type: 'refused', failure: { kind: 'setting-unsupported', setting, message, mayHaveActed: false } };
}
