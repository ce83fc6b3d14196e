import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { publishWork } from '../../../src/engine/sinks/sinks.ts';
import { createBoard } from '../../../src/rules/board.ts';
import { factsOf } from '../../../src/rules/run-facts.ts';
import type { MadeFolder } from '../../../src/model/folder.ts';
import type { PublishFacts } from '../../../src/model/run.ts';
import type { OperationPorts } from '../../../src/engine/operations/operation-ports.ts';
import { BASE, definition } from '../../view/report/support.ts';

const BOARD = createBoard(factsOf(definition()));

function publish(
  makesBranch: false | undefined,
  outcome: 'done' | 'failed',
  makes: () => MadeFolder | { problem: string } | undefined,
): Promise<PublishFacts> {
  const workspaces = {
    listFolders: () => Promise.resolve([]),
    closeRun: () => Promise.resolve(),
    runHead: () => Promise.resolve(BASE),
  };
  const ledger = { record: () => undefined };
  const ports = { definition: { ...definition(), makesBranch }, workspaces, ledger, lease: { runId: 'r' } };
  return publishWork(ports as unknown as OperationPorts, { ...BOARD, finished: { outcome, why: '' } }, makes);
}

it.each([
  ['a run without a branch whose work is done', false, 'done', 1],
  ['a run without a branch that failed', false, 'failed', 0],
  ['a run with a branch', undefined, 'done', 0],
] as const)('asks the playbook for a folder only after its work: %s', async (_, makesBranch, outcome, times) => {
  let asked = 0;
  const makes = (): undefined => {
    asked += 1;
  };
  await publish(makesBranch, outcome, makes);
  expect(asked).toBe(times);
});

it('says why the playbook makes no folder', async () => {
  expect(await publish(false, 'done', () => ({ problem: 'no room' }))).toMatchObject({ problem: 'no room' });
});

it('says what it wrote into a folder that was there, and the same after a crash', async () => {
  const folder = join(realpathSync(mkdtempSync(join(tmpdir(), 'squad-publish-'))), 'team');
  onTestFinished(() => rmSync(join(folder, '..'), { recursive: true }));
  mkdirSync(folder);
  writeFileSync(join(folder, 'notes.md'), 'mine');
  const files: MadeFolder['files'] = [
    { path: 'role.md', text: 'new' },
    { path: 'notes.md', text: '', isEmpty: true },
  ];
  const made = { folder, shown: 'team', files, proof: 'role.md', folders: [], next: 'play it' };
  const added = { made: 'team', next: 'play it', added: ['role.md'] };
  for (const _ of ['first', 'after a crash']) {
    expect(await publish(false, 'done', () => ({ ...made, isThere: true }))).toMatchObject(added);
  }
  expect(readFileSync(join(folder, 'notes.md'), 'utf8')).toBe('mine');
  const whole = { ...made, folder: `${folder}-2`, isThere: false };
  expect(await publish(false, 'done', () => whole)).not.toHaveProperty('added');
});
