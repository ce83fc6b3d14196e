import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readSession } from '../../src/squad/sources/session/read-session.ts';
import { DIAMOND, sessionTexts, writeSession } from '../support/session-folder.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/session', import.meta.url));

it('examples/session is a session: three roles, and five tasks as a diamond', async () => {
  const { session } = await readSession('session', join(EXAMPLE, '..'));
  expect(session.roles.map(({ name, innerLoop, responsibility }) => [name, innerLoop, responsibility])).toEqual([
    ['analyst', false, 'read-only'],
    ['implementer', true, 'code-gen'],
    ['writer', false, 'code-gen (docs)'],
  ]);
  expect(session.tasks.map(({ id, needs }) => [id, ...needs])).toEqual([
    ['SPEC-001'],
    ['IMPL-001', 'spec-001'],
    ['IMPL-002', 'impl-001'],
    ['DOC-001', 'spec-001'],
    ['SPEC-002', 'impl-002', 'doc-001'],
  ]);
  expect(session.completed).toEqual([]);
});

it('so is what tests write from a few words, with the same files', async ({ onTestFinished }) => {
  const root = mkdtempSync(join(tmpdir(), 'squad-session-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = writeSession(join(root, 'session'), { ...DIAMOND, done: ['SPEC-001'] });
  const { session } = await readSession('session', root);
  expect(session.tasks.map(({ id }) => id)).toEqual(DIAMOND.tasks.map(({ id }) => id));
  expect(session.completed).toEqual(['spec-001']);
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(readdirSync(EXAMPLE)));
});

it('a mark of the byte order before a text is no part of it', async ({ onTestFinished }) => {
  const root = mkdtempSync(join(tmpdir(), 'squad-session-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const texts = Object.entries(sessionTexts({ ...DIAMOND, done: ['SPEC-001'] }));
  writeSession(join(root, 'plain'), { ...DIAMOND, files: Object.fromEntries(texts) });
  const marked = Object.fromEntries(texts.map(([path, text]) => [path, `\ufeff${text}`]));
  writeSession(join(root, 'marked'), { ...DIAMOND, files: marked });
  const [plain, other] = await Promise.all([readSession('plain', root), readSession('marked', root)]);
  const { hashes: _, ...start } = plain.session.start;
  expect(other.session).toMatchObject({ ...plain.session, start });
});
