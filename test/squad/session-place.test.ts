import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { refuseFilled, refuseReadOnly } from '../../src/squad/session-place.ts';

function room(): string {
  const at = mkdtempSync(join(tmpdir(), 'squad-session-place-'));
  onTestFinished(() => rmSync(at, { recursive: true, force: true }));
  return at;
}

it('quotes the folder in the next command', async () => {
  const folder = room();
  writeFileSync(join(folder, 'notes.txt'), 'mine');
  const next = expect.stringContaining("--into 'my dir' --resume") as string;
  await expect(refuseFilled({ folder, shown: 'my dir' })).rejects.toMatchObject({ next });
});

it.skipIf(process.getuid?.() === 0)(
  'adds nothing to a folder that is read-only (left out: root writes it)',
  async () => {
    const folder = room();
    await refuseReadOnly({ folder, shown: 'team' });
    mkdirSync(join(folder, 'roles'));
    chmodSync(join(folder, 'roles'), 0o555);
    const message = expect.stringMatching(/^team\/roles cannot be written/) as string;
    await expect(refuseReadOnly({ folder, shown: 'team' })).rejects.toMatchObject({
      code: 'wrong-environment',
      message,
    });
  },
);
