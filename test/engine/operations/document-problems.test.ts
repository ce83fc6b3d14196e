import { describe, expect, it } from 'vitest';
import { documentProblems } from '../../../src/engine/operations/document-problems.ts';
import { ALL } from '../../support/lane.ts';

function problemsOf(text: string, ...headings: string[]): string[] {
  return documentProblems(new TextEncoder().encode(text), headings);
}

const missing = (heading: string) => `the heading “${heading}” is missing`;
const empty = (heading: string) => `the heading “${heading}” has no text of its own below it`;
const EMPTY = 'the document is empty';
const ONLY_HEADINGS = 'the document has no text besides headings and comments';

describe('documentProblems', () => {
  it.each<[string, string, string[]]>([
    ['headings in order with text', '# Spec\n\nWhy.\n\n## Goals\n\n- one\n\n## Risks\n\nNone.\n', []],
    ['other headings between', 'x\n# Goals\ny\n# More\nz\n# Risks\ny', []],
    ['text below a nested heading', '# Goals\n## First\n### Deeper\ntext\n# Risks\ntext', []],
    ['wanted headings of different levels', '# Goals\ntext\n### Risks\ntext', []],
    ['underlined headings', 'Goals\n=====\ntext\n\nRisks\n-----\ntext', []],
    ['closed headings', '## Goals ##\ntext\n## Risks ##########\ntext', []],
    ['case, spaces, emphasis, a colon', '#    GOALS\ntext\n## **ri  sks**:\ntext', [missing('Risks')]],
    ['the same', '#    GOALS \ntext\n## **`risks`**:\ntext', []],
    ['CRLF and a byte order mark', '\ufeff# Goals\r\ntext\r\n# Risks\r\ntext\r\n', []],
    ['a code block as text', '# Goals\n```\ncode\n```\n# Risks\n    indented', []],
    ['a table, a quote, HTML', '# Goals\n| a |\n|---|\n| b |\n# Risks\n> quoted\n', []],
    ['the words of a link and of a picture', '# Goals\n[here](x)\n# Risks\n![words](x.png)\n', []],
    ['HTML with text', '# Goals\n<p>text</p>\n\n# Risks\n<details>\nmore\n</details>', []],
    ['a comment beside text', '# Goals\ntext <!-- x -->\n# Risks <!-- x -->\ntext', []],
    ['text in other letters', '# Goals\n目标\n# Risks\n42', []],
    ['the second of two headings', '# Goals\n# Goals\ntext\n# Risks\ntext', []],
    ['an empty document', '', [EMPTY, missing('Goals'), missing('Risks')]],
    ['only spaces', ' \n\t\n', [EMPTY, missing('Goals'), missing('Risks')]],
    ['only headings', '# Goals\n\n# Risks\n', [ONLY_HEADINGS, empty('Goals'), empty('Risks')]],
    [
      'only comments',
      '# Goals\n<!-- write here -->\n# Risks\n- <!-- x -->\n',
      [ONLY_HEADINGS, empty('Goals'), empty('Risks')],
    ],
    ['a comment that is never closed', '# Goals\ntext\n# Risks\n<!-- text\nmore', [empty('Risks')]],
    ['no heading', 'Just text.', [missing('Goals'), missing('Risks')]],
    ['one heading missing', '# Goals\ntext', [missing('Risks')]],
    ['one heading empty', '# Goals\n# Risks\ntext', [empty('Goals')]],
    ['the text of a higher heading', '## Goals\n# Other\ntext\n## Risks\ntext', [empty('Goals')]],
    ['text only below the nested heading that is wanted', '# Goals\n## Risks\ntext', [empty('Goals')]],
    ['the wrong order', '# Risks\ntext\n# Goals\ntext', ['the heading “Risks” must come after “Goals”']],
    ['a heading in a code fence', '# Goals\n```\n# Risks\ntext\n```\n', [missing('Risks')]],
    ['a heading in a comment', '# Goals\ntext\n<!--\n# Risks\ntext\n-->\n', [missing('Risks')]],
    ['a heading in a quote or a list', '# Goals\ntext\n> # Risks\n> text\n- # Risks\n', [missing('Risks')]],
    ['no heading without a space', '# Goals\ntext\n#Risks\ntext', [missing('Risks')]],
    ['marks that are no words', '# Goals\n---\n***\n…\n\n&nbsp;\n\u200b\u3164\n<br>\n# Risks\ntext', [empty('Goals')]],
  ])('%s', (_title, text, problems) => {
    expect(problemsOf(text, 'Goals', 'Risks')).toEqual(problems);
  });

  it.each([
    ['a definition of a link', '[a]: http://x.y "title"'],
    ['a definition over several lines', '[a]:\n  http://x\n  "title"'],
    ['a definition that serves as a comment', '[//]: # (write here)'],
    ['definitions in a list and a quote', '- [a]: b\n\n> [c]: d'],
    ['a footnote', '[^1]: text'],
    ['a picture without words', '![](pic.png)'],
    ['a picture by its name', '![][p]\n\n[p]: x.png'],
    ['a picture that is a link', '[![](a.svg)](b)'],
    ['a link without words', '[](http://abc.de)'],
    ['a picture in HTML', '<img alt="words" src="a.png">'],
    ['a head of a table', '| a | b |\n|---|---|'],
    ['a table with empty cells', '| a | b |\n|---|---|\n|  |  |'],
    ['a picture in a table', '| a |\n|---|\n| ![](x.png) |'],
    ['a box without words', '- [ ]\n- [x]'],
    ['an instruction of HTML', '<?php x ?>'],
    ['a script', '<script>var a = 1</script>'],
    ['a style', '<style>p { color: red }</style>'],
    ['a declaration', '<!DOCTYPE html>'],
    ['a fence without code', '```js\n```'],
  ])('takes %s for no text', (_title, nothing) => {
    expect(problemsOf(`# Goals\n${nothing}\n`, 'Goals')).toEqual([ONLY_HEADINGS, empty('Goals')]);
    expect(problemsOf(`# Goals\n${nothing}\n\nand text\n`, 'Goals')).toEqual([]);
  });

  it('asks for text if it asks for no heading', () => {
    expect(problemsOf('text')).toEqual([]);
    expect(problemsOf('# Title\n## More')).toEqual([ONLY_HEADINGS]);
    expect(problemsOf('')).toEqual([EMPTY]);
  });

  it('refuses what is no text', () => {
    const refused = ['the document is not UTF-8 text'];
    expect(documentProblems(Uint8Array.from([0x23, 0x20, 0xff]), [])).toEqual(refused);
    expect(problemsOf('# Goals\n\0text')).toEqual(refused);
  });

  it.each([
    ['one line of marks', '#'],
    ['empty headings', '#\n'],
    ['headings', '# Goals\n'],
    ['quotes', '> '],
    ['quotes by line', '>>>>>>>>> a\n'],
    ['lists', '- '],
    ['comments that are never closed', '<!--'],
    ['comments in paragraphs', 'a <!-- b\n\n'],
    ['tags that are never closed', '<a'],
    ['fences', '```\n'],
    ['terminal sequences', '\u001b]0;title\u0007'],
    ['entities', '&#'],
    ['colons in a heading', ' :'],
    ['underlines', 'a\n=\n'],
  ])('says nothing of the text and comes to an end: %s', ALL, (_title, part) => {
    const text = `${part === ' :' ? '# ' : ''}${part.repeat(Math.floor((256 * 1024) / part.length))}x`;
    const all = problemsOf(text, 'Other').join('\n');
    expect(all).toContain(missing('Other'));
    expect(all).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]|title|Goals/);
  });
});
