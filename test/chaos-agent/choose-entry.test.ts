import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { chooseEntry } from '../fixtures/agents/chaos/choose-entry.mjs';

function usesFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'entries-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'used');
}

it('the first entry that fits the prompt is played, by a part of it or by an expression over its lines', () => {
  const entries = [{ when: 'left', label: 'part' }, { match: '^one.*three$', label: 'lines' }, { label: 'any' }];
  const chosen = ['go left', 'one\ntwo\nthree', 'else'].map((prompt) => chooseEntry(entries, prompt, usesFile()).label);
  expect(chosen).toEqual(['part', 'lines', 'any']);
  expect(chooseEntry([], 'any', usesFile())).toEqual({});
});

it('an entry with `times` is used up, and one with `seconds` is over', () => {
  const file = usesFile();
  const entries = [{ times: 2, label: 'twice' }, { seconds: 60, label: 'a while' }, { label: 'then' }];
  const choose = (): unknown => chooseEntry(entries, 'any', file).label;
  expect([choose(), choose(), choose(), choose()]).toEqual(['twice', 'twice', 'a while', 'a while']);
  writeFileSync(file, `0 1\n0 2\n1 ${Date.now() - 61_000}\n`);
  expect(choose()).toBe('then');
});
