import { expect, it } from 'vitest';
import type { RunDefinition } from '../../../src/model/run.ts';
import { sourceOf, type ObjectiveSource } from '../../../src/squad/sources/source-of.ts';
import { definition } from '../../view/report/support.ts';

const SESSION = { playbook: 'session', source: 'team', folder: '/repository/team' };
const COORDINATE = { playbook: 'coordinate', makesBranch: false } as const;
const NO_RUNS = { on: () => [], now: () => 0, hasWork: () => Promise.resolve(false) };

it.each<[string, Partial<RunDefinition>, ObjectiveSource, boolean]>([
  ['of a file, for that file', {}, './objective.md', true],
  ['of a file, for another one', {}, 'other.md', false],
  ['of words, for these words', { source: 'words' }, { text: 'Tidy up.' }, true],
  ['of words, for others', { source: 'words' }, { text: 'Tidy.' }, false],
  [
    'of an issue, for that issue, whatever it says now',
    { source: 'https://x.test/1' },
    { text: 'New', from: 'https://x.test/1' },
    true,
  ],
  ['of a session, for its folder', SESSION, { session: 'team/../team' }, true],
  ['of a session, for its words', SESSION, { text: 'Tidy up.' }, false],
  ['that designs a session, for the file that it does so for', COORDINATE, 'objective.md', false],
  ['that designs a session, for the same words', COORDINATE, { text: 'Tidy up.' }, false],
])('a run %s', (_, more, objective, expected) => {
  expect(sourceOf(objective, '/repository', NO_RUNS).isOf({ ...definition(), ...more })).toBe(expected);
});
