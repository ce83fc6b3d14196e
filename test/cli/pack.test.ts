// @module-tag all
import { expect, it } from 'vitest';
import { roomForTest, scriptedTurn } from './room.ts';

it('names the command that takes over the file that it wrote', { timeout: 120_000 }, async () => {
  const room = roomForTest();
  expect((await room.run(scriptedTurn(room, [], '--yes'))).code).toBe(0);
  const { code, stdout, stderr } = await room.run(['pack', '../my runs.tar']);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain(`squad unpack '${room.root}/my runs.tar'`);
});
