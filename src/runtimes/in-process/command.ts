import { join } from 'node:path';
import type { McpServer, TurnRequest } from '../../model/turn-request.ts';
import { childEnvironment, gitEnvironment } from '../shared/child-environment.ts';
import { refuseAny, type CliCommand, type Refusal, type RuntimeSettings } from '../shared/cli-adapter.ts';
import type { RepositoryNote } from '../shared/repository-notes.ts';
import { requestRefusal } from '../shared/session.ts';
import { promptFor, withAnswer } from '../shared/turn-prompt.ts';

export interface InProcessFacts {
  readonly name: string;
  /** `turns/<attempt>`. */
  readonly directory: string;
  readonly settings: RuntimeSettings;
  /** Node and the program that stands for the agent. */
  readonly standIn: readonly [node: string, ...string[]];
  /** Where the application waits for the stand-in, and by what it knows it. */
  readonly server: { readonly port: number; readonly token: string };
  /** The agent takes a model from `squad.yaml`. */
  readonly takesModel: boolean;
  /** From the repository, for the first prompt of a session. */
  readonly notes: readonly RepositoryNote[];
}

const PLAN_FILE = 'plan.json';

/** The process that stands for the agent. It starts the turn's MCP servers and prints what the agent reports. */
export function command(request: TurnRequest, facts: InProcessFacts): CliCommand | Refusal {
  const { name, settings, server } = facts;
  const refused = requestRefusal(name, request, /^[0-9a-f-]{36}$/, ['environment']) ?? refusal(request, facts);
  if (refused !== undefined) return refused;
  const home = request.session?.home ?? join(settings.stateDirectory, 'homes', name);
  const plan = { ...server, servers: request.mcp.map(started) };
  const [binary, ...args] = facts.standIn;
  return {
    type: 'command',
    binary,
    args: [...args, join(facts.directory, PLAN_FILE)],
    env: environmentOf(request, settings),
    stdin: promptOf(request, facts.notes),
    // A file, because every user of the machine can read arguments.
    files: [{ name: PLAN_FILE, text: JSON.stringify(plan), secret: true }],
    home,
    folders: [home],
  };
}

/** Also for what the agent itself starts. */
export function environmentOf(request: TurnRequest, settings: RuntimeSettings): Record<string, string> {
  const names = [...settings.allowEnvironment, ...(request.environment ?? [])];
  return { ...childEnvironment(settings.environment, names), ...gitEnvironment(request.workspace) };
}

export function promptOf(request: TurnRequest, notes: readonly RepositoryNote[]): string {
  return withAnswer(promptFor(request, notes), request);
}

function refusal(request: TurnRequest, { name, settings, takesModel }: InProcessFacts): Refusal | undefined {
  const { limits } = request;
  const own = Object.keys(settings.config ?? {})[0];
  const config = `runtimes.${name}.config.${own}`;
  const remote = request.mcp.some(({ transport }) => transport.type !== 'stdio');
  const isFixed = request.model !== undefined && !takesModel;
  return refuseAny([
    [own !== undefined, config, `${config}: an agent of the application has no settings in squad.yaml`],
    [isFixed, 'model', `the model of ${name} is chosen by its application`],
    [remote, 'mcp', `${name} reaches MCP servers over stdio only`],
    [request.toolRules !== undefined, 'toolRules', `the tools of ${name} are chosen by its application`],
    [request.effort !== undefined, 'effort', `${name} takes no effort`],
    [limits.maxSteps !== undefined, 'limits.maxSteps', `${name} does not limit steps`],
    [limits.maxCostUsd !== undefined, 'limits.maxCostUsd', `${name} does not limit cost`],
  ]);
}

function started({ name, tools, transport }: McpServer): object {
  return { name, tools, ...transport };
}
