import type { ChangedByCheck } from '../../model/plan/gate.ts';
import type { Workspace } from '../../model/turn-request.ts';
import type { TaskFolder } from '../../substrate/ports/workspaces.ts';
import type { OperationPorts } from './operation-ports.ts';
import { isSettingUp, notRun, setUp, wasSetUp, type CommandsAnswer } from './run-commands.ts';

/**
 * A folder in which commands check one commit, one after the other. Each one finds the commit and what `setup` made of it, whatever
 * ran there before.
 */
export interface CheckFolder {
  /**
   * The folder, ready for a command that begins. `ignored`: of commands of an earlier engine; if these have to stay and the folder is
   * gone, throws `FolderLost`, once. Throws `SetupFailed`.
   */
  ready(ignored: 'stay' | 'go'): Promise<Workspace>;
  /** Undoes what the command did. `ignored`: whether the next one may find the ignored files that it wrote. */
  bringBack(ignored: 'stay' | 'go'): Promise<ChangedByCheck | undefined>;
  /** The next command finds a folder that is made again. */
  spoil(): void;
}

interface FolderOrder {
  /** The owner of the `setup` attempts, and the number of the try. */
  readonly task: string;
  readonly tries: number;
  readonly open: () => Promise<TaskFolder>;
  /** Made again even if it could be used. */
  readonly anew: boolean;
  /** Commands of an earlier engine have run there, and the next one follows them. */
  readonly goesOn: boolean;
}

/** The folder is gone, and with it the output of earlier commands that the next one needs. */
export class FolderLost extends Error {}

/** `setup` failed where a command was to run. */
export class SetupFailed extends Error {
  readonly answer: Extract<CommandsAnswer, { ok: false }>;

  constructor(answer: Extract<CommandsAnswer, { ok: false }>) {
    super(answer.output);
    this.answer = answer;
  }
}

export function createCheckFolder(ports: OperationPorts, order: FolderOrder): CheckFolder {
  const { workspaces, pure } = ports;
  const { keep: named = [], copied = [] } = ports.definition;
  // They are put there again before each command.
  const keep = [...named, ...copied.map(({ path }) => `/${path}`)];
  let folder: TaskFolder | undefined;
  let isWhole = false;

  const prepare = async (given: TaskFolder): Promise<TaskFolder> => {
    const ready = await setUp(ports, given, order);
    if (!ready.ok && !ready.ran) throw notRun(order.task, ready.output);
    if (!ready.ok) throw new SetupFailed(ready);
    await workspaces.noteMade(given);
    return given;
  };
  let isContinued = false;
  const open = async (ignored: 'stay' | 'go'): Promise<TaskFolder> => {
    const found = await order.open();
    if (found.fresh === true) return prepare(await unused(found));
    if (isSettingUp(ports, found, order.tries)) return prepare(found);
    const hasMade = await workspaces.hasMade(found);
    const isPure = pure.has(found.workspace.path);
    if (hasMade && (order.goesOn || (isPure && !order.anew))) {
      isContinued = (await workspaces.bringBack(found, keep, ignored)).isWhole;
      if (isContinued) return found;
    } else if (isPure && !order.anew && !wasSetUp(ports, found, order.tries)) return prepare(found);
    return prepare(await workspaces.makeAnew(found, keep));
  };
  /** A folder that was lost in a power cut, or deleted, is new, and by its name `setup` has run there. */
  const unused = async (fresh: TaskFolder): Promise<TaskFolder> => {
    let folder = fresh;
    while (wasSetUp(ports, folder, order.tries)) folder = await workspaces.makeAnew(folder, keep);
    return folder;
  };
  return {
    ready: async (ignored) => {
      const isFirst = folder === undefined;
      if (folder === undefined) folder = await open(ignored);
      else if (!isWhole) folder = await prepare(await workspaces.makeAnew(folder, keep));
      isWhole = true;
      if (isFirst && ignored === 'stay' && !isContinued) throw new FolderLost();
      pure.delete(folder.workspace.path);
      return folder.workspace;
    },
    bringBack: async (ignored) => {
      if (folder === undefined) return undefined;
      const { changed, more, ...back } = await workspaces.bringBack(folder, keep, ignored);
      isWhole = back.isWhole;
      if (isWhole && ignored === 'go') pure.add(folder.workspace.path);
      return changed.length === 0 ? undefined : { paths: [...changed], more };
    },
    spoil: () => {
      isWhole = false;
    },
  };
}

/** An agent's own folder, in which its commands run as they are. */
export function agentsFolder({ workspace }: Pick<TaskFolder, 'workspace'>): CheckFolder {
  return { ready: async () => workspace, bringBack: async () => undefined, spoil: () => undefined };
}
