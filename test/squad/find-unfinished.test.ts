import { expect, it } from 'vitest';
import type { RunDefinition } from '../../src/model/run.ts';
import type { ObjectiveSource } from '../../src/preflight/read-input.ts';
import { isRunOf } from '../../src/squad/find-unfinished.ts';
import { definition } from '../report/support.ts';

const SESSION = { playbook: 'session', source: 'team', folder: '/repository/team' };
const COORDINATE = { playbook: 'coordinate' };

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
  expect(isRunOf({ ...definition(), ...more }, objective, '/repository')).toBe(expected);
});
