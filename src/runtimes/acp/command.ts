import { join } from 'node:path';
import { buildsThere, hasNetwork, writableFolders } from '../../model/access.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { defined } from '../../text/defined.ts';
import { KEPT, type Cage } from '../shared/cage.ts';
import { gitEnvironment } from '../shared/child-environment.ts';
import { refuse, refuseAny, type CliCommand, type Refusal } from '../shared/cli-adapter.ts';
import type { CliFacts } from '../shared/cli-program.ts';
import { confined, isCaged, refuseUnconfined, type Confiner } from '../shared/confine.ts';
import type { RepositoryNote } from '../shared/repository-notes.ts';
import { requestRefusal } from '../shared/session.ts';
import { instructedPrompt, withAnswer } from '../shared/turn-prompt.ts';
import type { HostPlan } from './host/plan.ts';
import type { AcpConfig, Profile } from './profiles.ts';

export interface AcpFacts extends Omit<CliFacts, 'config'> {
  /** `acp/<agent>`. */
  readonly name: string;
  readonly profile: Profile;
  readonly config: AcpConfig;
  /** The host, as a program of Node.js. */
  readonly host: readonly [node: string, ...args: string[]];
  /** undefined: `access: full` wants none. */
  readonly confiner: Confiner | undefined;
  readonly view: Pick<Cage, 'hidden' | 'readable'>;
  /** Files of the workspace that the agent would take for its own settings. */
  readonly masked: readonly string[];
  readonly notes: readonly RepositoryNote[];
  /** The variable that names the program's unpacked copy, if it has one. */
  readonly unpacked: Readonly<Record<string, string>>;
}

const PLAN_FILE = 'plan.json';
/** For all that comes before the prompt. */
const OPEN_MS = 30_000;

/** One turn as a command line of the host, or a refusal of the setting that it cannot honour. */
export function command(request: TurnRequest, facts: AcpFacts): CliCommand | Refusal {
  const refused = refusal(request, facts);
  if (refused !== undefined) return refused;
  const { profile, directory, home, notes } = facts;
  const [node, ...host] = facts.host;
  const prompt = withAnswer(instructedPrompt(request, notes), request);
  const own = Object.entries(profile.files ?? {}).map(([name, value]) => ({ name, text: JSON.stringify(value) }));
  return {
    type: 'command',
    binary: node,
    args: [...host, join(directory, PLAN_FILE)],
    env: {
      ...profile.variables,
      ...facts.environment,
      ...facts.unpacked,
      ...gitEnvironment(request.workspace),
      ...{ HOME: home, TMPDIR: temporary(facts) },
    },
    // Programs take what begins like this for a command of their own.
    stdin: /^\s*[/$!@#]/.test(prompt) ? `Your task:\n\n${prompt}` : prompt,
    files: [
      // MCP servers may have keys.
      { name: PLAN_FILE, text: JSON.stringify(planFor(request, facts)), secret: true },
      ...own.map((file) => ({ ...file, inHome: true })),
    ],
    home,
    folders: [home, temporary(facts)],
  };
}

function temporary({ directory }: AcpFacts): string {
  return join(directory, 'tmp');
}

function refusal(request: TurnRequest, facts: AcpFacts): Refusal | undefined {
  const { limits, access, effort, ask, session, workspace } = request;
  const { name, profile, config, confiner, binary } = facts;
  const common = requestRefusal(name, request, /^[!-~]{1,256}$/, ['environment', 'ask']);
  if (common !== undefined) return common;
  if (binary === undefined) return refuse('cli-missing', `runtimes.${name}.command`, `${name} was not found`);
  if (profile.keepsFolder === true && session !== undefined && session.workspace !== workspace.path) {
    return refuse('session-not-found', 'session', `${name} resumes this session in ${session.workspace} alone`);
  }
  const isOn = config['allow-unconfined'] === true;
  return (
    refuseAny([
      [config.problem !== undefined, `runtimes.${name}.config`, config.problem ?? ''],
      [effort !== undefined, 'effort', `${name} cannot set how hard its model thinks`],
      [limits.maxSteps !== undefined, 'limits.maxSteps', `${name} cannot limit steps`],
      [limits.maxCostUsd !== undefined, 'limits.maxCostUsd', `${name} does not report cost, so it cannot be limited`],
      [ask !== undefined && !isCaged(confiner), 'ask', `nothing confines ${name} here: it could answer in your place`],
    ]) ?? refuseUnconfined(name, access, confiner, { setting: `runtimes.${name}.config.allow-unconfined`, isOn })
  );
}

function planFor(request: TurnRequest, facts: AcpFacts): HostPlan {
  const { access, model, mcp, outputSchema, outputIsOptional, session, toolRules, workspace, limits, ask, prompts } =
    request;
  const { name, profile, config, confiner, directory, binary = '' } = facts;
  const { modelOption } = profile;
  const option = modelOption === undefined || model === undefined ? [] : [modelOption, model];
  const args = [...(config.args ?? profile.args), ...option];
  const program = isCaged(confiner) ? confined(confiner, cageFor(request, facts), binary, args) : { binary, args };
  const { allow = [], deny = [] } = toolRules ?? {};
  return {
    agent: name,
    command: program.binary,
    args: program.args,
    cwd: workspace.path,
    mcp,
    policy: {
      access: isCaged(facts.confiner) && buildsThere(access) ? 'edit' : access.level,
      network: hasNetwork(access),
      writable: writableFolders(access),
      allow,
      deny,
    },
    // Servers that the agent starts would be in its cage, where squad's mail cannot be.
    quirks: { ...profile.quirks, ...config.quirks, ...(isCaged(confiner) ? { mcp: 'http' as const } : {}) },
    limits: { openMs: Math.min(OPEN_MS, limits.wallMs) },
    ...defined({
      session: session && { id: session.id },
      auth: config.auth ?? profile.auth,
      model: modelOption === undefined ? model : undefined,
      outputSchema,
      outputIsOptional,
      prompts,
      ask: ask && { folder: directory, deadlineMs: 0.9 * Math.min(limits.idleMs, limits.wallMs) },
    }),
  };
}

/** squad's own folders, with the turn's, are hidden: the agent can neither answer for a person nor forge its own end. */
function cageFor({ access, workspace: { path } }: TurnRequest, facts: AcpFacts): Cage {
  const { view, home, masked } = facts;
  const own = [home, temporary(facts)];
  const isReader = access.level === 'read-only' && !buildsThere(access);
  return {
    cwd: path,
    hidden: view.hidden,
    readable: [...(view.readable ?? []), ...(isReader ? [path] : [])],
    writable: isReader ? own : [path, ...writableFolders(access), ...own],
    kept: KEPT.map((file) => join(path, file)),
    masked,
  };
}
