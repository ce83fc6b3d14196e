import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newerNote } from '../../../src/squad/preflight/newer-notes.ts';
import { notesToSay } from '../../../src/squad/preflight/said-notes.ts';

const folderOf = (): string => mkdtempSync(join(tmpdir(), 'squad-said-'));
const fact = (name: string) => ({ text: `about ${name}`, once: name });
const always = { text: 'each time' };

describe('notesToSay', () => {
  it('says a fact once on a machine, and a note without one each time', async () => {
    const folder = folderOf();
    expect(await notesToSay(folder, [fact('a'), always])).toEqual([fact('a'), always]);
    expect(await notesToSay(folder, [fact('a'), always, fact('b')])).toEqual([always, fact('b')]);
    expect(await notesToSay(folder, [fact('b'), fact('a')])).toEqual([]);
    expect(await notesToSay(folderOf(), [fact('a')])).toEqual([fact('a')]);
  });

  it('forgets the oldest facts, and says them again', async () => {
    const folder = folderOf();
    const facts = Array.from({ length: 201 }, (_, index) => fact(`f${index}`));
    expect(await notesToSay(folder, facts)).toHaveLength(201);
    expect(await notesToSay(folder, facts)).toEqual([fact('f0')]);
  });

  it.each(['', '{', '[]', '{"version":2,"said":["a"]}', '{"version":1,"said":"a"}'])(
    'takes what it did not write for nothing: %j',
    async (text) => {
      const folder = folderOf();
      writeFileSync(join(folder, 'said.json'), text);
      expect(await notesToSay(folder, [fact('a')])).toEqual([fact('a')]);
      expect(JSON.parse(readFileSync(join(folder, 'said.json'), 'utf8'))).toEqual({ version: 1, said: ['a'] });
    },
  );

  it('says a fact again where nothing can be stored', async () => {
    const folder = folderOf();
    mkdirSync(join(folder, 'said.json'));
    expect(await notesToSay(folder, [fact('a')])).toEqual([fact('a')]);
    expect(await notesToSay(folder, [fact('a')])).toEqual([fact('a')]);
  });
});

it.each<[string | undefined, string | undefined, string[]]>([
  ['2.1.328', '2.1.328', []],
  ['2.1.300', '2.1.328', []],
  ['2.1.1000', '2.1.328', ['claude 2.1.1000 is newer than 2.1.328, which squad was tested with']],
  ['2.2.0', '2.1.328', ['claude 2.2.0 is newer than 2.1.328, which squad was tested with']],
  [undefined, '2.1.328', []],
  ['2.2.0', undefined, []],
])('version %s, tested %s', (version, tested, texts) => {
  const probe = { ok: true, login: 'ok', sandbox: 'os', problems: [] } as const;
  const notes = newerNote('claude', { ...probe, ...(version && { version }), ...(tested && { tested }) });
  expect(notes.map(({ text }) => text)).toEqual(texts);
});
