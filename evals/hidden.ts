import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from './judge.ts';

const SECONDS = 30;

/**
 * Runs a test that no agent has seen on delivered work, in a Node that may only read this folder. Only a word at its end is a pass, so that
 * work that ends the process early, with 0, is none.
 */
export function runHidden(folder: string, test: string): Verdict {
  const word = randomUUID();
  const path = join(folder, `hidden-${word}.mjs`);
  writeFileSync(path, `import assert from 'node:assert/strict';\n${test}\nconsole.log('${word}');\n`);
  const { stdout, stderr, status, error } = spawnSync(
    process.execPath,
    ['--permission', `--allow-fs-read=${folder}`, path],
    { cwd: folder, encoding: 'utf8', timeout: SECONDS * 1000, env: {}, maxBuffer: 1 << 24 },
  );
  if (status === 0 && stdout.trimEnd().endsWith(word)) return { right: true, why: 'passes' };
  const said = /^\s*(?:\w*Error\b.*|Error: .*)$/m.exec(stderr)?.[0]?.trim();
  return { right: false, why: error === undefined ? (said ?? 'the test did not get to its end') : 'took too long' };
}
