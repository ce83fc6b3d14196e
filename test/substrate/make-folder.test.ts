import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../src/substrate/files/make-folder.ts';

it('leaves nothing of a folder that cannot be made whole', async () => {
  const at = realpathSync(mkdtempSync(join(tmpdir(), 'squad-make-folder-')));
  onTestFinished(() => rmSync(at, { recursive: true, force: true }));
  const files = ['a.md', 'roles/aux.md'].map((path) => ({ path, text: 'x' }));
  const made = {
    folder: join(at, 'team'),
    shown: 'team',
    files,
    proof: 'a.md',
    folders: ['artifacts'],
    isThere: false,
  };
  expect(await makeFolder(made, 'key')).toMatch(/^team could not be made: .*device/);
  expect(readdirSync(at)).toEqual([]);
});
