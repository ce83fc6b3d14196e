// @module-tag all
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { roomForTest, turnWith } from '../cli/room.ts';
import { definition, play, RecordedRun } from '../view/report/support.ts';
import { temporaryFolder } from '../substrate/ledger/support.ts';
import { newStateOf } from '../support/state.ts';
import type { Patch } from './patch.ts';
import { PLAYBOOK } from './playbook.ts';
import { SINK } from './sink.ts';
import { SOURCE } from './source.ts';
import { VERB } from './verb.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATCHES: readonly Patch[] = [PLAYBOOK, SOURCE, SINK, VERB];

/** A copy of the sources with the patch; `more`: other folders that it needs. */
function patched({ edits }: Patch, ...more: readonly string[]): string {
  const folder = join(temporaryFolder(), 'squad');
  mkdirSync(folder);
  for (const name of ['src', 'package.json', ...more])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const [path, edit] of Object.entries(edits)) {
    const file = join(folder, path);
    if (typeof edit === 'string') {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, edit, { flag: 'wx' });
      continue;
    }
    for (const [before, added] of edit) {
      const text = readFileSync(file, 'utf8');
      expect(text.split(before), `${path} has ${before}`).toHaveLength(2);
      writeFileSync(
        file,
        text.replace(before, () => `${added}${before}`),
      );
    }
  }
  return folder;
}

/** Files of src that differ from those of the project. */
function changedFiles(folder: string): string[] {
  return readdirSync(join(folder, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !isAsBefore(folder, path));
}

function isAsBefore(folder: string, path: string): boolean {
  return (
    existsSync(join(ROOT, path)) && readFileSync(join(folder, path), 'utf8') === readFileSync(join(ROOT, path), 'utf8')
  );
}

describe.each(PATCHES)('a patch that adds $adds', (patch) => {
  it(`touches ${patch.files} files, and commands, status and report show it`, { timeout: 120_000 }, () => {
    const folder = patched(patch, 'scripts', 'docs');
    expect(changedFiles(folder)).toHaveLength(patch.files);
    const room = roomForTest();
    if (patch.runs !== undefined) turnWith(room, [], patch.runs);
    else {
      const about = definition();
      const run = new RecordedRun(about, newStateOf(room.repository)).allocate();
      run.plan(play(about).entries.slice(0, 8)).close();
    }
    const env = { PATH: process.env['PATH'], HOME: room.root, XDG_STATE_HOME: join(room.root, 'state') };
    for (const [words, shown] of patch.shown) {
      const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'src/cli/main.ts'), ...words], {
        ...{ cwd: room.repository, env, encoding: 'utf8' },
      });
      expect(stdout, `squad ${words.join(' ')}: ${stderr}`).toMatch(shown);
    }
    if (patch.page === undefined) return;
    execFileSync(process.execPath, ['scripts/commands-docs.ts'], { cwd: folder });
    expect(readFileSync(join(folder, 'docs/commands.md'), 'utf8')).toMatch(patch.page);
  });

  it('is compiled', { timeout: 300_000 }, () => {
    const folder = patched(patch, 'tsconfig.json');
    const config = { extends: './tsconfig.json', include: ['src'] };
    writeFileSync(join(folder, 'tsconfig.patch.json'), JSON.stringify(config));
    const compiler = join(ROOT, 'node_modules/.bin/tsc');
    expect(() => execFileSync(compiler, ['--noEmit', '-p', 'tsconfig.patch.json'], { cwd: folder })).not.toThrow();
  });
});
