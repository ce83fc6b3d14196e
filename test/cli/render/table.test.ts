import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { COLOURED } from '../../../src/cli/render/style.ts';
import { renderTable } from '../../../src/cli/render/table.ts';

test('puts cells below each other, whatever a character’s width', () => {
  const lines = renderTable({
    head: ['run', 'state'],
    rows: [
      ['登录表单', 'done'],
      ['login', 'running'],
    ],
  });
  expect(lines).toEqual(['run       state', '登录表单  done', 'login     running']);
});

test('cuts the widest column to the terminal, and no other', () => {
  const lines = renderTable({ rows: [['T-1', 'a title that is much too long for this place', 'done']], columns: 30 });
  expect(lines).toEqual(['T-1  a title that is mu…  done']);
});

test.each([1, 5, 12, 40])('never exceeds %i columns but for one character a cell', (columns) => {
  const rows = [
    ['登录表单登录表单', 'b'.repeat(30), 'c'.repeat(3)],
    ['', 'x', 'y'],
  ];
  const widest = Math.max(...renderTable({ rows, columns }).map((line) => stringWidth(line)));
  expect(widest).toBeLessThanOrEqual(Math.max(columns, 3 + 2 * 2));
});

test('counts colour as nothing', () => {
  const plain = renderTable({ rows: [['ok', 'x']] });
  const coloured = renderTable({ rows: [[COLOURED('green', 'ok'), 'x']] });
  expect(coloured.map((line) => stripVTControlCharacters(line))).toEqual(plain);
  expect(coloured).not.toEqual(plain);
});
