import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkDatabase } from '../../../../src/substrate/ledger/index.ts';
import { openFilesIn, squadError } from '../support.ts';
import { note, openMailRoom, person, POLICY, sent, type MailRoom } from './support.ts';

function long({ mail }: MailRoom, text = 'x', runId = 'r'): string {
  return sent(mail.send(person('A', runId), note(text.repeat(5000))));
}

function fileOf({ directory }: MailRoom, id: string): string {
  return join(directory, 'blobs', `${id}.json`);
}

test('a long body is in a file by its digest, which is closed again', () => {
  const room = openMailRoom();
  const folder = join(room.directory, 'blobs');
  const ids = ['a', 'b', 'c'].map((letter) => long(room, letter));
  expect(openFilesIn(folder)).toBe(0);
  const db = new Database(room.path, { readonly: true });
  onTestFinished(() => void db.close());
  expect(db.prepare('SELECT body, body_ref, digest FROM mail').raw().all()).toEqual(
    ['a', 'b', 'c'].map((letter, index) => [
      ...['', `blobs/${ids[index]}.json`],
      hash('sha256', JSON.stringify({ text: letter.repeat(5000) }), 'hex'),
    ]),
  );
  expect(readdirSync(join(room.directory, 'blobs')).toSorted()).toEqual(ids.map((id) => `${id}.json`).toSorted());
});

test('a body of exactly 4 KiB is in the ledger, and one of a byte more in a file', () => {
  const { mail } = openMailRoom();
  const bytes = (count: number) => note('x'.repeat(count - JSON.stringify({ text: '' }).length));
  expect([4_096, 4_097].map((count) => mail.send(person('A'), bytes(count)))).toMatchObject([
    { message: { body: bytes(4_096).body } },
    { message: { body: '', body_ref: expect.stringMatching(/^blobs/) as string } },
  ]);
});

test('a message that is not stored has no body', () => {
  const room = openMailRoom();
  const message = room.mail.message(long(room));
  expect(room.mail.bodyOf({ ...message!, id: 'none' })).toBe('');
  const { body_ref: _, ...short } = { ...message!, id: 'none', body: 'short' };
  expect(room.mail.bodyOf(short)).toBe('short');
});

describe('a body that is not as it was sent', () => {
  const link = (to: string) => (path: string) => (rmSync(path), symlinkSync(to, path));
  test.each<[string, (path: string) => unknown, string]>([
    ['changed', (path) => writeFileSync(path, '{}'), 'damaged'],
    ['gone', (path) => rmSync(path), 'gone'],
    ['a folder', (path) => (rmSync(path), mkdirSync(path)), 'not a file'],
    ['a link to itself', (path) => link(path)(path), 'gone'],
    [
      'below a file',
      (path) => (rmSync(join(path, '..'), { recursive: true }), writeFileSync(join(path, '..'), '')),
      'gone',
    ],
  ])('%s, is damage that the check names with its file', (_, harm, word) => {
    const room = openMailRoom();
    const id = long(room);
    const path = fileOf(room, id);
    harm(path);
    const message = room.mail.message(id);
    const error = squadError(() => room.mail.bodyOf(message!));
    expect([error.code, error.message]).toEqual(['database-corrupt', `${path}: the body of message 1 is ${word}.`]);
    expect(checkDatabase(room.path)).toMatchObject({
      ok: false,
      problems: [`${path}: the body of message 1 is ${word}.`],
      files: [`blobs/${id}.json`],
    });
  });

  test('that the disk does not read, is an error of the disk and no damage', () => {
    const room = openMailRoom();
    const id = long(room);
    link('/proc/self/mem')(fileOf(room, id));
    const refused = { code: 'storage-refused', message: expect.stringContaining('EIO') as string };
    expect(squadError(() => room.mail.bodyOf(room.mail.message(id)!))).toMatchObject(refused);
    expect(squadError(() => checkDatabase(room.path))).toMatchObject(refused);
  });

  test('20 of them are named', () => {
    const room = openMailRoom();
    for (let count = 0; count < 21; count += 1) long(room);
    rmSync(join(room.directory, 'blobs'), { recursive: true });
    const { problems, files } = checkDatabase(room.path);
    expect([problems.length, files.length]).toEqual([20, 20]);
    expect(problems.at(-1)).toContain('the body of message 20 is gone');
  });
});

describe('when the mailbox is opened', () => {
  test('what no message names goes out of the folder, and all else stays', () => {
    const room = openMailRoom();
    const { mail, lease, directory } = room;
    const kept = long(room);
    const short = sent(mail.send(person('A'), note()));
    for (const name of ['left.json', `${kept}.json.new`, `${kept}.text`, `${short}.json`]) {
      writeFileSync(join(directory, 'blobs', name), '{}');
    }
    mkdirSync(join(directory, 'blobs', 'folder.json', 'deep'), { recursive: true });
    mail.open(lease, POLICY);
    expect(readdirSync(join(directory, 'blobs'))).toEqual([`${kept}.json`]);
  });

  test('a folder that is no folder has nothing in it, and one that cannot be read is an error of the disk', () => {
    const { mail, lease, directory } = openMailRoom();
    const folder = join(directory, 'blobs');
    expect(existsSync(folder)).toBe(false);
    writeFileSync(folder, '');
    expect(() => mail.open(lease, POLICY)).not.toThrow();
    rmSync(folder);
    symlinkSync(folder, folder);
    expect(squadError(() => mail.open(lease, POLICY))).toMatchObject({ code: 'storage-refused' });
  });
});
