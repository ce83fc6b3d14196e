import { describe, expect, it } from 'vitest';
import { fold } from '../../../src/cli/render/cells.ts';
import { onScreen } from '../../../src/cli/render/screen.ts';
import { PLAIN, type Style } from '../../../src/cli/render/style.ts';

const MARKED: Style = (format, text) => `<${String(format)}>${text}</>`;
const at = (columns: number | undefined, text: string): string[] =>
  onScreen([text], { columns: () => columns, style: PLAIN }, []).split('\n');

describe('lines on a terminal', () => {
  it.each<[what: string, columns: number | undefined, text: string, shown: string[]]>([
    ['fit', 40, '  done  a  It is short', ['  done  a  It is short']],
    ['have no terminal', undefined, 'x '.repeat(90).trimEnd(), ['x '.repeat(90).trimEnd()]],
    ['hang below their last cell', 24, '  said  one two three four', ['  said  one two three', '        four']],
    ['have no cells', 10, 'one two three', ['one two', 'three']],
    ['hold a command', 24, '  next  squad resume greeting --plain', ['  next  squad resume greeting --plain']],
    [
      'hold a path',
      24,
      '  at  /a/path/that/is/longer/than/the/screen it',
      ['  at  /a/path/that/is/longer/than/the/screen', '      it'],
    ],
    [
      'hold a path among words',
      24,
      '  said  see what /a/path/longer/than/that has in its lines',
      ['  said  see what', '        /a/path/longer/than/that', '        has in its lines'],
    ],
    ['have wide characters', 12, '  了  一二 三四 五六', ['  了  一二', '  三四 五六']],
  ])('that %s', (_, columns, text, shown) => {
    expect(at(columns, text)).toEqual(shown);
  });

  it('are broken between words where nothing gives them a colour, and as they are where they have one', () => {
    const note = 'note      closing this terminal stops the run\nshort';
    expect(fold(note, 30)).toBe('note      closing this\n          terminal stops the\n          run\nshort');
    expect(fold(note, undefined)).toBe(note);
    // The version of a program is no command of it.
    expect(fold('  git 2.39.5 is older than 2.43.7', 25)).toBe('  git 2.39.5 is older\n  than 2.43.7');
    const coloured = `\u001b[1m${note}\u001b[22m`;
    expect(fold(coloured, 30).split('\n')[0]).toBe(coloured.split('\n')[0]);
  });

  it('have the colour of the first pattern that is found', () => {
    const screen = { columns: () => undefined, style: MARKED };
    const colours = [
      [/^ok(?= )/, 'green'],
      [/ok/, 'red'],
    ] as const;
    expect(onScreen(['ok  one', 'not ok'], screen, colours)).toBe('<green>ok</>  one\nnot <red>ok</>');
  });
});
