import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compose } from '../../src/engine/compose.ts';
import { findProgram, isExecutable } from '../../src/runtimes/shared/find-program.ts';
import { testHost } from '../support/test-host.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-s18-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('S18: programs of Windows', () => {
  it.each(['claude.cmd', 'claude.CMD', 'codex.bat', 'gh.ps1', 'claude.cmd.', 'claude.cmd '])(
    'S18: %j is run by nobody: an interpreter would parse the arguments anew',
    async (name) => {
      plant(root, name);
      expect(await isExecutable(join(root, name))).toBe(false);
      expect(await findProgram(root, name)).toBeUndefined();
      const probe = await compose(testHost(root))
        .runtime('claude', { binary: join(root, name) })
        .probe();
      expect(probe.ok).toBe(false);
    },
  );

  it('S18: what is found on PATH is a program, in a folder with a whole path, and no shim, folder or dead link before it', async () => {
    const folders = ['shim', 'folder', 'dead', 'plain', 'real', 'later'].map((name) => join(root, name));
    for (const folder of folders) mkdirSync(folder);
    const [shim = '', folder = '', dead = '', plain = '', real = '', later = ''] = folders;
    plant(shim, 'claude.cmd');
    mkdirSync(join(folder, 'claude'));
    symlinkSync(join(root, 'nothing'), join(dead, 'claude'));
    writeFileSync(join(plain, 'claude'), '');
    plant(real, 'claude');
    plant(later, 'claude');
    const path = ['.', 'relative', '', ...folders].join(delimiter);
    expect(await findProgram(path, 'claude')).toBe(join(real, 'claude'));
  });

  it('S18: Windows is refused by name, before anything is done', () => {
    expect(() => compose(testHost(root, { platform: 'win32' }))).toThrow(
      expect.objectContaining({ code: 'wrong-environment', message: expect.stringContaining('Windows') }),
    );
    expect(() => compose(testHost(root, { platform: 'darwin' }))).not.toThrow();
  });
});

function plant(folder: string, name: string): void {
  writeFileSync(join(folder, name), '#!/bin/sh\n');
  chmodSync(join(folder, name), 0o755);
}
