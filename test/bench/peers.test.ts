import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { between } from '../../bench/recovery/keep.ts';
import { cellOf, isFalse } from '../../bench/recovery/peers/cell.ts';
import { countTurns, piecesOn, type Facts } from '../../bench/recovery/peers/facts.ts';
import { SITUATIONS, type Situation } from '../../bench/recovery/peers/situations.ts';
import { peersTable } from '../../bench/recovery/peers/table.ts';
import type { ChaosTurn } from '../support/chaos-agent.ts';
import { createRepository, git } from '../support/git.ts';
import { ALL } from '../support/lane.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'peers-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function situation(name: Situation['name']): Situation {
  const found = SITUATIONS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no situation ${name}`);
  return found;
}

const DONE: Facts = {
  exit: 0,
  seconds: 7.2,
  claim: { done: true, words: 'all is done' },
  pieces: { there: 2, onMain: 0 },
  turns: { begun: 5, refused: 0, judges: 0, twice: 0, reviews: 2, usd: 0.5 },
  left: 0,
  tail: '',
};

describe('a cell of the table of peers', () => {
  it('a claim is false where a piece is missing, and true where none is', () => {
    const lie = { ...DONE, pieces: { there: 1, onMain: 1 } };
    expect([isFalse(DONE), isFalse(lie), isFalse({ ...lie, claim: { done: false, words: 'failed' } })]).toEqual([
      ...[false, true, false],
    ]);
    const cell = (first: Facts): string =>
      cellOf({ tool: 'x', situation: 'did-nothing', first }, situation('did-nothing'), undefined);
    expect(cell(DONE)).toBe('exit 0 after 7 s, says “all is done”, 2 of 2 pieces done, 5 turns.');
    expect(cell(lie)).toBe('exit 0 after 7 s, says “all is done”, which is **not true**, 1 of 2 pieces done, 5 turns.');
  });

  it('says what was refused, paid again, left alive, and what came after', () => {
    const first: Facts = {
      ...DONE,
      ...{ exit: 1, claim: { done: false, words: '' }, pieces: { there: 0, onMain: 0 }, left: 2 },
      turns: { ...DONE.turns, begun: 4, refused: 2 },
    };
    const after = { ...DONE, turns: { ...DONE.turns, begun: 7, twice: 1 }, words: 'the same command again' };
    const cell = cellOf({ tool: 'x', situation: 'usage-limit', first, after }, situation('usage-limit'), 'no waiting');
    expect(cell).toBe(
      'no waiting; exit 1 after 7 s, 0 of 2 pieces done, 4 turns (2 refused), 2 processes left alive. ' +
        'Then the same command again: exit 0, 2 of 2 pieces done, 3 more turns, 1 of them paid again.',
    );
  });

  it('no row is broken by what a tool says', () => {
    const first = { ...DONE, claim: { done: true, words: `\u001b[31ma | b\u001b[0m\n${'x'.repeat(300)}` } };
    const table = peersTable(
      [{ tool: { name: 'x', version: '1', lacks: {} } }, { name: 'y', version: '2', why: 'no network' }],
      [{ tool: 'x', situation: 'same-lines', first }],
    );
    expect(table.split('\n')).toHaveLength(3);
    for (const line of table.split('\n')) expect(line.split(' | ')).toHaveLength(3);
    expect(table).toContain('not installed: no network');
  });
});

describe('what is observed', () => {
  it('a turn is paid again if one with its label had answered before', () => {
    const turn = (pid: number, label?: string): ChaosTurn => ({
      ...{ as: 'claude', mode: 'honest', session: '', resumed: false, at: 0, pid },
      ...(label === undefined ? {} : { label }),
    });
    const turns = [turn(1, 'build left'), turn(2, 'build left'), turn(3, 'build left'), turn(4, 'judge'), turn(5)];
    // The first was cut short: only the third began what was done already.
    expect(countTurns(turns, new Set([2, 3, 4]), 0.9)).toEqual({
      ...{ begun: 5, refused: 0, judges: 1, twice: 1, reviews: 0, usd: 1.8 },
    });
  });

  it('a piece counts with its whole text on a branch that is named, and on no other', () => {
    const repository = createRepository(join(root, 'pieces'), { 'left.txt': 'left\n', 'right.txt': 'rig\n' });
    const usual = situation('did-nothing');
    expect(piecesOn(repository, ['main'], usual)).toBe(1);
    expect(piecesOn(repository, ['gone'], usual)).toBe(0);
    git(repository, 'checkout', '-q', '-b', 'other');
    git(repository, 'rm', '-q', 'left.txt');
    git(repository, 'commit', '-q', '-m', 'without');
    expect([piecesOn(repository, ['other'], usual), piecesOn(repository, ['other', 'main'], usual)]).toEqual([0, 1]);
  });

  it('a file with marks of a conflict holds nobody’s line', ALL, () => {
    const text = '<<<<<<< HEAD\ntitle: left\n=======\ntitle: right\n>>>>>>> other\n';
    const marked = createRepository(join(root, 'marked'), { 'shared.txt': text });
    const whole = createRepository(join(root, 'whole'), { 'shared.txt': 'title: left and right\n' });
    const one = createRepository(join(root, 'one'), { 'shared.txt': 'title: right\n' });
    const counts = [marked, whole, one].map((path) => piecesOn(path, ['main'], situation('same-lines')));
    expect(counts).toEqual([0, 2, 1]);
  });
});

it('one part of a page is replaced, and a page without its marks is refused', () => {
  const page = 'a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb';
  expect(between(page, 'x', 'new')).toBe('a\n<!-- x: begin -->\n\nnew\n\n<!-- x: end -->\nb');
  expect(() => between(page, 'y', 'new')).toThrow('y: begin');
});
