import { join } from 'node:path';
import { hasNetwork, writableFolders } from '../../model/access.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { KEPT } from './cage.ts';
import type { RuntimeSettings } from './cli-adapter.ts';
import type { Trial } from './cli-program.ts';
import { confined, createConfiner } from './confine.ts';
import { findProgram } from './find-program.ts';
import { privateView } from './private-view.ts';

interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

/** A turn whose servers or hooks start in the agent's folder. */
export interface CagedTurn extends Pick<TurnRequest, 'access' | 'workspace'> {
  /** `turns/<attempt>`. */
  readonly directory: string;
  /** Files and folders that its commands need from what the cage hides. */
  readonly readable: readonly string[];
}

/** The command in a cage, or why this machine has none. */
export type TaskCage =
  | { readonly type: 'caged'; around(command: Command): Promise<Command> }
  | { readonly type: 'none'; readonly why: string; readonly next: string };

type Settings = Pick<RuntimeSettings, 'platform' | 'environment' | 'userHome' | 'stateDirectory'>;

/**
 * Confines what starts in an agent's folder as the agent's own turn is: it writes there and nowhere else, sees neither the user's
 * home nor squad's own folders, and has the network only if the agent has it.
 */
export function createTaskCages(settings: Settings, trial: Trial): (turn: CagedTurn) => Promise<TaskCage> {
  const confiner = createConfiner(settings, trial);
  return async ({ access, workspace: { path }, directory, readable }) => {
    const found = await confiner();
    if (found.kind === 'none') return { type: 'none', why: found.problem, next: found.next };
    const isReader = access.level === 'read-only';
    return {
      type: 'caged',
      around: async ({ command, args }) => {
        const program = await findProgram(settings.environment['PATH'], command);
        const view = await privateView({
          ...settings,
          ...{ directory, workspace: path, programs: [program ?? command], args, read: [], own: readable },
        });
        const cage = {
          cwd: path,
          hidden: view.hidden,
          readable: [...(view.readable ?? []), ...(isReader ? [path] : [])],
          writable: isReader ? [] : [path, ...writableFolders(access)],
          kept: KEPT.map((file) => join(path, file)),
          network: hasNetwork(access),
        };
        const { binary, args: all } = confined(found, cage, command, args);
        return { command: binary, args: all };
      },
    };
  };
}
