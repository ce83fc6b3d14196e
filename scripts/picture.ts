// Writes docs/picture.svg from a real run of the demo whose engine is killed and resumed: `npm run picture`.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { widthOf } from '../src/cli/render/cells.ts';
import { renderFrame } from '../src/cli/board/frame.ts';
import type { BoardView } from '../src/cli/board/view.ts';
import { runEventSchema, type RunEvent } from '../src/model/run-event.ts';
import { viewAfter } from '../test/cli/board/recorded-run.ts';

// The picture does not say where it was made.
process.env['TZ'] = 'UTC';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SIZE = { columns: 90, rows: 24, colour: true };
const [CHARACTER, LINE, MARGIN] = [8.4, 19, 16];
const COLOURS = { text: '#d6deeb', dim: '#7f8ea3', red: '#ff7b72', green: '#7ee787', yellow: '#e3b341' };
const CODES: Readonly<Record<string, keyof typeof COLOURS>> = { 31: 'red', 32: 'green', 33: 'yellow', 39: 'text' };

/** Lines of activity that the frame has room for. */
const ACTIVITY = 8;
const KEYS = [
  { key: '↑↓', does: 'scroll' },
  { key: 'tab', does: 'transcripts' },
  { key: 'p', does: 'pause' },
  { key: 'd', does: 'drain' },
  { key: 'q', does: 'leave' },
];

/** Plays `squad <args>` until it ends, or until an event after which it is killed. */
async function play(
  args: readonly string[],
  { cwd, state }: { cwd: string; state: string },
  killsAfter: (events: readonly RunEvent[]) => boolean,
): Promise<RunEvent[]> {
  const squad = spawn(process.execPath, [join(ROOT, 'bin/squad.cjs'), ...args, '--json'], {
    cwd,
    env: { ...process.env, XDG_STATE_HOME: state },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<string>((resolve) => squad.once('close', (code, signal) => resolve(signal ?? `${code}`)));
  const events: RunEvent[] = [];
  let isKilled = false;
  for await (const line of createInterface({ input: squad.stdout })) {
    const event = runEventSchema.safeParse(JSON.parse(line)).data;
    if (event === undefined || isKilled) continue;
    events.push(event);
    if (killsAfter(events)) isKilled = squad.kill('SIGKILL');
  }
  const how = await ended;
  if (how !== (isKilled ? 'SIGKILL' : '0')) throw new Error(`squad ${args.join(' ')} ended with ${how}`);
  return events;
}

/** Both builders have said or done something. */
function atWork(events: readonly RunEvent[]): boolean {
  return new Set(events.flatMap((event) => (event.type === 'tool-started' ? [event.agent] : []))).size >= 3;
}

/** The last moment that still shows the resume, and of those the one when most turns run. */
function bestView(before: readonly RunEvent[], after: readonly RunEvent[]): BoardView {
  const all = after.map((_, index) => viewAt(before, after.slice(0, index + 1)));
  const views = all.filter(({ state }) =>
    state.activity.slice(-ACTIVITY).some(({ text }) => text.startsWith('resumes ')),
  );
  const live = (view: BoardView): number => [...view.state.live.values()].filter(({ kind }) => kind === 'turn').length;
  const most = Math.max(...views.map(live));
  const best = views.findLast((view) => live(view) === most);
  if (best === undefined || most === 0) throw new Error('no turn ran after the resume; run it again');
  return best;
}

/** As `squad resume` shows it: the time is that of both engines, and a cost that no turn reported is unknown. */
function viewAt(before: readonly RunEvent[], after: readonly RunEvent[]): BoardView {
  const { progress, ...view } = viewAfter([...before, ...after], 0);
  const spans = [before, after].map((events) => (events.at(-1)?.at ?? 0) - (events[0]?.at ?? 0));
  const elapsedMs = spans.reduce((sum, span) => sum + span, 0);
  if (progress === undefined) throw new Error('there is no progress to show');
  const { turns, usage } = progress;
  const costUsd = usage.unknownCostTurns === turns.settled ? null : usage.costUsd;
  const taken = [...before, ...after].flatMap((event) =>
    event.type === 'attempt-taken' && event.kind === 'turn' ? [event.attemptId] : [],
  );
  // A turn that the next engine adopts is still one.
  const started = new Set(taken).size;
  const known = { ...progress, turns: { ...turns, started }, usage: { ...usage, costUsd }, elapsedMs };
  return { ...view, keys: KEYS, progress: known };
}

function svgOf(lines: readonly string[]): string {
  const width = Math.ceil(SIZE.columns * CHARACTER + 2 * MARGIN);
  const height = lines.length * LINE + 2 * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>A run of the demo, whose engine was killed and resumed</title>',
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">',
    ...lines.flatMap((line, row) => textsOf(line, MARGIN + row * LINE + 14)),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** The parts of a line, each in its colour. */
function textsOf(line: string, y: number): string[] {
  const texts: string[] = [];
  let column = 0;
  let [colour, isBold, isDim]: [keyof typeof COLOURS, boolean, boolean] = ['text', false, false];
  // oxlint-disable-next-line no-control-regex
  for (const part of line.split(/(\u001b\[\d+m)/)) {
    const code = part.startsWith('\u001b') ? part.slice(2, -1) : undefined;
    if (code === undefined) {
      const style = `fill="${COLOURS[isDim ? 'dim' : colour]}"${isBold ? ' font-weight="bold"' : ''}`;
      texts.push(...wordsOf(part, column, y, style));
      column += widthOf(part);
    } else if (code === '1') isBold = true;
    else if (code === '2') isDim = true;
    else if (code === '22') [isBold, isDim] = [false, false];
    else colour = CODES[code] ?? 'text';
  }
  return texts;
}

/** Each run of words at its own column, so that no font can move it. */
function wordsOf(text: string, column: number, y: number, style: string): string[] {
  return [...text.matchAll(/\S+(?: \S+)*/g)].map((found) => {
    const [words] = found;
    const x = (MARGIN + (column + widthOf(text.slice(0, found.index))) * CHARACTER).toFixed(1);
    const length = (widthOf(words) * CHARACTER).toFixed(1);
    const safe = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    return `<text x="${x}" y="${y}" textLength="${length}" lengthAdjust="spacingAndGlyphs" ${style}>${safe}</text>`;
  });
}

const folder = mkdtempSync(join(tmpdir(), 'squad-picture-'));
try {
  const room = { cwd: folder, state: join(folder, 'state') };
  const before = await play(['demo', '--keep', folder], room, atWork);
  const after = await play(['resume'], { ...room, cwd: join(folder, 'greeting') }, () => false);
  const frame = renderFrame(bestView(before, after), SIZE);
  const shell = ['$ squad demo', '\u001b[2mKilled\u001b[22m', '$ squad resume'];
  writeFileSync(join(ROOT, 'docs/picture.svg'), svgOf([...shell, ...frame]));
  console.log([...shell, ...frame].map(stripVTControlCharacters).join('\n'));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
