import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { ALL } from './support/lane.ts';
import { roomForTest, scriptedTurn } from './cli/room.ts';

/** What a run of one turn may execute: somewhat more than it did on 2026-11-27 (475 and 2,989). */
const MOST_FILES = 500;
const MOST_FUNCTIONS = 3_150;
const SOURCES = pathToFileURL(fileURLToPath(new URL('../src/', import.meta.url))).href;

/** The functions of src that ran, by file and place, with how often; the module itself is the one at 0. */
function coverageIn(folder: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
      result: { url: string; functions: { ranges: { startOffset: number; count: number }[] }[] }[];
    };
    for (const { url, functions } of result) {
      if (!url.startsWith(SOURCES)) continue;
      for (const { ranges } of functions) {
        const [{ startOffset, count } = { startOffset: 0, count: 0 }] = ranges;
        const key = `${url}#${startOffset}`;
        counts.set(key, (counts.get(key) ?? 0) + count);
      }
    }
  }
  return counts;
}

it('a run executes no more files and functions than it did', { ...ALL, timeout: 120_000 }, () => {
  const room = roomForTest();
  const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
  const env = { PATH: process.env['PATH'], HOME: room.root, XDG_STATE_HOME: join(room.root, 'state') };
  const covered = (name: string, args: readonly string[]): Map<string, number> => {
    const folder = join(room.root, name);
    mkdirSync(folder);
    const { status, stderr } = spawnSync(process.execPath, [...args], {
      ...{ cwd: room.repository, env: { ...env, NODE_V8_COVERAGE: folder }, encoding: 'utf8' },
    });
    expect(status, stderr).toBe(0);
    return coverageIn(folder);
  };
  const played = covered('run', [main, ...scriptedTurn(room, [], '--yes')]);
  // The same modules, only imported: what runs then is no part of the run.
  const urls = [...new Set([...played.keys()].map((key) => key.split('#')[0] ?? ''))].filter(
    (url) => !url.endsWith('/cli/main.ts'),
  );
  const imports = join(room.root, 'imports.mjs');
  writeFileSync(imports, urls.map((url) => `await import(${JSON.stringify(url)}).catch(() => {});\n`).join(''));
  const imported = covered('imports', [imports]);
  const ran = [...played].filter(([key, count]) => !key.endsWith('#0') && count > (imported.get(key) ?? 0));
  const files = new Set(ran.map(([key]) => key.split('#')[0]));
  expect({ files: files.size, functions: ran.length }).toEqual({
    files: expect.toSatisfy((count: number) => count <= MOST_FILES, `at most ${MOST_FILES}`),
    functions: expect.toSatisfy((count: number) => count <= MOST_FUNCTIONS, `at most ${MOST_FUNCTIONS}`),
  });
});
