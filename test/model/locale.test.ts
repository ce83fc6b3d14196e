import { expect, it } from 'vitest';
import { mailWords } from '../../src/cli/mail/mail-words.ts';
import { paneWords } from '../../src/cli/team/pane-words.ts';
import { LOCALES, type Locale } from '../../src/model/locale.ts';
import { ROUTER_NOTE, routerNote } from '../../src/model/mail/router-note.ts';
import { minutesTexts } from '../../src/playbooks/council/minutes-texts.ts';
import { councilTexts } from '../../src/playbooks/council/texts.ts';
import { mailTexts } from '../../src/playbooks/shared/mail-texts.ts';
import { english } from '../support/english.ts';

const TABLES: readonly (readonly [name: string, table: (locale: Locale) => unknown])[] = [
  ['tasks of mail', (locale) => mailTexts({ locale })],
  ['the council', (locale) => councilTexts({ locale })],
  ['its minutes', (locale) => minutesTexts({ locale })],
  ['squad mail', mailWords],
  ['panes', paneWords],
];

/** Stands for any argument: in a text it is one word, and it has what a list has. */
const ANY = ['x'];

/** Each text of a table; a function is called. */
function textsIn(value: unknown, path: string): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') {
    const call = value as (...given: unknown[]) => unknown;
    return textsIn(call(...Array.from({ length: call.length }, () => ANY)), path);
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => textsIn(one, `${path}.${key}`));
}

it.each(TABLES)('has a Chinese text for each English one: %s', (_name, table) => {
  const chinese = textsIn(table('zh'), '');
  expect(chinese.flatMap(([path, text]) => english(text).map((found) => `${path}: ${found}`))).toEqual([]);
  const left = chinese.filter(([, text]) => /[a-z]{2,}/.test(text) && !/[一-鿿]/.test(text));
  expect(left).toEqual([]);
  expect(english(textsIn(table('en'), '').join('\n'))).not.toEqual([]);
});

it('has a Chinese text for each note of the router', () => {
  for (const note of Object.values(ROUTER_NOTE)) {
    expect(english(routerNote(note, 'zh'))).toEqual([]);
    expect(routerNote(note, 'zh')).toMatch(/[一-鿿]/);
    expect(LOCALES.map((locale) => routerNote(`retry 2: ${note}`, locale))[0]).toBe(`retry 2: ${note}`);
    expect(routerNote(`retry 2: ${note}`, 'zh')).toMatch(/^第 2 次重试：/);
  }
  expect(routerNote('words of an agent', 'zh')).toBe('words of an agent');
});
