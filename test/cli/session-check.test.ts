import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DIAMOND, writeSession } from '../support/session-folder.ts';
import { commandRoom } from './room.ts';

it('squad session check says what a session has, or all that is wrong with it', async () => {
  const room = commandRoom();
  const folder = writeSession(join(room.repository, 'team'), { ...DIAMOND, done: ['SPEC-001'] });
  const fine = await room.run(['session', 'check', 'team']);
  expect([fine.code, fine.stdout]).toEqual([
    0,
    'ok  team\n  TC-make-things-2026-02-27, active: Make things\n  3 roles, 6 tasks, 1 done\n',
  ]);
  const asJson = await room.run(['session', 'check', 'team', '--json']);
  expect([asJson.code, asJson.lines]).toMatchObject([
    0,
    [{ type: 'session-check', ok: true, folder: 'team', status: 'active', tasks: 6, completed: 1 }],
  ]);

  writeFileSync(join(folder, 'task-analysis.json'), '{}');
  rmSync(join(folder, 'roles', 'writer.md'));
  const wrong = await room.run(['session', 'check', 'team']);
  expect([wrong.code, wrong.stdout]).toEqual([65, '']);
  expect(wrong.stderr).toBe(
    [
      'squad: task-analysis.json missing required field: capabilities',
      '  team/task-analysis.json:1: task-analysis.json missing required field: capabilities',
      '  team/task-analysis.json:1: task-analysis.json missing required field: dependency_graph',
      '  team/task-analysis.json:1: task-analysis.json missing or empty roles array',
      '  team/task-analysis.json:1: task-analysis.json missing or empty tasks array',
      '  team/roles/writer.md:1: Role file not found: roles/writer.md',
      'Next: Correct team/task-analysis.json, then run `squad session check team`.',
      '',
    ].join('\n'),
  );
  const wrongJson = await room.run(['session', 'check', 'team', '--json']);
  expect([wrongJson.code, wrongJson.stderr, wrongJson.lines.length]).toEqual([65, '', 1]);
  expect(wrongJson.lines[0]).toMatchObject({
    ...{ type: 'session-check', ok: false, folder: 'team' },
    message: 'task-analysis.json missing required field: capabilities',
    next: 'Correct team/task-analysis.json, then run `squad session check team`.',
  });
  const unnamed: readonly string[][] = [[], ['']];
  for (const names of unnamed) {
    const { code, stderr } = await room.run(['session', 'check', ...names]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Session required')]);
  }
});
