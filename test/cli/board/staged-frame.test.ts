import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { renderFrame } from '../../../src/cli/board/frame.ts';
import { takeEvent, type BoardView } from '../../../src/cli/board/view.ts';
import type { RunEvent } from '../../../src/model/run-event.ts';
import { some, SPREAD } from '../../support/lane.ts';
import { eventually, NO_TMUX, openTmuxRoom } from '../../support/tmux.ts';
import { BOARD_FIXTURES } from './recorded-run.ts';
import { stagedRun, stagedView } from './staged-run.ts';

process.env['TZ'] = 'UTC';

const PROGRAM = fileURLToPath(new URL('../../fixtures/cli/staged-board-program.ts', import.meta.url));
const FRAMES = ([3, 9, 12] as const).flatMap((place) =>
  (
    [
      [80, 24],
      [120, 40],
    ] as const
  ).map(([columns, rows]) => ({ place, columns, rows })),
);

function goldenOf({ place, columns, rows }: (typeof FRAMES)[number]): string {
  return join(BOARD_FIXTURES, `stage-${place}-${columns}x${rows}.txt`);
}

function frame(view: BoardView, columns: number, rows: number): string[] {
  return renderFrame(view, { columns, rows, colour: false });
}

describe('a run of thirteen stages', () => {
  it.each(FRAMES)('in stage $place, at $columns×$rows', async (of) => {
    const lines = frame(stagedView(stagedRun(of.place)), of.columns, of.rows);
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(goldenOf(of));
  });

  it.each(FRAMES)('is all there in stage $place, at $columns×$rows', ({ place, columns, rows }) => {
    const shown = frame(stagedView(stagedRun(place)), columns, rows);
    const text = shown.join('\n');
    expect(shown.length).toBeLessThanOrEqual(rows);
    expect(text).toContain('Let people sign in with a password and');
    expect(text).toMatch(/^Runtime \d\d:\d\d:\d\d \/ 08:00:00, \d\d:\d\d:\d\d left /m);
    expect(text).toMatch(new RegExp(`^Stage [A-Z_]+ \\(${place}/13\\) · for \\dm\\d\\ds `, 'm'));
    for (const name of ['pm', 'ba', 'writer', 'builder-1', 'builder-2', 'reviewer']) expect(text).toContain(name);
    const besideActivity = shown.filter((line) => !/^\d\d:\d\d:\d\d /.test(line)).join('\n');
    expect(besideActivity.match(/[✓◉○] [A-Z]/g)).toHaveLength(13);
    expect(shown.filter((line) => /^\d\d:\d\d:\d\d /.test(line)).length).toBeGreaterThanOrEqual(5);
    expect(shown.at(-1)).toMatch(/Ctrl-C stop, state saved$/);
  });

  it('counts each second, however long it runs', () => {
    const view = stagedView(stagedRun(9));
    const at = (elapsedMs: number): string =>
      frame({ ...view, progress: { ...view.progress!, elapsedMs } }, 80, 24)[1] ?? '';
    expect(at(9_255_000)).toContain('Runtime 02:34:15 / 08:00:00, 05:25:45 left');
    expect(at(9_256_000)).toContain('Runtime 02:34:16 / 08:00:00, 05:25:44 left');
    expect(at(30_000_000)).toContain('Runtime 08:20:00 / 08:00:00, 00:00:00 left');
  });

  it.each([
    [45, 15],
    [40, 10],
    [30, 8],
  ])('keeps its time, its stage and who works at %d×%d', (columns, rows) => {
    const text = frame(stagedView(stagedRun(9)), columns, rows).join('\n');
    expect(text).toMatch(/^Runtime 00:/m);
    expect(text).toMatch(/^Stage IMPLEMENTATION \(9\/13\)/m);
    expect(text).toMatch(/^● build/m);
    expect(text).toMatch(/◉ Implement/);
  });

  it('says which stage failed, and which comes next', () => {
    const events = stagedRun(12);
    const last = events.findLast((event) => event.type === 'stage-changed');
    const failed = {
      ...last!,
      change: 'state',
      stage: { ...last!.stage, state: 'failed', by: [], endedAt: last!.at },
    } as RunEvent;
    const text = frame(stagedView([...events, failed]), 80, 24).join('\n');
    expect(text).toMatch(/^Stage POST_REVIEW \(12\/13\) · failed · round 2 of 4$/m);
    expect(text).toMatch(/✗ Post Review 2\/4/);
    expect(text).toMatch(/stage +✗ POST_REVIEW \(12\/13\) failed, round 2 of 4/);
  });
});

describe('hostile text in a stage', () => {
  const EVIL = '\u001b[2J\u001b]0;owned\u0007\r\n◉ Spec\u202e (13/13)\u0000 <script>';
  const [stage] = stagedRun(3).flatMap((event) => (event.type === 'stage-changed' ? [event] : []));

  it.each([
    ['id', { id: EVIL }],
    ['title', { title: EVIL }],
    ['agent', { by: [EVIL], state: 'live' as const }],
    ['task', { tasks: [EVIL] }],
  ])('moves no line: %s', (_, more) => {
    const event: RunEvent = { ...stage!, stage: { ...stage!.stage, ...more } };
    const view = stagedView(stagedRun(3));
    const lines = frame({ ...view, state: takeEvent(view.state, event) }, 80, 24);
    expect(lines).toHaveLength(24);
    for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/u);
    expect(lines.filter((line) => line.startsWith('Stage '))).toHaveLength(1);
  });
});

const named = NO_TMUX === undefined ? '' : ` (left out: ${NO_TMUX})`;

describe.skipIf(NO_TMUX !== undefined)(`in a real terminal${named}`, { timeout: 60_000 }, () => {
  it.each(some(FRAMES, 1))('stage $place, at $columns×$rows, is the golden frame', SPREAD, async (of) => {
    const room = openTmuxRoom();
    onTestFinished(() => room.close());
    const size = ['-x', String(of.columns), '-y', String(of.rows)];
    const command = ['env', 'TZ=UTC', process.execPath, PROGRAM, String(of.place)];
    room.tmux('shown', 'new-session', '-d', '-s', 's', ...size, ...command);
    const golden = readFileSync(goldenOf(of), 'utf8').trimEnd();
    const seen = (): string => room.tmux('shown', 'capture-pane', '-p', '-t', 's').trimEnd();
    const shown = await eventually('the board', () => (/Ctrl-C/.test(seen()) ? seen() : undefined));
    expect(shown).toBe(golden);
  });
});
