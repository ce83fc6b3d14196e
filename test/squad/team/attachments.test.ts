import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { attachmentPath, storeAttachments, readAttachment } from '../../../src/squad/team/attachments.ts';

const BYTES = Buffer.from('content');

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'squad-attachments-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe('the name that a sender gives a file', () => {
  it.each([
    ['../x', 'its name is a path'],
    ['/etc/passwd', 'its name is a path'],
    ['a/b', 'its name is a path'],
    ['..\\x', 'its name is a path'],
    ['C:\\x', 'its name is a path'],
    ['', 'it has no name'],
    ['  ', 'it has no name'],
    ['.', 'its name is that of a folder'],
    ['..', 'its name is that of a folder'],
    ['a\nb', 'its name has a control character'],
    ['a\u001b[2Jb', 'its name has a control character'],
    ['a\u0000b', 'its name has a NUL in it'],
    ['exe\u202etxt.pdf', 'its name has a control character'],
  ])('%j is refused', async (name, why) => {
    const directory = folder();
    const kept = storeAttachments(directory, [
      { name: 'fine.txt', bytes: BYTES },
      { name, bytes: BYTES },
    ]);
    await expect(kept).rejects.toMatchObject({ code: 'bad-input', message: expect.stringContaining(why) });
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each([
    ['spec.pdf', 'spec.pdf'],
    ['명세.pdf', '명세.pdf'],
    ['my spec (2).pdf', 'my-spec-2.pdf'],
    ['con', '_con'],
    ['LPT1.txt', '_LPT1.txt'],
    ['.env', 'env'],
    ['a:b?.txt', 'a-b.txt'],
    ['$(touch x)`id`.txt', 'touch-x-id.txt'],
    ['--force', 'force'],
    [`${'x'.repeat(300)}.txt`, `${'x'.repeat(116)}.txt`],
    ['\ud800.txt', 'txt'],
  ])('%j is made safe: %s', async (given, name) => {
    const [kept] = await storeAttachments(folder(), [{ name: given, bytes: BYTES }]);
    expect(kept?.name).toBe(name);
  });
});

it('keeps the bytes of a file once for each name, under their hash', async () => {
  const directory = folder();
  const files = ['a.txt', 'b.txt', 'a.txt'].map((name) => ({ name, bytes: BYTES }));
  const kept = await storeAttachments(directory, files);
  expect(kept.map(({ name, bytes }) => [name, bytes])).toEqual([
    ['a.txt', 7],
    ['b.txt', 7],
  ]);
  const path = attachmentPath(directory, kept[0]!);
  expect([readdirSync(join(directory, 'attachments')), readFileSync(path)]).toEqual([[kept[0]!.sha256], BYTES]);
  const before = statSync(path).mtimeMs;
  await storeAttachments(directory, files);
  expect(statSync(path).mtimeMs).toBe(before);
});

it('makes a file whole that was cut short', async () => {
  const directory = folder();
  const hash = 'ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73';
  mkdirSync(join(directory, 'attachments', hash), { recursive: true });
  writeFileSync(join(directory, 'attachments', hash, 'a'), 'con');
  const [kept] = await storeAttachments(directory, [{ name: 'a', bytes: BYTES }]);
  expect(readFileSync(attachmentPath(directory, kept!))).toEqual(BYTES);
});

describe('a file that a person attaches', () => {
  it('is read by its path, from where the person stands', async () => {
    const here = folder();
    mkdirSync(join(here, 'docs'));
    writeFileSync(join(here, 'docs/spec.md'), BYTES);
    const file = { name: 'spec.md', bytes: BYTES };
    expect(await readAttachment(here, 'docs/spec.md')).toEqual(file);
    expect(await readAttachment(join(here, 'docs'), '../docs/spec.md')).toEqual(file);
    expect(await readAttachment('/', join(here, 'docs/spec.md'))).toEqual(file);
  });

  it.each([
    ['gone.txt', 'there is no such file'],
    ['link', 'it is a link'],
    ['dangling', 'it is a link'],
    ['folder', 'it is a folder'],
    ['.', 'it is a folder'],
    ['pipe', 'it is no plain file'],
    ['/dev/zero', 'it is no plain file'],
    ['large', 'it is larger than 26 MB'],
    ['a\u001bb', 'its name has a control character'],
    ['a\u0000b', 'NUL'],
  ])('is refused with its name and why: %j', async (path, why) => {
    const here = folder();
    writeFileSync(join(here, 'file'), BYTES);
    symlinkSync('file', join(here, 'link'));
    symlinkSync('nowhere', join(here, 'dangling'));
    mkdirSync(join(here, 'folder'));
    execFileSync('mkfifo', [join(here, 'pipe')]);
    writeFileSync(join(here, 'large'), '');
    truncateSync(join(here, 'large'), 25 * 1024 * 1024 + 1);
    writeFileSync(join(here, 'a\u001bb'), BYTES);
    const read = readAttachment(here, path);
    await expect(read).rejects.toMatchObject({ code: 'bad-input', message: expect.stringContaining(why) });
  });
});
