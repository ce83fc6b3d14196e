import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { followPlaces } from '../../src/engine/prepare-turn.ts';
import type { TurnRequest } from '../../src/model/turn-request.ts';
import { temporaryFolder } from '../substrate/ledger/support.ts';

/** A folder of a task in the state folder of another machine. */
const elsewhere = (...names: string[]): string => join('/elsewhere/state/squad/app-0123', 'work', ...names);

it.each<[string, string, boolean]>([
  ['of another machine', elsewhere('tidy', '_integration'), true],
  ['of a source that is still there', '.', false],
  ['of another run', elsewhere('other', '_integration'), false],
  ['that is not there here either', elsewhere('tidy', 'gone'), false],
])('a check that was claimed before a move starts in its folder of today: %s', (_, path, moves) => {
  const state = temporaryFolder();
  const work = join(state, 'here-4567', 'work', 'tidy');
  mkdirSync(join(work, '_integration'), { recursive: true });
  const request = { turnId: 'check-1', workspace: { path, repository: true } } as TurnRequest;
  const placed = followPlaces(request, { stateDirectory: state }, work);
  expect(placed.workspace).toEqual({ path: moves ? join(work, '_integration') : path, repository: true });
  expect(followPlaces(placed, { stateDirectory: state }, work)).toBe(placed);
});
