import { join } from 'node:path';
import type { Prepared } from './attempts/start-attempt.ts';
import type { Composition, Host } from './compose.ts';
import type { Attempt } from '../model/attempt.ts';
import { equip, type Equipped } from '../model/equip.ts';
import type { BoundAgent, RunDefinition } from '../model/run.ts';
import type { TurnRequest } from '../model/turn-request.ts';
import { isStored } from '../substrate/system/files/content-store.ts';
import { pathText } from '../text/explain-issue.ts';
import { placedRequest } from './place-equipment.ts';
import type { TurnMail } from './turn-mail.ts';

interface ArmoryPorts extends Pick<Composition, 'taskCage'> {
  readonly definition: Pick<RunDefinition, 'agents'>;
  readonly host: Pick<Host, 'environment' | 'userHome'>;
  readonly mail: Pick<TurnMail, 'wire'>;
  /** The bound contents of the run. */
  readonly folder: string;
  /** `turns`: one folder for each attempt. */
  readonly turns: string;
  /** Where the attempt's servers and hooks start. */
  readonly placeOf: (attemptId: string) => string;
}

/** Equips each turn with what its agent was bound to when the run began, whatever the files say now. */
export interface TurnArmory {
  /** Why the turn cannot have it; undefined: it can. */
  refusal(attempt: Attempt): Promise<Refused | undefined>;
  /** The request of an attempt that has its folder, with its equipment and its mail. */
  equip(attempt: Attempt, request: TurnRequest): Promise<Prepared>;
}

type Refused = Extract<Prepared, { type: 'refused' }>;

export function createArmory(ports: ArmoryPorts): TurnArmory {
  const { definition, host, folder, mail, turns, placeOf, taskCage } = ports;
  const agentOf = (attempt: Attempt): BoundAgent | undefined =>
    attempt.kind === 'turn' ? definition.agents.find(({ name }) => name === attempt.agent) : undefined;
  const equippedBy = (agent: BoundAgent, task: string): Equipped =>
    equip(agent, { environment: host.environment, folderOf: (hash) => join(folder, hash), folder: task });
  return {
    refusal: async (attempt) => {
      const agent = agentOf(attempt);
      if (agent === undefined) return undefined;
      for (const [what, hash] of contentsOf(agent)) {
        if (await isStored(folder, hash)) continue;
        const where = join(folder, hash);
        return refused(agent, what, `its copy ${where}, which the run is bound to, is missing or was changed`);
      }
      const equipped = equippedBy(agent, '/');
      return equipped.type === 'refused' ? refused(agent, pathText(equipped.at), equipped.message) : undefined;
    },
    equip: async (attempt, request) => {
      const agent = agentOf(attempt);
      const equipped = agent && equippedBy(agent, request.workspace.path);
      const { mcp = [], hooks, ...rest } = equipped?.type === 'equipped' ? equipped.equipment : {};
      const whole = mail.wire(attempt, { ...request, ...rest, mcp: [...request.mcp, ...mcp] });
      const readable = (agent?.files ?? []).map(({ hash }) => join(folder, hash));
      const directory = join(turns, attempt.id);
      const placed = await placedRequest(
        { ...whole, hooks },
        { taskCage, host, place: placeOf(attempt.id), directory, readable },
      );
      if (placed.type === 'placed') return { type: 'ready', request: placed.request };
      return refused(agent ?? { name: attempt.agent }, placed.setting, placed.message);
    },
  };
}

function contentsOf({ skills = [], files = [] }: BoundAgent): [what: string, hash: string][] {
  return [
    ...skills.map(({ name, hash }): [string, string] => [`the skill ${name}`, hash]),
    ...files.map(({ path, hash }): [string, string] => [path, hash]),
  ];
}

/** A failure that squad asks a person about, who can fix it and retry. */
function refused({ name }: Pick<BoundAgent, 'name'>, setting: string, why: string): Refused {
  const message = `${name}: ${setting}: ${why}`;
  return { type: 'refused', failure: { kind: 'setting-unsupported', setting, message, mayHaveActed: false } };
}
