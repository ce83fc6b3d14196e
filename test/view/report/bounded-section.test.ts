import { expect, it } from 'vitest';
import { boundedSection } from '../../../src/view/report/report-troubles.ts';
import { list, paragraph, quote, table, type Block } from '../../../src/view/report/document.ts';
import { renderMarkdown } from '../../../src/view/report/markdown.ts';

const shown = (...blocks: Block[]): string =>
  renderMarkdown({ title: 'Long', about: [], sections: [boundedSection({ title: 'All', blocks })] });
const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `text ${index} of it`);

it('shows a section as it is', () => {
  const blocks = [table(['a'], [['b']]), list(['c']), quote('d'), paragraph('e')];
  expect(boundedSection({ title: 'All', blocks })).toEqual({ title: 'All', blocks });
});

it.each<[string, Block[], RegExp]>([
  [
    'rows',
    [
      table(
        ['a'],
        texts(2_500).map((text) => [text]),
      ),
    ],
    /text 999 of it \|\n\n1500 more rows are not shown: `squad log/,
  ],
  ['lines', [list(texts(1_001))], /text 999 of it\n\n1 more lines are not shown/],
  ['paragraphs', texts(3_000).map((text) => paragraph(text)), /text 999 of it\n\n2000 more paragraphs are not shown/],
])('says how many %s it leaves out', (_, blocks, end) => {
  const text = shown(...blocks);
  expect(text).toMatch(end);
  expect(text).not.toContain('text 1000 of it');
});
