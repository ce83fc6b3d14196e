import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { objective } from '../runs/run-script.ts';
import { isRegistryReached, npmSettings } from '../package/installed.ts';
import { ALL, LANE } from '../support/lane.ts';
import { openStudioBench, type StudioBench } from './studio-bench.ts';

const REACT = ['react@19.1.1', 'react-dom@19.1.1', 'react-test-renderer@19.1.1'];
const OTHERS = ['@langchain/langgraph-sdk@1.15.0', '@langchain/core@1.4.0'];
const QUIET = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

const isOffline = LANE !== 'all' || !isRegistryReached();
const named = isOffline ? ' (left out: the package registry cannot be reached)' : '';

const SHOW = `import { createElement as h } from 'react';
import { act, create } from 'react-test-renderer';
import { RunView } from './use-stream.mjs';

/** Mounts the example, presses its button, approves the plan, and prints what it shows until the run has ended. */
globalThis.IS_REACT_ACT_ENVIRONMENT = true;
const [apiUrl, objective] = process.argv.slice(2);
let page;
await act(async () => void (page = create(h(RunView, { apiUrl, objective, runtime: 'scripted' }))));
const shown = () => page.root.findByType('h1').children.join('');
await act(async () => page.root.findByType('button').props.onClick());
const answered = new Set();
for (const end = Date.now() + 60_000; shown() !== 'done' && Date.now() < end;) {
  await act(async () => new Promise((resolve) => void setTimeout(resolve, 200)));
  for (const { props } of page.root.findAllByType('input')) {
    if (answered.has(props.name)) continue;
    answered.add(props.name);
    await act(async () => props.onBlur({ target: { value: 'approve' } }));
  }
}
console.log(JSON.stringify({ shown: shown(), board: page.root.findAllByType('li').map(({ children }) => children.join('')), answered: [...answered] }));
process.exit();
`;

const path = (name: string): string => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

async function urlOf(room: StudioBench): Promise<string> {
  const engine = room.start(['studio', '--port', '0', '--json']);
  const { url } = (await engine.line(({ type }) => type === 'studio-started')) as { url: string };
  return url;
}

async function run(
  room: StudioBench,
  args: readonly string[],
): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, args, { cwd: room.root, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = [child.stdout, child.stderr].map(async (stream) => (await stream.toArray()).join(''));
  const [code] = (await once(child, 'close')) as [unknown];
  return { code, stdout: (await stdout) ?? '', stderr: (await stderr) ?? '' };
}

it('a graph elsewhere has its work done through `squad studio`', { ...ALL, timeout: 120_000 }, async () => {
  const room = await openStudioBench();
  await room.consent();
  const done = await run(room, [path('remote-graph.ts'), await urlOf(room), 'scripted', objective()]);
  expect([done.code, done.stderr]).toEqual([0, '']);
  const { outcome, thread } = JSON.parse(done.stdout) as { outcome: string; thread: string };
  expect([outcome, thread]).toEqual(['done', room.runId()]);
  expect(room.fileOnBranch('one.txt')).toBe('one');
});

it.skipIf(isOffline)(
  `a React app starts a run, answers it and shows its end${named}`,
  { ...ALL, timeout: 180_000 },
  async () => {
    const room = await openStudioBench(undefined, { plan: 'ask' });
    await room.consent();
    writeFileSync(join(room.root, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    const installed = spawnSync('npm', ['install', ...QUIET, ...REACT, ...OTHERS], {
      cwd: room.root,
      env: { PATH: process.env['PATH'], HOME: room.root, ...npmSettings() },
      encoding: 'utf8',
    });
    expect([installed.status, installed.stderr]).toEqual([0, expect.any(String)]);
    copyFileSync(path('use-stream.mjs'), join(room.root, 'use-stream.mjs'));
    writeFileSync(join(room.root, 'show.mjs'), SHOW);
    const shown = await run(room, ['show.mjs', await urlOf(room), objective()]);
    expect(JSON.parse(shown.stdout), shown.stderr).toEqual({
      ...{ shown: 'done', answered: ['plan-1'] },
      board: ['plan: done', 'one: done'],
    });
  },
);
