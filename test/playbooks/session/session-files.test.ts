import { expect, it } from 'vitest';
import { sessionFiles } from '../../../src/playbooks/session/session-files.ts';
import { SessionBoard, sessionWith } from './session-board.ts';

it('says of the files of a session what they held at the start', () => {
  const hashes = { 'team-session.json': 'a'.repeat(64), 'wisdom/issues.md': 'b'.repeat(64) };
  const board = new SessionBoard(sessionWith(['a'], { hashes }));
  board.answer('a', { issues: ['One.'], learnings: ['Two.'] });
  const files = sessionFiles(board.session, board.view(), { status: 'active' });
  expect(files.map(({ path, held }) => [path, held])).toEqual([
    ['wisdom/learnings.md', undefined],
    ['wisdom/issues.md', 'b'.repeat(64)],
    ['team-session.json', 'a'.repeat(64)],
  ]);
});
