import { expect, it } from 'vitest';
import { storedKey } from '../../../src/squad/command-key.ts';
import { withLedger } from '../../../src/squad/open-workspace.ts';
import { intakeRoom } from './intake-room.ts';

const BODY = /^<!--.*-->\n/;

it('shows at its issue that a run which was over works again, and how that ends', async () => {
  const room = await intakeRoom({ max: 1 });
  const { workspace } = room;
  room.issue(1);
  room.label(1, 'squad', 'ann');
  await room.step();
  const [name = ''] = room.open();
  const shown = () => {
    const [post = ''] = room.posts(1);
    return [room.state.issues.get(1)?.labels.toSorted(), post.replace(BODY, '').split('\n')[0]];
  };
  const reopen = async (key: string): Promise<void> =>
    withLedger(workspace, 'write', (ledger) => {
      const id = ledger.run(name)?.id ?? '';
      ledger.command(id, 'rework', { problems: ['a check fails'] }, 'squad', storedKey(id, key));
    });
  await room.end(name);
  await room.step();
  const done = [['squad', 'squad:done'], `squad: the run \`${name}\` is **done**.`];
  expect(shown()).toEqual(done);
  expect(room.records()).toMatchObject([{ over: true, label: 'done' }]);
  await reopen('one');
  await room.step();
  expect(shown()).toEqual([['squad', 'squad:running'], `squad works on this issue again: the run \`${name}\`.`]);
  // Its pull request says what is wanted now, and its place counts.
  room.label(1, 'squad', 'ann', false);
  room.issue(2);
  room.label(2, 'squad', 'ann');
  await room.step();
  expect(room.open()).toEqual([name]);
  expect(shown()[0]).toEqual(['squad:running']);
  await room.end(name, { outcome: 'failed', headline: 'It is not done.' });
  await room.step();
  expect(shown()).toEqual([['squad:failed'], `squad: the run \`${name}\` is **failed**.`]);
  await reopen('two');
  await room.step();
  await room.end(name);
  await room.step();
  expect(shown()).toEqual([['squad:done'], done[1]]);
  expect(room.posts(1)).toHaveLength(1);
  expect(room.records()[0]).toMatchObject({ over: true, label: 'done' });
  // Only now is there a place for the next one.
  await room.step();
  expect(room.open()).toEqual([expect.stringContaining('issue-2')]);
  expect(shown()[0]).toEqual(['squad:done']);
});
