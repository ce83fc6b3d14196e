import { mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Attempt } from '../model/attempt.ts';
import { equip, type Equipped, type Placed, uncagedMessage } from '../model/equip.ts';
import type { BoundAgent, RunDefinition } from '../model/run.ts';
import { storageError } from '../model/storage-error.ts';
import type { McpServer, TurnRequest } from '../model/turn-request.ts';
import { isStored } from '../substrate/system/files/content-store.ts';
import { equipmentFolder } from '../substrate/system/files/run-files.ts';
import { startApart } from '../substrate/system/process/start-apart.ts';
import { absolutePath } from '../text/absolute-path.ts';
import { defined } from '../text/defined.ts';
import { pathText } from '../text/explain-issue.ts';
import { shellWord } from '../text/shell-word.ts';
import type { Prepared } from './attempts/start-attempt.ts';
import type { Composition, Host } from './compose.ts';
import type { TurnMail } from './turn-mail.ts';

interface PlacePorts extends Pick<Composition, 'taskCage'> {
  readonly host: Pick<Host, 'environment' | 'userHome'>;
  /** Holds the empty folders in which servers and hooks start. */
  readonly place: string;
  /** `turns/<attempt>`. */
  readonly directory: string;
  /** The copies that commands name. */
  readonly readable: readonly string[];
}

type Hook = NonNullable<TurnRequest['hooks']>[number];

/** A request whose servers and hooks do not say yet where they start. */
interface Unplaced extends Omit<TurnRequest, 'mcp' | 'hooks'> {
  readonly mcp: readonly Placed<McpServer>[];
  readonly hooks: readonly Placed<Hook>[] | undefined;
}

type PlacedRequest =
  | { readonly type: 'placed'; readonly request: TurnRequest }
  | { readonly type: 'refused'; readonly setting: string; readonly message: string };

interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

/** The folders in which the servers and hooks of turns start: one for each turn, outside of every repository and agent's folder. */
export interface EquipmentPlaces {
  readonly of: (attemptId: string) => string;
  /** Empty, and for this user alone. */
  make(attemptId: string): Promise<void>;
  remove(attemptId: string): void;
}

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

/** `directory`: the repository's state. */
export function equipmentPlaces(directory: string, runId: string): EquipmentPlaces {
  const of = (attemptId: string): string => join(equipmentFolder(directory, runId), attemptId);
  return {
    of,
    make: async (attemptId) => {
      const place = of(attemptId);
      try {
        await rm(place, { recursive: true, force: true });
        await mkdir(place, { recursive: true, mode: 0o700 });
      } catch (error) {
        throw storageError(place, error);
      }
    },
    remove: (attemptId) => {
      const place = of(attemptId);
      // Those of the run's other turns may be there still.
      const removed = rm(place, { recursive: true, force: true }).then(async () => rmdir(dirname(place)));
      removed.catch(() => undefined);
    },
  };
}

/**
 * Every server and hook starts in an empty folder, whatever runtime starts it: in the agent's own it would take what the agent has
 * put there for its programs and settings. One that has to be there is in a cage like the agent's.
 */
async function placedRequest(
  { mcp, hooks, ...request }: Unplaced,
  { taskCage, host, place, directory, readable }: PlacePorts,
): Promise<PlacedRequest> {
  const { access, workspace } = request;
  const inTask = (one: Placed<unknown>): boolean => one.cwd === 'task';
  const isOpen = access.level === 'full';
  const isCaged = !isOpen && [...mcp, ...(hooks ?? [])].some(inTask);
  const cage = isCaged ? await taskCage({ access, workspace, directory, readable }) : undefined;
  if (cage?.type === 'none') {
    const setting = mcp.some(inTask) ? 'mcp' : 'hooks';
    return { type: 'refused', setting, message: uncagedMessage(cage) };
  }
  const start = async (command: Command, isThere: boolean): Promise<Command> => {
    const own = isThere && isOpen ? inFolder(workspace.path, command) : command;
    const inner = isThere && cage !== undefined ? await cage.around(command) : own;
    return startApart({ place, folder: workspace.path, variables: variablesOf(host, isThere && !isOpen) }, inner);
  };
  const servers = mcp.map(async ({ cwd, transport, ...server }): Promise<McpServer> => {
    if (transport.type === 'http') return { ...server, transport };
    const { command, args } = await start(transport, cwd === 'task');
    return { ...server, transport: { ...transport, command, args: [...args] } };
  });
  const started = hooks?.map(async ({ cwd, run, ...hook }): Promise<Hook> => {
    const { command, args } = await start({ command: '/bin/sh', args: ['-c', run] }, cwd === 'task');
    return { ...hook, run: `exec ${[command, ...args].map(shellWord).join(' ')}` };
  });
  const all = { mcp: await Promise.all(servers), hooks: started && (await Promise.all(started)) };
  return { type: 'placed', request: { ...request, ...defined(all) } };
}

/** With `access: full` nothing confines the agent either. */
function inFolder(folder: string, { command, args }: Command): Command {
  return { command: '/bin/sh', args: ['-c', 'cd -- "$0" && exec "$@"', folder, command, ...args] };
}

/**
 * An agent can have a home and a temporary folder of its own, where it leaves settings for the programs of others: a server has the
 * person's. In a cage, which hides these, both are empty.
 */
function variablesOf({ environment, userHome }: PlacePorts['host'], isCaged: boolean): Record<string, string> {
  if (isCaged) return { HOME: '/tmp', TMPDIR: '/tmp' };
  return { HOME: userHome, TMPDIR: absolutePath(environment['TMPDIR']) ?? '' };
}
