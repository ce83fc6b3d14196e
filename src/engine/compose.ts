import { fileURLToPath } from 'node:url';
import { CHECK_RUNTIME, createCheckAdapter } from './checks/command-adapter.ts';
import { findProgram } from '../runtimes/shared/find-program.ts';
import { openMachine, type Host, type Machine } from './machine.ts';
import { badInput, type SquadError } from '../model/errors.ts';
import { redactorOf, type Redactor } from '../model/redaction/redactor.ts';
import type { Playbooks } from '../model/plan.ts';
import { BUILT_IN_PLAYBOOKS, COORDINATE, STAGES } from '../model/playbook-name.ts';
import type { RuntimeDescription } from '../model/runtime-description.ts';
import {
  ACP,
  ACP_AGENTS,
  acpAgentIn,
  acpRuntime,
  BUILT_IN_RUNTIMES,
  isRegistered,
  KNOWN_RUNTIMES,
} from '../model/runtime-name.ts';
import { isSlug } from '../model/slug.ts';
import { unknownRuntime } from '../model/unknown-name.ts';
import { createAcpAdapter } from '../runtimes/acp/index.ts';
import { createAntigravityAdapter } from '../runtimes/antigravity/index.ts';
import { createClaudeAdapter } from '../runtimes/claude/index.ts';
import { createCodexAdapter } from '../runtimes/codex/index.ts';
import type { AgentRuntime } from '../runtimes/port/agent-runtime.ts';
import { createScriptedAdapter } from '../runtimes/scripted/index.ts';
import type { CliAdapter, RuntimeSettings } from '../runtimes/shared/cli-adapter.ts';
import { createCliRuntime } from '../runtimes/shared/cli-turn.ts';
import { childEnvironment } from '../runtimes/shared/child-environment.ts';
import { createTrial } from '../runtimes/shared/cli-program.ts';
import { createTaskCages, type CagedTurn, type TaskCage } from '../runtimes/shared/task-cage.ts';
import { createTranscriptReader, type ReadTranscript } from '../runtimes/shared/output-reader.ts';
import { createForge } from '../substrate/git/forge/index.ts';
import type { Repository } from '../substrate/git/repository.ts';
import type { Clock } from '../substrate/ports/clock.ts';
import type { Forge } from '../substrate/ports/forge.ts';
import type { Processes } from '../substrate/ports/processes.ts';
import { defined } from '../text/defined.ts';

/** Settings of one runtime (`runtimes.<name>` of squad.yaml). */
export interface RuntimeChoice {
  readonly binary?: string;
  readonly allowEnvironment?: readonly string[];
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Given to a `RuntimeFactory` besides the settings of its runtime. */
export interface RuntimePorts {
  /** The name under which the runtime is registered, and which it has to have. */
  readonly name: string;
  readonly processes: Processes;
  readonly clock: Clock;
  /** Absolute path of this Node.js, for a runtime that is a Node program. */
  readonly node: string;
}

/** Makes a runtime for this machine with its settings from `squad.yaml`, and without any. Must have no side effects. */
export type RuntimeFactory = (
  settings: RuntimeSettings,
  ports: RuntimePorts,
) => AgentRuntime | CliAdapter<unknown, unknown>;

/** Runtimes and playbooks of an application, by the names that `squad.yaml` uses. */
export interface Additions {
  /** Runtimes of your own (`agentsquad/runtime`). */
  readonly runtimes?: Readonly<Record<string, RuntimeFactory>>;
  /** Playbooks of your own (`agentsquad/playbook`). */
  readonly playbooks?: Playbooks;
}

export type { Host };

/** A program and its arguments. */
interface MailServer {
  readonly command: string;
  readonly args: readonly string[];
}

/** Program behind `squad mcp`: a small bundle, because one runs alongside every turn. */
const MAIL_SERVER = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../cli/mcp/main.ts' : './mcp.mjs', import.meta.url),
);
/** Keep its memory small; measured by `npm run bench -- mcp`. With `--jitless` instead, Node 22 prints a warning. */
const MAIL_SERVER_FLAGS = [
  ...['--max-semi-space-size=1', '--optimize-for-size'],
  ...['--no-sparkplug', '--no-maglev', '--no-opt'],
];

export interface Composition extends Machine {
  /** All that are registered, the application's own first. */
  readonly runtimes: Readonly<Record<string, RuntimeFactory>>;
  /** The application's own: a command that needs no playbook does not load those of squad. */
  readonly playbooks: Playbooks;
  /** Throws `usage` if no such runtime is registered. */
  describe(name: string, choice?: RuntimeChoice): RuntimeDescription;
  /** Throws `usage` if no such runtime is registered. */
  runtime(name: string, choice?: RuntimeChoice): AgentRuntime;
  /** Reads what a turn of this runtime reports, for panes and reports. undefined: only the runtime itself can. */
  transcript(name: string): ReadTranscript | undefined;
  /** Runs attempts of kind `check`. */
  checkRuntime(): AgentRuntime;
  /** The mail server of one turn, which the file names. */
  mailServer(turnFile: string): MailServer;
  /** Confines the MCP servers and hooks that a turn starts in the folder of its agent. */
  readonly taskCage: (turn: CagedTurn) => Promise<TaskCage>;
  /** Removes the secrets of the environment; `letThrough`: the variables that runtimes get by name. */
  redactor(letThrough: readonly string[]): Redactor;
  /** Publishes finished work of this repository. */
  forge(repository: Pick<Repository, 'root' | 'commonDirectory'>): Forge;
}

const BUILT_IN: Readonly<Record<(typeof BUILT_IN_RUNTIMES)[number], RuntimeFactory>> & Record<string, RuntimeFactory> =
  {
    claude: createClaudeAdapter,
    codex: createCodexAdapter,
    antigravity: createAntigravityAdapter,
    scripted: (settings, { node }) => createScriptedAdapter({ ...settings, binary: settings.binary ?? node }),
    ...Object.fromEntries(ACP_AGENTS.map((agent) => [acpRuntime(agent), acpFactory(agent)])),
  };

function acpFactory(agent: string): RuntimeFactory {
  return (settings, ports) => createAcpAdapter(agent, settings, ports);
}

/**
 * The composition root: the only place that names concrete adapters. Has no side effects. Throws on Windows, and `bad-input` for an
 * addition whose name cannot be used.
 */
export function compose(host: Host, { runtimes: ownRuntimes = {}, playbooks = {} }: Additions = {}): Composition {
  const machine = openMachine(host);
  refuseNames('runtime', ownRuntimes, [...KNOWN_RUNTIMES, ACP, CHECK_RUNTIME]);
  refuseNames('playbook', playbooks, [...BUILT_IN_PLAYBOOKS, STAGES, COORDINATE]);
  const runtimes: Composition['runtimes'] = { ...ownRuntimes, ...BUILT_IN };
  const { clock, processes, git } = machine;
  const ports = { processes, clock, node: host.node };
  const make = (name: string, choice: RuntimeChoice): ReturnType<RuntimeFactory> => {
    const agent = acpAgentIn(name);
    const named = agent === undefined ? undefined : acpFactory(agent);
    const factory = Object.hasOwn(runtimes, name) ? runtimes[name] : named;
    if (factory === undefined) throw unknownRuntime(name, Object.keys(runtimes));
    const made = factory(settingsOf(host, choice), { ...ports, name });
    if (made.name !== name) throw misnamed(name, made.name);
    return made;
  };
  return {
    ...machine,
    runtimes,
    playbooks,
    describe: (name, choice = {}) => make(name, choice).description ?? {},
    runtime: (name, choice = {}) => {
      if (choice.binary === undefined && !Object.hasOwn(runtimes, name))
        throw unknownRuntime(name, Object.keys(runtimes));
      const made = make(name, choice);
      return isRuntime(made) ? made : createCliRuntime(made, ports);
    },
    transcript: (name) => {
      const made = isRegistered(runtimes, name) ? make(name, {}) : undefined;
      return made === undefined || isRuntime(made) ? undefined : createTranscriptReader(made, processes);
    },
    checkRuntime: () => createCliRuntime(createCheckAdapter(host.environment), { processes, clock }),
    mailServer: (turnFile) => ({
      command: host.node,
      args: [...MAIL_SERVER_FLAGS, MAIL_SERVER, '--turn-file', turnFile],
    }),
    taskCage: createTaskCages(settingsOf(host, {}), createTrial(processes, childEnvironment(host.environment, []))),
    redactor: (letThrough) => redactorOf(host.environment, letThrough),
    forge: (repository) =>
      createForge({ ...git, forgeCli: (name) => findProgram(host.environment['PATH'], name) }, repository),
  };
}

function isRuntime(made: ReturnType<RuntimeFactory>): made is AgentRuntime {
  return 'portVersion' in made;
}

/** Runs remember names, so a name always has to mean the same. */
function refuseNames(kind: string, own: Readonly<Record<string, unknown>>, taken: readonly string[]): void {
  for (const name of Object.keys(own)) {
    if (taken.includes(name)) {
      throw badInput(
        `the ${kind} ${name} is part of squad and cannot be replaced`,
        'Register yours under another name.',
      );
    }
    if (!isSlug(name)) {
      const what = 'lower-case letters, digits and dashes, starting with a letter, at most 32 characters';
      throw badInput(`${JSON.stringify(name)} cannot name a ${kind}`, `Use ${what}.`);
    }
  }
}

function misnamed(name: string, own: string): SquadError {
  return badInput(`the runtime registered as ${name} calls itself ${own}`, 'Give it the same name in both places.');
}

function settingsOf(host: Host, choice: RuntimeChoice): RuntimeSettings {
  const { environment, userHome, platform, architecture, isRoot, stateDirectory } = host;
  const { binary, config, allowEnvironment = [] } = choice;
  const machine = { environment, userHome, platform, architecture, isRoot };
  return { ...machine, stateDirectory, allowEnvironment, ...defined({ binary, config }) };
}
