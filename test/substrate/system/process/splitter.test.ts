import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import type { TextLine } from '../../../../src/substrate/ports/processes.ts';
import {
  CUT_TEXT_BYTES,
  MAX_LINE_BYTES,
  createLineSplitter,
} from '../../../../src/substrate/system/process/splitter.ts';

function split(chunks: readonly Uint8Array[], ...bounds: [number, number] | []): TextLine[] {
  const splitter = createLineSplitter(...bounds);
  return [...chunks.flatMap((chunk) => [...splitter.push(Buffer.from(chunk))]), ...splitter.end()];
}
const splitText = (...chunks: string[]): TextLine[] => split(chunks.map((text) => Buffer.from(text)));
const texts = (lines: readonly TextLine[]): string[] => lines.map((line) => line.text);

describe('line splitter', () => {
  test('splits at line feeds alone and drops one carriage return before them', () => {
    expect(texts(splitText('a\r\nb\u2028c\u0085d\re\n\nf\r\r\n'))).toEqual(['a', 'b\u2028c\u0085d\re', '', 'f\r']);
  });

  test('gives the offset after each line, in bytes', () => {
    expect(splitText('é\r\n', 'x\nrest')).toEqual([
      { type: 'line', text: 'é', offset: 4 },
      { type: 'line', text: 'x', offset: 6 },
      { type: 'rest', text: 'rest', offset: 10 },
    ]);
  });

  test('a file that ends with a line feed, or is empty, has no rest', () => {
    expect(texts(splitText('a\n'))).toEqual(['a']);
    expect(splitText()).toEqual([]);
  });

  test('drops a byte order mark at the start and nowhere else', () => {
    expect(texts(splitText('\uFEFFa\n\uFEFFb\n'))).toEqual(['a', '\uFEFFb']);
  });

  test('bytes that are no UTF-8 become replacement characters', () => {
    expect(texts(split([Buffer.from([0x61, 0xff, 0x0a, 0xc3])]))).toEqual(['a\uFFFD', '\uFFFD']);
  });

  test('a line at the bound is whole; one byte more is cut, with its true length', () => {
    const line = Buffer.alloc(MAX_LINE_BYTES, 'x');
    const [whole] = split([line, Buffer.from('\n')]);
    expect(whole).toMatchObject({ type: 'line', offset: MAX_LINE_BYTES + 1 });
    expect(whole?.text.length).toBe(MAX_LINE_BYTES);
    const [cut, next] = split([line, Buffer.from('y\nnext\n')]);
    expect(cut).toMatchObject({ type: 'cut', bytes: MAX_LINE_BYTES + 1, offset: MAX_LINE_BYTES + 2 });
    expect(cut?.text).toBe('x'.repeat(CUT_TEXT_BYTES));
    expect(next).toMatchObject({ type: 'line', text: 'next' });
  });

  test('an unfinished line over the bound is cut too, and no character is halved', () => {
    expect(split([Buffer.from('abéx'.repeat(3))], 10, 3)).toEqual([{ type: 'cut', text: 'ab', bytes: 15, offset: 15 }]);
  });

  const bytes = fc.array(fc.constantFrom(0x0a, 0x0d, 0x61, 0xc3, 0xa9, 0xef, 0xbb, 0xbf, 0xff, 0x00), {
    maxLength: 60,
  });
  property.prop([bytes, fc.array(fc.nat(60), { maxLength: 12 })], { numRuns: 3000 })(
    'the answer does not depend on how the bytes arrive',
    (content, cuts) => {
      const edges = [0, ...cuts.filter((cut) => cut < content.length).toSorted((a, b) => a - b), content.length];
      const chunks = edges.slice(1).map((edge, index) => Buffer.from(content.slice(edges[index], edge)));
      expect(split(chunks, 12, 5)).toEqual(split([Buffer.from(content)], 12, 5));
    },
  );

  property.prop([bytes], { numRuns: 500 })('every byte is accounted for', (content) => {
    const lines = split([Buffer.from(content)], 12, 5);
    expect(lines.at(-1)?.offset ?? 0).toBe(content.length);
    expect(lines.filter((line) => line.type === 'rest').length).toBeLessThanOrEqual(1);
  });
});
