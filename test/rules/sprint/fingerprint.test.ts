import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../src/rules/sprint/fingerprint.ts';
import { createRandom } from '../../support/random.ts';

const TEXTS = [
  'Add a login form with e-mail and password',
  'The export of 1.5 GB fails on /var/data/a_b.csv',
  'Raise the limit of uploads from 5 MB to 25 MB\n\nOnly for admins',
  'C# and C++ clients get -3 instead of 3',
  '로그인 화면을 추가해 주세요',
  "Don't show the `--force` flag in ../docs",
];

/** Each keeps what a text asks for. */
const SAME: Readonly<Record<string, (text: string) => string>> = {
  'in capitals': (text) => text.toUpperCase(),
  'in small letters': (text) => text.toLowerCase(),
  'with a full stop': (text) => `${text.trimEnd()}.`,
  'with marks': (text) => `${text}!?!`,
  'with an ellipsis': (text) => `${text} ...`,
  'with more white space': (text) => `  ${text.replaceAll(' ', '   ')}\t\n`,
  'with lines of Windows': (text) => text.replaceAll('\n', '\r\n'),
  'with blank lines': (text) => `\n\n${text.replaceAll('\n', '\n\n\n')}\n\n`,
  'on many lines': (text) => text.replaceAll(' ', '\n'),
  'in brackets': (text) => `(${text})`,
  'with commas': (text) => text.replaceAll(' and ', ', and '),
  'as a list': (text) => `- ${text.trimStart()}`,
  'with curly apostrophes': (text) => text.replaceAll("'", '’'),
  decomposed: (text) => text.normalize('NFD'),
  'with a byte order mark': (text) => `\ufeff${text}`,
};

function drawer(seed: number): (below: number) => number {
  const random = createRandom(seed);
  return (below) => Math.floor(random() * below);
}

describe('a fingerprint', () => {
  it.each(Object.entries(SAME))('is equal for a text %s', (_name, change) => {
    for (const text of TEXTS) expect(fingerprintOf(change(text)), text).toBe(fingerprintOf(text));
  });

  it('is equal for any of these changes one after the other', () => {
    const draw = drawer(20261128);
    // Lines that are broken after its sign are no list any more.
    const { 'as a list': _, ...others } = SAME;
    const changes = Object.values(others);
    for (let trial = 0; trial < 400; trial += 1) {
      const text = TEXTS[draw(TEXTS.length)] ?? '';
      let changed = text;
      for (let left = 1 + draw(4); left > 0; left -= 1) {
        changed = (changes[draw(changes.length)] ?? String)(changed);
      }
      expect(fingerprintOf(changed), JSON.stringify(changed)).toBe(fingerprintOf(text));
    }
  });

  it.each([
    [
      'limit 15',
      'limit 1.5',
      'limit 1 5',
      'limit 1,5',
      'limit -15',
      'limit 15%',
      'limit 150',
      'limit $15',
      'limit #15',
    ],
    ['fix 2²', 'fix 22', 'fix 2^2', 'fix 2 2'],
    ['port 80:8080', 'port 8080:80', 'port 8080', 'port 80 8080'],
    ['use C', 'use C++', 'use C#', 'use .C', 'use @C', 'use C_', 'use C-'],
    ['cd .', 'cd ..', 'cd', 'cd /', 'cd ~'],
    ['see `.`', 'see `..`', 'see'],
    ['remove src/*', 'remove src/', 'remove src'],
    ['a 5" screen', "a 5' screen", 'a 5 screen'],
    ['x - 5', 'x 5', 'x –5', 'x + 5'],
    ['1. step', '2. step', 'step'],
    ['foo_bar', 'foo bar', 'foobar', 'foo-bar', 'foo.bar', 'foo/bar'],
    ['Ann asks Bo', 'Bo asks Ann', 'Ann asks Bob'],
    ['Maße', 'Masse'],
    ['on 2026-11-28', 'on 2026-11-29', 'on 2026-28-11'],
  ])('tells %s from others', (...texts) => {
    expect(new Set(texts.map(fingerprintOf)).size).toBe(texts.length);
  });

  it('tells texts apart in which one number or one name was changed', () => {
    const draw = drawer(35);
    for (let trial = 0; trial < 400; trial += 1) {
      const words = (TEXTS[draw(TEXTS.length)] ?? '').split(' ');
      const at = draw(words.length);
      const other = words.map((word, index) => (index === at ? `${word.replace(/\d/g, '')}${draw(1e6)}x` : word));
      expect(fingerprintOf(other.join(' '))).not.toBe(fingerprintOf(words.join(' ')));
    }
  });

  it('takes linear time, and tells texts without a word apart', () => {
    const began = performance.now();
    for (const sign of ['(', ')', '"', '.', '—', ' ', '- ', "'", '\n']) fingerprintOf(sign.repeat(65_536));
    expect(performance.now() - began).toBeLessThan(3_000);
    expect(fingerprintOf('???')).not.toBe(fingerprintOf('!!!'));
  });
});
