import { describe, expect, it } from 'vitest';
import { chunkText } from '../../../src/rules/people/chunk-text.ts';
import { createRandom } from '../../support/random.ts';

/** Whether each fence that is opened in a text is closed in it. */
function isBalanced(text: string): boolean {
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const [, marks, info = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (marks === undefined || (open === undefined && marks.startsWith('`') && info.includes('`'))) continue;
    if (open === undefined) open = marks;
    else if (marks.startsWith(open) && info.trim() === '') open = undefined;
  }
  return open === undefined;
}

describe('a text in parts', () => {
  it('stays one where it fits', () => {
    expect(chunkText('a\n\nb', 2000)).toEqual(['a\n\nb']);
    expect(chunkText('  \n ', 2000)).toEqual(['(no text)']);
  });

  it('moves a block of code to the next part rather than cut it', () => {
    const code = '```ts\nconst a = 1;\nconst b = 2;\n```';
    expect(chunkText(`${'word '.repeat(8)}\n${code}\nend`, 60)).toEqual(['word '.repeat(8).trimEnd(), `${code}\nend`]);
  });

  it('cuts a block that is longer than a part into blocks', () => {
    const code = ['~~~sh', ...Array.from({ length: 20 }, (_, index) => `echo ${index}`), '~~~'].join('\n');
    const parts = chunkText(code, 60);
    expect(parts.length).toBeGreaterThan(2);
    for (const part of parts) expect(part).toMatch(/^~~~sh\n[^~]*\n~~~$/);
    expect(parts.flatMap((part) => part.split('\n').slice(1, -1))).toEqual(code.split('\n').slice(1, -1));
  });

  it('cuts no character in two', () => {
    for (const part of chunkText('😀'.repeat(50), 7)) expect(part.isWellFormed()).toBe(true);
  });

  it('keeps every word in order, no part too long, and no fence open, whatever the text', () => {
    const random = createRandom(7);
    const lines = [
      'word word',
      '',
      '```',
      '```ts',
      '~~~',
      ' ```',
      '```x`y',
      'x'.repeat(90),
      '한국어 텍스트',
      '😀'.repeat(20),
      'a ``` b',
      '````',
    ];
    for (let trial = 0; trial < 400; trial += 1) {
      const closed = Array.from(
        { length: 1 + Math.floor(random() * 30) },
        () => lines[Math.floor(random() * lines.length)],
      ).join('\n');
      const longest = 24 + Math.floor(random() * 200);
      const parts = chunkText(closed, longest);
      const plain = (text: string): string => text.replaceAll(/[`~\s]|ts|\(no text\)/g, '');
      expect(plain(parts.join('')), closed).toBe(plain(closed));
      for (const part of parts) {
        expect(part.length).toBeLessThanOrEqual(longest);
        expect(part.isWellFormed()).toBe(true);
      }
      // Only the last one may be open, as the text itself was.
      for (const part of parts.slice(0, -1))
        expect(isBalanced(part), JSON.stringify({ closed, longest, part })).toBe(true);
    }
  });
});
