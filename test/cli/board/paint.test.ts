import { fc, test } from '@fast-check/vitest';
import { describe, expect, it, onTestFinished } from 'vitest';
import { paint, Screen } from '../../../src/cli/board/screen.ts';

const SIZE = { columns: 10, rows: 6 };

/** A terminal that knows what a painting may use, and nothing else. */
class Grid {
  readonly lines = Array.from({ length: SIZE.rows }, () => '#'.repeat(SIZE.columns));

  write(text: string): this {
    let row = 0;
    let column = 0;
    for (const [, command, character] of text.matchAll(/\u001b\[([\d;?]*[A-Za-z])|([^\u001b])/g)) {
      if (character !== undefined) this.#put(row, column++, character);
      else if (command?.endsWith('H')) [row, column] = [Math.min(Number(command.split(';')[0]), SIZE.rows) - 1, 0];
      else if (command === 'K') this.lines[row] = this.lines[row]!.slice(0, column);
      else if (command === 'J') this.lines.fill('', row);
      else expect(command).toMatch(/^\?(?:2026|7)[hl]$/);
    }
    return this;
  }

  #put(row: number, column: number, character: string): void {
    expect(column).toBeLessThan(SIZE.columns);
    const line = this.lines[row]!.padEnd(column);
    this.lines[row] = `${line.slice(0, column)}${character}${line.slice(column + 1)}`;
  }
}

const rows = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: SIZE.columns }), {
  maxLength: SIZE.rows,
});

describe('painting', () => {
  test.prop([fc.array(rows, { minLength: 1, maxLength: 5 })])('always ends with the rows that are wanted', (frames) => {
    const grid = new Grid();
    let shown: readonly string[] | undefined;
    for (const frame of frames) {
      grid.write(paint(shown, frame, SIZE));
      shown = frame;
      const wanted = Array.from({ length: SIZE.rows }, (_, index) => frame[index] ?? '');
      expect(grid.lines.map((line) => line.trimEnd())).toEqual(wanted.map((line) => line.trimEnd()));
    }
  });

  it('writes nothing where nothing has changed', () => {
    expect(paint(['one', 'two'], ['one', 'two'], SIZE)).toBe('');
  });

  it('writes only the rows that have changed, and clears none before it is written', () => {
    const text = paint(['one', 'two', 'three'], ['one', 'TWO', 'three'], SIZE);
    expect(text).toContain('\u001b[2;1HTWO\u001b[K');
    expect(text).not.toMatch(/one|three|\u001b\[\d*J/);
  });

  it('does not clear behind a full row, where the cursor stands on its last character', () => {
    expect(paint(undefined, ['0123456789'], SIZE)).toContain('0123456789\u001b[2;1H');
    expect(paint(undefined, ['日本語日本'], SIZE)).not.toContain('\u001b[K');
  });
});

describe('lines that were printed while another had the terminal', () => {
  it('are broken between words', () => {
    const written: string[] = [];
    const terminal = {
      colour: false,
      size: () => ({ columns: 24, rows: 9 }),
      write: (text: string) => void written.push(text),
      onResize: () => () => undefined,
      divert: () => () => undefined,
    };
    const screen = new Screen(terminal, { draw: () => [], onShown: () => () => undefined });
    onTestFinished(() => screen.close());
    screen.suspend();
    screen.print('note      it continues where it was');
    expect(written.join('')).not.toContain('note');
    screen.close();
    expect(written.join('')).toMatch(/note {6}it continues\n {10}where it was\n$/);
  });
});
