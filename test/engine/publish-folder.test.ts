import { expect, it } from 'vitest';
import { publishFolder } from '../../src/engine/publish-folder.ts';
import { createBoard } from '../../src/graph/decisions/board.ts';
import { factsOf } from '../../src/graph/decisions/run-facts.ts';
import type { OperationPorts } from '../../src/operations/operation-ports.ts';
import { BASE, definition } from '../report/support.ts';

const BOARD = createBoard(factsOf(definition()));

it.each([
  ['a run without a branch whose work is done', false, 'done', 1],
  ['a run without a branch that failed', false, 'failed', 0],
  ['a run with a branch', undefined, 'done', 0],
] as const)('asks the playbook for a folder only after its work: %s', async (_, makesBranch, outcome, times) => {
  const workspaces = {
    listFolders: () => Promise.resolve([]),
    closeRun: () => Promise.resolve(),
    runHead: () => Promise.resolve(BASE),
  };
  const ports = { definition: { ...definition(), makesBranch }, workspaces, lease: { runId: 'r' } };
  let asked = 0;
  const makes = (): undefined => {
    asked += 1;
  };
  await publishFolder(ports as unknown as OperationPorts, { ...BOARD, finished: { outcome, why: '' } }, { makes });
  expect(asked).toBe(times);
});
