import type { Composition, Host } from './compose.ts';
import { uncagedMessage, type Placed } from '../model/equip.ts';
import type { McpServer, TurnRequest } from '../model/turn-request.ts';
import { startApart } from '../substrate/system/process/start-apart.ts';
import { absolutePath } from '../text/absolute-path.ts';
import { defined } from '../text/defined.ts';
import { shellWord } from '../text/shell-word.ts';

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

/**
 * Every server and hook starts in an empty folder, whatever runtime starts it: in the agent's own it would take what the agent has
 * put there for its programs and settings. One that has to be there is in a cage like the agent's.
 */
export async function placedRequest(
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
