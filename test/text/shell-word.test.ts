import { execFileSync } from 'node:child_process';
import { fc, it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { shellWord } from '../../src/text/shell-word.ts';

const HOSTILE = [
  `it's "quoted" \\ twice \\\\ and 'again'`,
  '$(touch pwned) `touch pwned` ${HOME} $HOME',
  '; touch pwned & | > pwned # not a comment',
  '!history ~ =ls * ? [a] {a,b}',
  '-n --  leading and trailing ',
  '团队 ünïcode 🧑‍💻',
  '',
];

const printable = fc
  .string({ unit: 'grapheme', maxLength: 40 })
  .filter((text) => text.isWellFormed() && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text));

describe('a line of a shell', () => {
  property.prop([fc.array(printable, { minLength: 1, maxLength: 60 })], { numRuns: 40 })(
    'is read by a real shell as the words it was made of',
    (words) => {
      expect(readByShell(words)).toEqual(words);
    },
  );

  it('holds nothing that a shell would act on', () => {
    expect(readByShell(HOSTILE)).toEqual(HOSTILE);
  });
});

/** The words as a program gets them. */
function readByShell(words: readonly string[]): string[] {
  const line = ['/usr/bin/printf', '%s\\0', ...words].map(shellWord).join(' ');
  return execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1);
}
