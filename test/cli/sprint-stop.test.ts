import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandRoom } from './room.ts';
import { ALL } from '../support/lane.ts';

it('ends a sprint whose run could not be submitted, so that it is not in the way', ALL, async () => {
  const room = commandRoom();
  const { code, stderr } = await room.run(['sprint', 'start', 'a login page', '--detach']);
  expect([code, stderr]).toEqual([78, expect.stringContaining('`squad sprint stop` ends it')]);
  const [opened] = (await room.run(['sprint', 'status', '--json'])).lines;
  expect(opened).toMatchObject({ active_sprint_id: expect.stringContaining('-Sprint-') });
  const other = await room.run(['sprint', 'start', 'something else', '--detach']);
  expect([other.code, other.stderr]).toEqual([75, expect.stringContaining("`squad sprint start 'a login page'`")]);
  const stopped = await room.run(['sprint', 'stop']);
  expect([stopped.code, stopped.stderr]).toEqual([0, '']);
  const [status] = (await room.run(['sprint', 'status', '--json'])).lines;
  expect(status).toMatchObject({ active_sprint_id: null, last_sprint: { outcome: 'blocked' } });
  const [report] = (await room.run(['sprint', 'report', '--json'])).lines;
  expect(report).toMatchObject({ overview: { reason: expect.stringContaining('stopped it before it had todos') } });
});

it('is refused, with nothing on record, where the policy leaves no role for a step of it', async () => {
  const room = commandRoom();
  const folder = join(room.repository, 'team/agent_utilization');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'policy.yaml'), 'roles:\n  developer: { should_not_handle: [login] }\n');
  writeFileSync(join(room.repository, 'squad.yaml'), 'sprint: { folder: team }\n');
  const refused = await room.run(['sprint', 'start', 'a login page', '--detach']);
  expect([refused.code, refused.stderr]).toEqual([
    65,
    expect.stringMatching(
      /policy.yaml leaves no role for developer_build: should_not_handle excludes developer \(“login”\)[^]*Take these words out of team/,
    ),
  ]);
  const [status] = (await room.run(['sprint', 'status', '--json'])).lines;
  expect(status).toMatchObject({ active_sprint_id: null, last_sprint: null });
});
