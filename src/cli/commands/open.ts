import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { usageError } from '../../model/errors.ts';
import { noSuch } from '../../model/unknown-name.ts';
import { attemptOrderSchema } from '../../model/attempt-order.ts';
import type { AttemptReading } from '../../view/read-run.ts';
import { workspacePlaces } from '../../substrate/system/files/state-place.ts';
import { runInTerminal } from '../../substrate/system/process/run-in-terminal.ts';
import { parseJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import { editorCommand } from '../ask/edit-plan.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { findRange } from '../find-range.ts';
import { openTarget, type OpenedTarget } from '../find-target.ts';
import { printResult } from '../output.ts';

/** The folder of an agent's newest turn, or of a task's. */
interface Folder {
  readonly path: string;
  readonly task: string;
  readonly agent: string;
  /** Its agent is at work there. */
  readonly live: boolean;
}

/** Opens the folder of a task in the person's editor, as it is now, or prints its path. Changes nothing. */
export async function open(context: CommandContext, name: string, options: Options<'open'>): Promise<void> {
  const { host, output } = context;
  const target = await openTarget(context, { run: options.run, kinds: 'run or task' });
  const { path, ...about } = folderOf(target, name);
  if (!isFolder(path)) throw await goneFrom(target, about.task);
  const { VISUAL, EDITOR } = host.environment;
  const editor = [VISUAL, EDITOR].some((one) => one !== undefined && one.trim() !== '');
  const canOpen = editor && process.stdin.isTTY && output.terminal !== undefined;
  const isPrinted = options.print === true || options.json === true || !canOpen;
  if (isPrinted) {
    if (options.print !== true && options.json !== true && !editor)
      output.problem('note: set VISUAL or EDITOR to your editor, and squad opens it there.');
    return printResult(output, options, { type: 'folder', ...about, path }, [plainLine(path, 4096)]);
  }
  if (about.live)
    output.problem(`note: ${about.agent} works there now. Look, and change nothing: it would be its work.`);
  const { code, problem } = await runInTerminal(editorCommand(host.environment, path), {
    kind: 'editor',
    environment: host.environment,
  });
  if (problem !== undefined || code !== 0)
    throw usageError(
      `the editor did not open ${plainLine(path, 400)}: ${problem ?? `it ended with ${code ?? 'a signal'}`}`,
      `Print the path instead: \`squad open ${shellWord(name)} --print\`.`,
    );
}

/** Throws `usage` where no turn of that name has begun. */
function folderOf(target: OpenedTarget, name: string): Folder {
  const { reading } = target;
  const { attempts, board, definition, row } = reading;
  const agents = definition.agents.map((agent) => agent.name);
  const isTask = board.tasks.has(name);
  if (!isTask && !agents.includes(name))
    throw usageError(
      noSuch('task or agent', plainLine(name, 80), [...board.tasks.keys(), ...agents]),
      `List the tasks and agents of ${row.name} with \`squad status ${row.name}\`.`,
    );
  const own = attempts.filter(
    ({ attempt }) => attempt.kind === 'turn' && (isTask ? attempt.taskId : attempt.agent) === name,
  );
  // A reviewer works in a folder of its own, and the newest turn of a task may be a review.
  const author = own.findLast(
    ({ attempt }) => !isTask || board.tasks.get(name)?.task.role === roleOf(reading, attempt.agent),
  );
  const last = author ?? own.at(-1);
  const path = last && pathOf(target, last);
  if (last === undefined || path === undefined)
    throw usageError(
      `no turn of ${name} has begun in a folder of the run`,
      `See when it starts with \`squad watch ${row.name}\`.`,
    );
  const { taskId: task, agent } = last.attempt;
  return { path, task, agent, live: last.settlement === undefined };
}

function roleOf({ definition }: OpenedTarget['reading'], agent: string): string | undefined {
  return definition.agents.find(({ name }) => name === agent)?.role;
}

/** undefined: it works in a folder with nothing of the repository. */
function pathOf({ host, directory, reading }: OpenedTarget, { attempt }: AttemptReading): string | undefined {
  const folder = attemptOrderSchema.safeParse(parseJson(attempt.request)).data?.place.folder ?? undefined;
  return folder && join(workspacePlaces(host, directory).runsDirectory, reading.row.name, folder);
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** A folder is given back once its task has ended. Its work stays in the repository. */
async function goneFrom(target: OpenedTarget, task: string) {
  const { name } = target.reading.row;
  const range = await findRange({ ...target, task });
  const commit = range?.to.slice(0, 12);
  return usageError(
    `the folder of ${task} was given back, and is there no more`,
    commit === undefined
      ? `It left no commit: \`squad show ${task} --run ${name}\` has what its agents said and did.`
      : `Its work is commit ${commit}: \`squad diff ${name} ${task}\`, or a folder of your own: \`git worktree add ../${name}-${task} ${commit}\`.`,
  );
}
