import { createHash } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import type { McpServer, TurnRequest } from '../../model/turn-request.ts';
import { childEnvironment, gitEnvironment } from '../shared/child-environment.ts';
import type { CliCommand, Refusal, RuntimeSettings } from '../shared/cli-adapter.ts';
import { sessionRefusal, promptFor } from '../shared/session.ts';

export interface ScriptedFacts {
  /** `turns/<attempt>`. */
  readonly directory: string;
  readonly settings: RuntimeSettings;
  /** Absolute path of the player program. */
  readonly player: string;
  /** Absolute path of a Node binary. */
  readonly node: string;
  /** Absolute path of the script, as configured. */
  readonly script: string | undefined;
}

/** One process of the player. It confines nothing: a script is its author's own program. */
export function scriptedCommand(request: TurnRequest, facts: ScriptedFacts): CliCommand | Refusal {
  const foreign = sessionRefusal('scripted', request);
  if (foreign !== undefined) return { type: 'refusal', failure: foreign };
  if (request.session !== undefined && !/^[0-9a-f]{24}$/.test(request.session.id)) {
    const message = `scripted sessions have 24 hex digits, not ${JSON.stringify(request.session.id)}`;
    return {
      type: 'refusal',
      failure: { kind: 'session-not-found', setting: 'session', message, mayHaveActed: false },
    };
  }
  if (facts.script === undefined || !isAbsolute(facts.script)) {
    return refuse('runtimes.scripted.config.script', 'has to be the absolute path of a script to play');
  }
  const unknown = Object.keys(facts.settings.config ?? {}).find((key) => key !== 'script');
  if (unknown !== undefined) return refuse(`runtimes.scripted.config.${unknown}`, 'means nothing to a script');
  const servers = request.mcp.map(playable);
  if (servers.includes(undefined)) return refuse('mcp', 'is spoken by the scripted runtime over stdio only');
  if (request.toolRules !== undefined) return refuse('toolRules', 'mean nothing to a script');
  if (request.effort !== undefined) return refuse('effort', 'means nothing to a script');
  if (request.limits.maxSteps !== undefined)
    return refuse('limits.maxSteps', 'is not enforced by the scripted runtime');
  if (request.limits.maxCostUsd !== undefined)
    return refuse('limits.maxCostUsd', 'is not enforced by the scripted runtime');
  const { settings } = facts;
  const home = request.session?.home ?? join(settings.stateDirectory, 'homes', 'scripted');
  const play = {
    script: facts.script,
    home,
    session: request.session?.id ?? sessionIdOf(request.turnId),
    resume: request.session !== undefined,
    ...(request.model === undefined ? {} : { model: request.model }),
    ...(servers.length === 0 ? {} : { mcp: join(facts.directory, SERVERS_FILE) }),
  };
  return {
    type: 'command',
    binary: facts.node,
    args: [facts.player, JSON.stringify(play)],
    env: {
      ...childEnvironment(settings.environment, settings.allowEnvironment),
      ...gitEnvironment(request.workspace),
    },
    stdin: promptFor(request),
    // Not in the arguments, which can be read by every user of the machine.
    files: servers.length === 0 ? [] : [{ name: SERVERS_FILE, text: JSON.stringify(servers), secret: true }],
    home,
    folders: [home],
  };
}

const SERVERS_FILE = 'mcp.json';

/** A server as the player starts it; undefined: it cannot. */
function playable({ name, tools, required, transport }: McpServer): object | undefined {
  if (transport.type !== 'stdio') return undefined;
  const { command, args, env } = transport;
  return { name, tools, required: required === true, command, args, env };
}

function sessionIdOf(turnId: string): string {
  return createHash('sha256').update(turnId).digest('hex').slice(0, 24);
}

function refuse(setting: string, why: string): Refusal {
  const failure = { kind: 'setting-unsupported', setting, message: `${setting} ${why}`, mayHaveActed: false } as const;
  return { type: 'refusal', failure };
}
