import { dirname, resolve } from 'node:path';
import type { Composition, Host } from '../../engine/compose.ts';
import { equip, toolRulesOf, uncagedMessage, type EquipPorts } from '../../model/equip.ts';
import type { Failure } from '../../model/failure.ts';
import type { BoundAgent, RunDefinition } from '../../model/run.ts';
import type { AgentRuntime } from '../../runtimes/port/agent-runtime.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../model/turn-request.ts';
import { defined } from '../../text/defined.ts';
import type { Path } from '../../text/explain-issue.ts';
import type { Armory } from './bind-armory.ts';
import { runtimeChoice } from '../../engine/runtime-choice.ts';

/** Throws `bad-input` for the first setting of an agent that its runtime cannot honour, as the runtime says itself. */
export async function refuseUnsupported(
  ports: Pick<Composition, 'runtime' | 'taskCage'> & { readonly host: Host },
  { agents, runtimes, root }: Pick<RunDefinition, 'agents' | 'runtimes'> & { readonly root: string },
  armory: Pick<Armory, 'refusal'>,
): Promise<void> {
  const made = new Map<string, AgentRuntime>();
  for (const agent of agents) {
    const open = await uncaged(ports, agent, root);
    if (open !== undefined) throw armory.refusal(agent.name, open.at, open.message);
    // Made only to refuse something; each looks up its program and its sandbox once.
    const runtime = (): AgentRuntime => {
      const its = made.get(agent.runtime) ?? ports.runtime(agent.runtime, runtimeChoice(runtimes, agent.runtime));
      made.set(agent.runtime, its);
      return its;
    };
    const folderOf = (hash: string): string => originOf(agent, root, hash);
    const failure = await unsupportedBy(runtime, agent, { root, folderOf, environment: ports.host.environment });
    if (failure !== undefined) {
      throw armory.refusal(agent.name, settingOf(agent, failure.setting ?? ''), failure.message);
    }
  }
}

/** The first setting of the agent that this runtime cannot honour; undefined: none. `folderOf`: where its bound contents are. */
export async function unsupportedBy(
  runtime: () => AgentRuntime,
  agent: BoundAgent,
  about: Omit<EquipPorts, 'folder'> & { readonly root: string },
): Promise<Failure | undefined> {
  const request = requestOf(agent, about);
  const failure = request && (await runtime().refusal?.(request));
  // Other failures are about the machine: the probe reports them with their remedy.
  return failure && ['setting-unsupported', 'bad-request'].includes(failure.kind) ? failure : undefined;
}

/** The agent's turn without a prompt. undefined: it has nothing that a runtime could refuse. */
function requestOf(
  agent: BoundAgent,
  { root, ...ports }: Parameters<typeof unsupportedBy>[2],
): TurnRequest | undefined {
  const { model, effort, allow, deny, access, skills, mcp, hooks, env, home, ask } = agent;
  const network = access.level === 'edit' && access.network === true;
  const asked = [effort, allow, deny, skills, mcp, hooks, env, home, ask].some((setting) => setting !== undefined);
  if (!asked && !network) return undefined;
  const equipped = equip(agent, { ...ports, folder: root });
  if (equipped.type === 'refused') return undefined;
  return {
    turnId: '0'.repeat(24),
    workspace: { path: root },
    prompt: '',
    instructions: '',
    access,
    limits: DEFAULT_TURN_LIMITS,
    ...defined({ model, effort, toolRules: toolRulesOf(agent) }),
    ...equipped.equipment,
  };
}

/** Why nothing can confine what the agent starts in its own folder; undefined: it starts nothing there, or something can. */
async function uncaged({ taskCage }: Pick<Composition, 'taskCage'>, agent: BoundAgent, root: string) {
  const { mcp = [], hooks = [], access } = agent;
  const key = [mcp, hooks].findIndex((starts) => starts.some(({ cwd }) => cwd === 'task'));
  if (key < 0 || access.level === 'full') return undefined;
  const cage = await taskCage({ access, workspace: { path: root }, directory: NO_TURN, readable: [] });
  if (cage.type === 'caged') return undefined;
  const at = key === 0 ? 'mcp' : 'hooks';
  const index = (key === 0 ? mcp : hooks).findIndex(({ cwd }) => cwd === 'task');
  return { at: [at, index, 'cwd'], message: uncagedMessage(cage) };
}

/** Stands for the folder of a turn that never starts. */
const NO_TURN = '/turn';

/** Where a content was read: there is no copy of it yet, and a runtime may look into a skill. */
function originOf({ skills = [], files = [] }: BoundAgent, root: string, hash: string): string {
  const from =
    skills.find((skill) => skill.hash === hash)?.from ?? files.find((file) => file.hash === hash)?.path ?? '';
  return dirname(resolve(root, from));
}

/** The setting of the agent that the request's field comes from. */
function settingOf(agent: BoundAgent, field: string): Path {
  const [key = '', part] = field.split('.');
  if (key === 'environment') return ['env'];
  if (key === 'toolRules') return [part === 'deny' || agent.allow === undefined ? 'deny' : 'allow'];
  if (key === 'access') return [part === 'network' ? 'network' : 'access'];
  return key in agent ? [key] : [];
}
