import { createView } from '../../rules/view.ts';
import type { MadeFolder, MakesFolder } from '../../model/folder.ts';
import type { Board } from '../../model/plan/board.ts';
import type { PublishFacts } from '../../model/run.ts';
import type { OperationPorts } from '../operations/operation-ports.ts';
import { publishRun } from '../operations/publish-run.ts';
import { makeFolder } from '../../substrate/system/files/make-folder.ts';
import { defined } from '../../text/defined.ts';

/** Publishes the run's work. A run without a branch makes its folder, if all its work is done. */
export async function publishFolder(
  ports: OperationPorts,
  board: Board,
  makes: MakesFolder | undefined,
): Promise<PublishFacts> {
  const facts = await publishRun(ports, board);
  const isDue = ports.definition.makesBranch === false && board.finished?.outcome === 'done';
  const made = isDue ? makes?.(createView(board)) : undefined;
  if (made === undefined) return facts;
  if ('problem' in made) return { ...facts, ...made };
  const problem = await makeFolder(made, ports.lease.runId);
  if (problem !== undefined) return { ...facts, problem };
  const { shown, next, note, isThere } = made;
  return { ...facts, ...defined({ made: shown, next, note, added: isThere ? addedTo(made) : undefined }) };
}

/** Without the empty ones, most of which were there. What was planned decides: after a crash, the files are there already. */
function addedTo({ files }: MadeFolder): string[] {
  return files.flatMap(({ path, isEmpty }) => (isEmpty === true ? [] : [path]));
}
