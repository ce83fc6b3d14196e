import * as fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { EMPTY_BOARD } from '../../../src/cli/board/board-state.ts';
import { renderFrame } from '../../../src/cli/board/frame.ts';
import { takeEvent, type BoardView } from '../../../src/cli/board/view.ts';
import { shownTeam } from '../../../src/view/sprint/shown-team.ts';
import { teamAfter } from '../../support/team-records.ts';
import { anyLine, anyRun } from './any-run.ts';
import { ALL } from '../../support/lane.ts';

const count = fc.option(fc.nat(10_000_000), { nil: null });
const progress = fc.record({
  tasks: fc.record({ all: fc.nat(200), ended: fc.nat(200) }),
  elapsedMs: fc.nat(1_000_000_000),
  turns: fc.record({ started: fc.nat(200), settled: fc.nat(200), lost: fc.nat(9), live: fc.nat(9) }),
  usage: fc.record({
    ...{
      inputTokens: count,
      outputTokens: count,
      costUsd: fc.option(fc.double({ min: 0, max: 900, noNaN: true }), { nil: null }),
    },
    ...{ unknownTurns: fc.nat(9), unknownCostTurns: fc.nat(9) },
  }),
});

const anyTeam = fc
  .record({ sprints: fc.nat(6), active: fc.boolean(), hostile: anyLine })
  .map((history) => shownTeam(teamAfter(history)));

const anyView: fc.Arbitrary<BoardView> = fc.record({
  team: fc.option(anyTeam, { nil: undefined }),
  state: anyRun.map((events) => events.reduce(takeEvent, EMPTY_BOARD)),
  now: fc.integer({ min: 0, max: 2_000_000_000_000 }),
  progress: fc.option(progress, { nil: undefined }),
  open: fc.option(fc.constantFrom('builder-1', 'reviewer', 'nobody'), { nil: undefined }),
  scrolled: fc.nat(2_000),
  keys: fc.array(fc.record({ key: fc.constant('q'), does: fc.constant('quit') }), { maxLength: 8 }),
  notice: fc.option(anyLine, { nil: undefined }),
});
const anySize = fc.record({ columns: fc.integer({ min: 1, max: 250 }), rows: fc.integer({ min: 1, max: 200 }) });

// oxlint-disable-next-line no-control-regex -- the only sequences that a frame may have
const SGR = /\u001b\[[0-9;]*m/g;
// oxlint-disable-next-line no-control-regex, no-misleading-character-class -- what a frame must not have
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

describe('the frame of any run in any terminal', { timeout: 60_000 }, () => {
  it('has no line too many, none too wide, and no control characters but colour', ALL, () => {
    const property = fc.property(anyView, anySize, fc.boolean(), (view, size, colour) => {
      const lines = renderFrame(view, { ...size, colour });
      expect(lines.length).toBeLessThanOrEqual(size.rows);
      for (const line of lines) {
        const plain = line.replaceAll(SGR, '');
        expect(stringWidth(plain), JSON.stringify(plain)).toBeLessThanOrEqual(size.columns);
        expect(plain).not.toMatch(CONTROL);
        if (!colour) expect(line).toBe(plain);
      }
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('says the same with and without colour', () => {
    const property = fc.property(anyView, anySize, (view, size) => {
      const coloured = renderFrame(view, { ...size, colour: true }).map((line) => line.replaceAll(SGR, ''));
      expect(coloured).toEqual(renderFrame(view, { ...size, colour: false }));
    });
    fc.assert(property, { numRuns: 100 });
  });
});
