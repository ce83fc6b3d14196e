import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findUsers } from '../../../../src/substrate/system/process/folder-users.ts';
import { until } from './turn-bench.ts';

let root: string;
let children: ChildProcess[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'squad-users-'));
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

function folder(name: string): string {
  mkdirSync(join(root, name), { recursive: true });
  return join(root, name);
}

async function use(cwd: string, script: string): Promise<ChildProcess> {
  const child = spawn('/bin/sh', ['-c', `${script}; echo ready; read -r line`], {
    cwd,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

test('who works in a folder or has a file below it open is found, for many folders', async () => {
  const worker = await use(folder('work/deep'), ':');
  const reader = await use('/', `exec 5>"${folder('open')}/file"`);
  const bystander = await use(folder('workshop'), ':');
  expect(findUsers(join(root, 'work'))).toEqual([worker.pid]);
  expect(findUsers(join(root, 'open'))).toEqual([reader.pid]);
  expect(findUsers(join(root, 'workshop'))).toEqual([bystander.pid]);
  expect(findUsers(folder('nobody'))).toEqual([]);
  expect(new Set(findUsers(root))).toEqual(new Set([worker.pid, reader.pid, bystander.pid]));
});

test('who has ended since an earlier look is no user', async () => {
  const worker = await use(folder('work'), ':');
  // A look of the test before may still be shared.
  expect(await until(() => findUsers(join(root, 'work')).at(0))).toBe(worker.pid);
  worker.kill('SIGKILL');
  await once(worker, 'exit');
  expect(findUsers(join(root, 'work'))).toEqual([]);
});

test('who comes after an earlier look is found', async () => {
  expect(findUsers(folder('work'))).toEqual([]);
  const worker = await use(join(root, 'work'), ':');
  expect(await until(() => findUsers(join(root, 'work')).at(0))).toBe(worker.pid);
});
