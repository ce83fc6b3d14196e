import { expect, it } from 'vitest';
import { commandRoom } from './room.ts';

it('ends a sprint whose run could not be submitted, so that it is not in the way', async () => {
  const room = commandRoom();
  const { code } = await room.run(['sprint', 'start', 'a login page', '--detach']);
  expect(code).not.toBe(0);
  const [opened] = (await room.run(['sprint', 'status', '--json'])).lines;
  expect(opened).toMatchObject({ active_sprint_id: expect.stringContaining('-Sprint-') });
  const stopped = await room.run(['sprint', 'stop']);
  expect([stopped.code, stopped.stderr]).toEqual([0, '']);
  const [status] = (await room.run(['sprint', 'status', '--json'])).lines;
  expect(status).toMatchObject({ active_sprint_id: null, last_sprint: { outcome: 'blocked' } });
  const [report] = (await room.run(['sprint', 'report', '--json'])).lines;
  expect(report).toMatchObject({ overview: { reason: expect.stringContaining('stopped it before it had todos') } });
});
