import { describe, expect, it } from 'vitest';
import { fileName, fileNames, ownNames } from '../../src/text/file-name.ts';
import { pathProblem } from '../../src/text/path-problem.ts';
import { HOSTILE_PATHS } from '../security/paths.ts';
import { createRandom } from '../support/random.ts';

describe('S1, S13: any text as the name of a file', () => {
  it.each([
    ['spec.md', 'spec.md'],
    ['Spec one.MD', 'Spec-one.MD'],
    ['设计.md', '设计.md'],
    ['../../etc/passwd', 'etc-passwd'],
    ['..', 'file'],
    ['.hidden', 'hidden'],
    ['CON', '_CON'],
    ['con.md', '_con.md'],
    ['a\nb\u001b[31m.md', 'a-b-31m.md'],
    ['a\u202egnp.md', 'a-gnp.md'],
    ['', 'file'],
    ['---', 'file'],
    ['a.', 'a'],
    ['e\u0301.md', '\u00e9.md'],
  ])('%j is %j', (text, name) => {
    expect(fileName(text)).toBe(name);
  });

  it('is short, and keeps the ending', () => {
    const name = fileName(`${'ä'.repeat(300)}.md`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(120);
    expect(name).toMatch(/^ä+\.md$/);
    expect(Buffer.byteLength(fileName('x'.repeat(300)))).toBe(120);
  });

  it('gives each its own name also where upper and lower case are one', () => {
    expect(fileNames(['a.md', 'A.md', 'a.md', 'a-2.md'])).toEqual(['a.md', 'A-2.md', 'a-3.md', 'a-2-2.md']);
  });

  it('knows names that some file systems take for the same', () => {
    const texts = [
      'stra\u00dfe.md',
      'STRASSE.md',
      'K.md',
      '\u212a.md',
      '\u017f.md',
      's.md',
      '\u03c3.md',
      '\u03c2.md',
      '\uff41.md',
      'A.md',
    ];
    const names = fileNames(texts);
    expect(names.filter((name) => name.endsWith('-2.md'))).toHaveLength(5);
  });

  it('stays short, and takes no time, however many have the same name', () => {
    const names = fileNames(Array.from({ length: 2_000 }, () => `${'x'.repeat(300)}.md`));
    expect(new Set(names).size).toBe(2_000);
    expect(Math.max(...names.map((name) => Buffer.byteLength(name)))).toBe(120);
  });

  it('leaves names that are there to their files', () => {
    const name = ownNames(['Report.md', 'report-2.md']);
    expect([name('report.md'), name('other.md'), name('REPORT.md')]).toEqual([
      'report-3.md',
      'other.md',
      'REPORT-4.md',
    ]);
  });

  it('is one plain name, whatever the text', () => {
    const random = createRandom(5);
    const parts = [...HOSTILE_PATHS.map(([path]) => path), 'x', '.md', '\n', '\u0000', '😀', '\ud800', 'é', ' ', '/'];
    for (let trial = 0; trial < 5_000; trial += 1) {
      const text = Array.from(
        { length: 1 + Math.floor(random() * 4) },
        () => parts[Math.floor(random() * parts.length)],
      );
      const name = fileName(text.join(''));
      expect(pathProblem(name), JSON.stringify(name)).toBeUndefined();
      expect(name).toMatch(/^[^./-][^/]*$/);
    }
  });
});
