import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { contentOf } from '../../src/model/content.ts';
import { isStored, storeContents } from '../../src/substrate/system/files/content-store.ts';

const file = (path: string, text: string, executable = false) => ({ path, bytes: Buffer.from(text), executable });
const CONTENT = contentOf([file('review/SKILL.md', 'Look.'), file('review/scripts/look.sh', 'true', true)]);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'squad-content-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

const at = (path: string) => join(folder, CONTENT.hash, path);

describe('contents of a run', () => {
  it('are kept as they were, readable by their owner alone', async () => {
    await storeContents(folder, [CONTENT, CONTENT]);
    expect(readdirSync(folder)).toEqual([CONTENT.hash]);
    expect(readFileSync(at('review/SKILL.md'), 'utf8')).toBe('Look.');
    expect(statSync(at('review/SKILL.md')).mode & 0o777).toBe(0o400);
    expect(statSync(at('review/scripts/look.sh')).mode & 0o777).toBe(0o500);
    expect(await isStored(folder, CONTENT.hash)).toBe(true);
  });

  it.each<[string, () => void]>([
    ['another byte', () => (chmodSync(at('review/SKILL.md'), 0o600), writeFileSync(at('review/SKILL.md'), 'Lock.'))],
    ['a file more', () => writeFileSync(at('review/more'), '')],
    ['a file less', () => rmSync(at('review/scripts/look.sh'))],
    ['another mode', () => chmodSync(at('review/SKILL.md'), 0o500)],
    [
      'a link in place of a file',
      () => (rmSync(at('review/SKILL.md')), symlinkSync('/etc/passwd', at('review/SKILL.md'))),
    ],
    ['nothing at all', () => rmSync(join(folder, CONTENT.hash), { recursive: true })],
  ])('are not what they were with %s, and are whole again once they are stored again', async (_name, spoil) => {
    await storeContents(folder, [CONTENT]);
    spoil();
    expect(await isStored(folder, CONTENT.hash)).toBe(false);
    await storeContents(folder, [CONTENT]);
    expect(await isStored(folder, CONTENT.hash)).toBe(true);
  });

  it('replace what an engine left that was killed while it wrote them', async () => {
    mkdirSync(join(folder, `.new-${CONTENT.hash}`, 'review'), { recursive: true });
    writeFileSync(join(folder, `.new-${CONTENT.hash}`, 'review/half'), 'h');
    await storeContents(folder, [CONTENT]);
    expect(readdirSync(folder)).toEqual([CONTENT.hash]);
    expect(await isStored(folder, CONTENT.hash)).toBe(true);
  });

  it('tell of a disk that refuses them', async () => {
    writeFileSync(join(folder, 'file'), '');
    const error = await storeContents(join(folder, 'file'), [CONTENT]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'storage-refused' });
  });
});
