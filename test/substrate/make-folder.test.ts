import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { MadeFolder } from '../../src/model/folder.ts';
import { makeFolder } from '../../src/substrate/system/files/make-folder.ts';

/** An empty folder, and what to make in it. */
function room(name: string, ...paths: readonly string[]): { readonly at: string; readonly made: MadeFolder } {
  const at = realpathSync(mkdtempSync(join(tmpdir(), 'squad-make-folder-')));
  onTestFinished(() => rmSync(at, { recursive: true, force: true }));
  const files = paths.map((path) => ({ path, text: 'x' }));
  const folder = join(at, name);
  return { at, made: { folder, shown: 'team', files, proof: 'a.md', folders: ['artifacts'], isThere: false } };
}

it('leaves nothing of a folder that cannot be made whole', async () => {
  const { at, made } = room('team', 'a.md', 'roles/aux.md');
  expect(await makeFolder(made, 'key')).toMatch(/^team could not be made: .*device/);
  expect(readdirSync(at)).toEqual([]);
});

it('makes a folder whose name is as long as a name can be', async () => {
  const { at, made } = room('x'.repeat(255), 'a.md');
  expect(await makeFolder(made, 'a-run-has-an-id-of-thirty-six-signs.')).toBeUndefined();
  expect(readdirSync(at)).toEqual(['x'.repeat(255)]);
});
