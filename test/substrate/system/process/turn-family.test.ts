import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { ProcessEntry } from '../../../../src/substrate/system/process/process-table.ts';
import { createTurnFamily, findMembers } from '../../../../src/substrate/system/process/end-turn.ts';

const entry = (pid: number, parent: number, group = pid, session = group): ProcessEntry => ({
  pid,
  parent,
  group,
  session,
  startTime: String(pid),
});
const found = (table: readonly ProcessEntry[], known: readonly number[], session?: number): number[] =>
  findMembers(table, ({ pid }) => known.includes(pid), session)
    .map(({ pid }) => pid)
    .toSorted((a, b) => a - b);

describe('members of a turn', () => {
  const bystanders = [entry(1, 0), entry(50, 1), entry(51, 50, 50)];

  test('are the known and all that descends from them, however deep and in whatever order', () => {
    const table = [...bystanders, entry(13, 12), entry(12, 11, 10), entry(11, 10, 10), entry(10, 1)];
    expect(found(table, [10])).toEqual([10, 11, 12, 13]);
  });

  test('are what sits in a session or group that a member leads, though its parent is gone', () => {
    expect(found([...bystanders, entry(10, 1), entry(20, 1, 10), entry(21, 1, 30, 10)], [10])).toEqual([10, 20, 21]);
  });

  test("are the rest of the wrapper's session once one of it is known", () => {
    const table = [...bystanders, entry(20, 1, 10, 10), entry(21, 1, 10, 10)];
    expect(found(table, [20], 10)).toEqual([20, 21]);
    expect(found(table, [], 10)).toEqual([]);
  });

  test('are not what shares a session with a member that does not lead it', () => {
    expect(found([...bystanders, entry(52, 50, 52, 50)], [52], 10)).toEqual([52]);
  });
});

describe('a look', () => {
  test('sees a turn that was started a moment after somebody else looked', async () => {
    createTurnFamily('family-somebody-else').look();
    const marker = `family-${process.pid}`;
    const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], {
      stdio: 'ignore',
      env: { SQUAD_TURN_ID: marker },
    });
    try {
      const members = createTurnFamily(marker).look();
      expect(members.map(({ pid }) => pid)).toEqual([child.pid]);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });
});
