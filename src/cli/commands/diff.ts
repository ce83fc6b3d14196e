import { usageError } from '../../model/errors.ts';
import { noSuch } from '../../model/unknown-name.ts';
import { listChanges, readDiff, type DiffRange, type FileDiff } from '../../substrate/git/show-diff.ts';
import { plainLine, visibleText } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { findRange } from '../find-range.ts';
import { openTarget, type OpenedTarget } from '../find-target.ts';
import { printPaged } from '../print-paged.ts';
import { renderPatch } from '../render/patch-lines.ts';

/** `first`: a run, or a task of the default run. */
export async function diff(
  context: CommandContext,
  first: string | undefined,
  task: string | undefined,
  options: Options<'diff'>,
): Promise<void> {
  if (options.stat === true && options.nameOnly === true) {
    throw usageError('--stat and --name-only cannot be given together', 'Give one of them.');
  }
  const target =
    task === undefined
      ? await openTarget(context, { name: first, kinds: 'run or task' })
      : ofTask(await openTarget(context, { run: first, kinds: 'run or task' }), task);
  const range = await requireRange(target);
  if (options.json === true) return printJson(context, target, range, options);
  const { git } = target.composition;
  const { style } = context.output;
  if (options.nameOnly === true) {
    const files = await listChanges(git, target.repository, range);
    return printPaged(
      context,
      options,
      files.map(({ path }) => visibleText(path.replaceAll('\n', String.raw`\u000a`))),
    );
  }
  const lines = readDiff(git, target.repository, range, options.stat === true ? 'stat' : 'patch');
  await printPaged(context, options, renderPatch(lines, style));
}

function ofTask(target: OpenedTarget, task: string): OpenedTarget {
  const { row, board } = target.reading;
  if (board.tasks.has(task)) return { ...target, task };
  throw usageError(
    noSuch('task', plainLine(task, 80), [...board.tasks.keys()]),
    `List the tasks with \`squad status ${row.name}\`.`,
  );
}

async function requireRange(target: OpenedTarget): Promise<DiffRange> {
  const range = await findRange(target);
  if (range !== undefined) return range;
  const { name } = target.reading.row;
  const of = target.task === undefined ? name : `${target.task} of ${name}`;
  throw usageError(
    `${of} has no work in this repository: it made none, or its commits were removed`,
    `See \`squad show ${target.task === undefined ? name : `${target.task} --run ${name}`}\`.`,
  );
}

async function printJson(
  { output }: CommandContext,
  { reading, repository, composition, task }: OpenedTarget,
  range: DiffRange,
  { stat, nameOnly }: Options<'diff'>,
): Promise<void> {
  const { git } = composition;
  const files: readonly FileDiff[] = await listChanges(git, repository, range);
  const lines: string[] = [];
  const hasPatch = stat !== true && nameOnly !== true;
  if (hasPatch) for await (const line of readDiff(git, repository, range, 'patch')) lines.push(`${line}\n`);
  const { id: runId, name } = reading.row;
  output.json({
    type: 'diff',
    runId,
    name,
    task: task ?? null,
    ...range,
    files,
    ...(hasPatch ? { patch: lines.join('') } : {}),
  });
}
