import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { ERROR_CODES, errorText, isSquadError, SquadError, type ErrorCode } from '../../src/model/errors.ts';
import { FAILURE_KINDS } from '../../src/model/failure.ts';

const codes = Object.keys(ERROR_CODES) as ErrorCode[];

describe('SquadError', () => {
  it('is known across two copies of the package', async () => {
    vi.resetModules();
    const other = await import('../../src/model/errors.ts');
    const foreign = new other.SquadError({ code: 'usage', message: 'x' });
    expect(foreign).not.toBeInstanceOf(SquadError);
    expect(isSquadError(foreign)).toBe(true);
    expect(other.isSquadError(new SquadError({ code: 'usage', message: 'x' }))).toBe(true);
  });

  it.each([new Error('x'), { code: 'usage', message: 'x', exitCode: 2 }, null, undefined, 'usage', Symbol.for('x')])(
    'is not %s',
    (value) => {
      expect(isSquadError(value)).toBe(false);
    },
  );

  it.each(codes)('%s exits with its own code', (code) => {
    expect(new SquadError({ code, message: 'x' }).exitCode).toBe(ERROR_CODES[code]);
  });

  it('keeps its cause and its next step', () => {
    const cause = new Error('below');
    const error = new SquadError({ code: 'usage', message: 'above', next: 'do this', cause });
    expect(error).toMatchObject({ name: 'SquadError', message: 'above', next: 'do this', cause });
    expect(new SquadError({ code: 'usage', message: 'x' })).not.toHaveProperty('cause');
  });
});

it.each([
  [new Error('one'), 'one'],
  ['two', 'two'],
  [undefined, 'undefined'],
  [{ a: 1 }, '[object Object]'],
])('errorText of %s', (value, text) => {
  expect(errorText(value)).toBe(text);
});

describe('docs/errors.md', () => {
  const rows = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'));

  it.each(codes)('tells what %s means and how it exits', (code) => {
    const row = rows.find((line) => line.startsWith(`| \`${code}\` |`));
    expect(row?.split('|')[2]?.trim()).toBe(String(ERROR_CODES[code]));
    expect(row?.split('|')[3]?.trim()).toMatch(/\w.*\.$/);
  });

  it('tells of no code that is not there', () => {
    const told = rows.flatMap((line) => /^\| `([a-z-]+)` \| \d+ \|/.exec(line)?.[1] ?? []);
    expect(told.toSorted()).toEqual(codes.toSorted());
  });

  it.each(FAILURE_KINDS)('tells what to do about %s', (kind) => {
    expect(rows.filter((line) => line.split('|')[1]?.includes(`\`${kind}\``))).toHaveLength(1);
  });
});
