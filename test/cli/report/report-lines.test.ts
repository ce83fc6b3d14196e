import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import {
  code,
  list,
  ownWords,
  quote,
  strong,
  table,
  words,
  type ReportDocument,
} from '../../../src/view/report/document.ts';
import { renderReportLines } from '../../../src/cli/report/report-lines.ts';
import { COLOURED, PLAIN } from '../../../src/cli/render/style.ts';

const EVIL = '\u001b[2J\u001b]0;owned\u0007\u202eevil 日本語\u0000';
const DOCUMENT: ReportDocument = {
  title: `Tidy up ${EVIL}`,
  about: [
    { is: 'paragraph', text: strong(ownWords('DONE.'), 'good') },
    list([words`Run ${code('tidy')} of ${'a person with a long name '.repeat(8)} and ${EVIL}`]),
  ],
  sections: [
    {
      title: 'Tasks',
      blocks: [
        table(
          ['task', 'what'],
          [
            [code('a'), EVIL.repeat(20)],
            ['', 'x'],
          ],
        ),
      ],
    },
    { title: 'Work', blocks: [quote(`first\n\tsecond ${EVIL}`), { is: 'commands', lines: ['git merge squad/tidy'] }] },
  ],
};

describe('a report at a terminal', () => {
  it.each([40, 80, 120, 250])('fits into %i columns, with colour as without, and obeys nothing', (columns) => {
    const plain = renderReportLines(DOCUMENT, columns, PLAIN);
    for (const line of plain) expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
    expect(plain.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
    const coloured = renderReportLines(DOCUMENT, columns, COLOURED);
    expect(coloured.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''))).toEqual(plain);
    expect(coloured.join('\n')).toContain('\u001b[32mDONE.');
  });

  it('says the same as the document', () => {
    expect(renderReportLines(DOCUMENT, 60, PLAIN)).toEqual([
      String.raw`Tidy up \u202eevil 日本語\u0000`,
      '',
      'DONE.',
      '',
      '- Run tidy of a person with a long name a person with a long',
      '  name a person with a long name a person with a long name a',
      '  person with a long name a person with a long name a person',
      String.raw`  with a long name a person with a long name and \u202eevil`,
      String.raw`  日本語\u0000`,
      '',
      'Tasks',
      '',
      'task  what',
      expect.stringMatching(/^a {5}\\u202eevil.*…$/),
      '–     x',
      '',
      'Work',
      '',
      '  │ first',
      String.raw`  │     second \u202eevil 日本語\u0000`,
      '',
      '  git merge squad/tidy',
    ]);
  });
});
