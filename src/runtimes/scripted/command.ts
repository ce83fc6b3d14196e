import { isAbsolute, join } from 'node:path';
import { sha256Of } from '../../model/sha256.ts';
import type { McpServer, TurnRequest } from '../../model/turn-request.ts';
import { childEnvironment, gitEnvironment } from '../shared/child-environment.ts';
import { refuseAny, type CliCommand, type Refusal, type RuntimeSettings } from '../shared/cli-adapter.ts';
import { requestRefusal } from '../shared/session.ts';
import { promptFor } from '../shared/turn-prompt.ts';

export interface ScriptedFacts {
  /** `turns/<attempt>`. */
  readonly directory: string;
  readonly settings: RuntimeSettings;
  /** Absolute path of the player program. */
  readonly player: string;
  /** Absolute path of a Node binary. */
  readonly node: string;
  /** The script as configured. Must be an absolute path. */
  readonly script: string | undefined;
}

const SERVERS_FILE = 'mcp.json';

/** One process of the player. It is not confined, because a script is its author's own program. */
export function scriptedCommand(request: TurnRequest, facts: ScriptedFacts): CliCommand | Refusal {
  const { settings, script } = facts;
  const refused =
    requestRefusal('scripted', request, /^[0-9a-f]{24}$/, ['skills', 'environment']) ?? refusal(request, facts);
  if (refused !== undefined) return refused;
  const servers = request.mcp.map(playable);
  const home = request.session?.home ?? join(settings.stateDirectory, 'homes', 'scripted');
  const play = {
    script,
    home,
    session: request.session?.id ?? sha256Of(request.turnId).slice(0, 24),
    resume: request.session !== undefined,
    model: request.model,
    skills: Object.fromEntries((request.skills ?? []).map(({ name, folder }) => [name, folder])),
    mcp: servers.length === 0 ? undefined : join(facts.directory, SERVERS_FILE),
  };
  return {
    type: 'command',
    binary: facts.node,
    args: [facts.player, JSON.stringify(play)],
    env: {
      ...childEnvironment(settings.environment, [...settings.allowEnvironment, ...(request.environment ?? [])]),
      ...gitEnvironment(request.workspace),
    },
    stdin: promptFor(request),
    // A file, because every user of the machine can read arguments.
    files: servers.length === 0 ? [] : [{ name: SERVERS_FILE, text: JSON.stringify(servers), secret: true }],
    home,
    folders: [home],
  };
}

function refusal(request: TurnRequest, { script, settings }: ScriptedFacts): Refusal | undefined {
  const { limits } = request;
  const unknown = Object.keys(settings.config ?? {}).find((key) => key !== 'script');
  const config = 'runtimes.scripted.config';
  const isPath = script !== undefined && isAbsolute(script);
  const remote = request.mcp.some(({ transport }) => transport.type !== 'stdio');
  return refuseAny([
    [!isPath, `${config}.script`, `${config}.script must be the absolute path of a script`],
    [unknown !== undefined, `${config}.${unknown}`, `${config}.${unknown} is not a key of the scripted runtime`],
    [remote, 'mcp', 'mcp works over stdio only in the scripted runtime'],
    [request.toolRules !== undefined, 'toolRules', 'toolRules do not apply to a script'],
    [request.effort !== undefined, 'effort', 'effort does not apply to a script'],
    [limits.maxSteps !== undefined, 'limits.maxSteps', 'the scripted runtime does not limit steps'],
    [limits.maxCostUsd !== undefined, 'limits.maxCostUsd', 'the scripted runtime does not limit cost'],
  ]);
}

/** A server as the player starts it. */
function playable({ name, tools, required, transport }: McpServer): object {
  return { name, tools, required: required === true, ...transport };
}
