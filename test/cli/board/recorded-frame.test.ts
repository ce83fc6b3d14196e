import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderFrame } from '../../../src/cli/board/frame.ts';
import { BOARD_FIXTURES, recordedRun, viewAfter } from './recorded-run.ts';

process.env['TZ'] = 'UTC';

const events = recordedRun();
/** The middle of the run: one agent is at its limit, one works after a stall, one asked, and a review had rejected. */
const middle = events.findIndex((event) => event.type === 'question-answered') - 45;

const SIZES = [
  [80, 24],
  [120, 40],
  [200, 60],
  [45, 15],
] as const;

describe('a recorded run', () => {
  it.each(SIZES)('in the middle, at %d×%d', async (columns, rows) => {
    const lines = renderFrame(viewAfter(events.slice(0, middle), 20_000), { columns, rows, colour: false });
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(BOARD_FIXTURES, `${columns}x${rows}.txt`));
  });
});
