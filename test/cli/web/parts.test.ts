import { describe, expect, it } from 'vitest';
import { isSquadError } from '../../../src/model/errors.ts';
import type { TaskState } from '../../../src/model/plan/board.ts';
import { requestSchema } from '../../../src/model/plan/verbs.ts';
import { numberedLines, type Review, reviewRequest, reviewSchema, reviewWayOf } from '../../../src/cli/web/review.ts';
import { routeOf } from '../../../src/cli/web/routes.ts';
import { refusalOf } from '../../../src/studio/guard.ts';
import { foldPatch } from '../../../src/view/report/patch.ts';
import { newWork } from '../../../src/rules/work.ts';

const ENDS: ReadonlySet<string> = new Set(['done', 'failed', 'skipped']);

describe('addresses of the live page', () => {
  it.each<[string, string, object | undefined]>([
    ['GET', '/', { to: 'runs' }],
    ['HEAD', '/?x=1', { to: 'runs' }],
    ['GET', '/events?since=a.1', { to: 'runs-events' }],
    ['GET', '/page.js', { to: 'asset', name: 'page.js' }],
    ['GET', '/page.css', { to: 'asset', name: 'page.css' }],
    ['GET', '/page.mjs', undefined],
    ['GET', '/repo-1/run-1', { to: 'run-folder', repository: 'repo-1', run: 'run-1' }],
    ['GET', '/repo-1/run-1/', { to: 'run', repository: 'repo-1', run: 'run-1' }],
    ['GET', '/repo-1/run-1/events', { to: 'run-events', repository: 'repo-1', run: 'run-1' }],
    ['GET', '/repo-1/run-1/turns/run.1.a-1', { to: 'turn', repository: 'repo-1', run: 'run-1', attempt: 'run.1.a-1' }],
    ['GET', '/repo-1/run-1/turns/', undefined],
    [
      'GET',
      '/repo-1/run-1/turns/a/events?since=a.1',
      { to: 'turn-events', repository: 'repo-1', run: 'run-1', attempt: 'a' },
    ],
    ['GET', '/repo-1/run-1/turns/a/b', undefined],
    ['GET', '/repo-1/run-1/turns', undefined],
    ['GET', '/repo-1/run-1/turns/a/events/b', undefined],
    ['GET', '/repo-1/run-1/diff', { to: 'diff', repository: 'repo-1', run: 'run-1' }],
    ['GET', '/repo-1/run-1/diff/events?since=', { to: 'diff-events', repository: 'repo-1', run: 'run-1' }],
    ['GET', '/repo-1/run-1/diff/', undefined],
    ['GET', '/repo-1/run-1/constructor', undefined],
    ['POST', '/repo-1/run-1/diff/events', undefined],
    ['GET', '/repo-1/run-1/answer', undefined],
    ['GET', '//run/', undefined],
    ['GET', '/%e0%a4%a/x/', undefined],
    ['POST', '/repo-1/run-1/answer', { to: 'act', repository: 'repo-1', run: 'run-1', act: 'answer' }],
    ['POST', '/repo-1/run-1/', undefined],
    ['POST', '/', undefined],
    ['PUT', '/repo-1/run-1/answer', undefined],
    ['OPTIONS', '/', undefined],
  ])('%s %s', (method, target, route) => {
    expect(routeOf(method, target)).toEqual(route);
  });
});

describe('whom the live page answers', () => {
  const guarded = { command: 'squad watch --web', origins: 'own', foreign: 'its own pages only.' } as const;
  const ask = (...more: string[]) =>
    refusalOf(
      {
        method: 'POST',
        target: '/r/x/tell',
        rawHeaders: ['Host', '127.0.0.1:4100', 'Content-Type', 'application/json', ...more],
      },
      guarded,
    );

  it('its own pages, and programs without an origin', () => {
    expect(ask('Origin', 'http://127.0.0.1:4100')).toBeUndefined();
    expect(ask()).toBeUndefined();
  });

  it.each([
    'https://evil.example',
    'http://127.0.0.1:4101',
    'http://localhost:4100',
    'https://127.0.0.1:4100',
    'http://127.0.0.1:4100.evil.example',
    'null',
    '',
  ])('no page of %s', (origin) => {
    expect(ask('Origin', origin)).toBe('its own pages only.');
  });

  it('no form or image of another page', () => {
    expect(ask('Sec-Fetch-Site', 'cross-site')).toBe('its own pages only.');
    expect(refusalOf({ method: 'GET', target: '/', rawHeaders: ['Host', 'evil.example'] }, guarded)).toMatch(
      /^squad watch --web answers to 127\.0\.0\.1/,
    );
  });
});

describe('a review of lines', async () => {
  const patch = await foldPatch([
    ...[
      'diff --git a/a.txt b/a.txt',
      '--- a/a.txt',
      '+++ b/a.txt',
      '@@ -1,3 +1,3 @@',
      ' one',
      '-two',
      '+TWO',
      ' three',
    ],
    ...['@@ -90,2 +90,3 @@ x', ' ninety', '+new', '\\ No newline at end of file'],
  ]);
  const work = { task: 'a', commit: 'c'.repeat(40), patch };
  const comment = (line: number, quote: string, text = 'why?') => ({
    path: 'a.txt',
    line,
    deleted: false,
    quote,
    text,
  });
  const review = (...comments: Review['comments']): Review => ({ task: 'a', now: false, comments });
  const way = { verb: 'retry', author: 'builder-1', about: '', interrupts: false } as const;

  it('numbers the lines as the file has them now, and deleted ones as it had them before', () => {
    const [file] = patch.files;
    const numbered = numberedLines(file ?? { lines: [] }).flatMap(({ text, number, deleted }) =>
      number === undefined ? [] : [[deleted ? -number : number, text]],
    );
    expect(numbered).toEqual([
      ...[
        [1, ' one'],
        [-2, '-two'],
        [2, '+TWO'],
        [3, ' three'],
      ],
      ...[
        [90, ' ninety'],
        [91, '+new'],
      ],
    ]);
  });

  it('goes out as one command with every comment, which the run takes', () => {
    const both = review(comment(2, 'TWO', 'Say "2".'), comment(91, 'new'));
    const sent = reviewRequest(both, work, way);
    expect(sent).toMatchObject({ verb: 'retry', task: 'a' });
    expect('note' in sent && sent.note).toMatch(
      /2 comments[^]*1\. a\.txt:2: `TWO`\nSay "2"\.\n\n2\. a\.txt:91: `new`\nwhy\?$/,
    );
    const note = reviewRequest({ ...both, now: true }, work, { ...way, verb: 'tell', interrupts: true });
    expect(note).toMatchObject({ verb: 'tell', agent: 'builder-1', now: true });
    for (const request of [sent, note]) expect(requestSchema.safeParse(request).success).toBe(true);
  });

  it('tells a deleted line from the one that has its number now', () => {
    const deleted = { ...comment(2, 'two', 'Keep it.'), deleted: true };
    const sent = reviewRequest(review(deleted, comment(2, 'TWO')), work, way);
    expect('note' in sent && sent.note).toMatch(
      /1\. a\.txt:2 before your change, a line that you deleted: `two`\nKeep it\.\n\n2\. a\.txt:2: `TWO`/,
    );
    for (const wrong of [
      { ...deleted, quote: 'TWO' },
      { ...deleted, line: 3, quote: 'three' },
      { ...comment(1, 'one'), deleted: true },
    ]) {
      expect(() => reviewRequest(review(wrong), work, way)).toThrow(/is gone from the work/);
    }
  });

  it.each<[string, Review['comments'][number], typeof work | undefined]>([
    ['a line that is past the end', comment(4, 'four'), work],
    ['a line that has changed', comment(2, 'two'), work],
    ['a line of a file that is gone', { ...comment(1, 'one'), path: 'b.txt' }, work],
    ['a line of work that is gone', comment(1, 'one'), undefined],
  ])('is refused as a whole for %s', (_, wrong, now) => {
    let error: unknown;
    try {
      reviewRequest(review(comment(1, 'one'), wrong), now, way);
    } catch (thrown) {
      error = thrown;
    }
    expect(isSquadError(error) && error.code).toBe('usage');
    expect((error as Error).message).toMatch(/^line \d+ of [ab]\.txt is gone/);
  });

  it('is refused where it is longer than a note, or has no comment', () => {
    const long = review(...Array.from({ length: 3 }, () => comment(1, 'one', 'x'.repeat(3_000))));
    expect(() => reviewRequest(long, work, way)).toThrow(/has|have \d+ characters/);
    for (const comments of [[], [comment(1, 'one', ' ')], [comment(0, 'one')]]) {
      expect(reviewSchema.safeParse({ task: 'a', comments }).success).toBe(false);
    }
  });

  it.each<[string, string, boolean, RegExp]>([
    ['working', 'tell', true, /reads your comments in its next turn\.$/],
    ['reviewing', 'retry', false, /goes back to its author/],
    ['gathering', 'tell', false, /is being checked and delivered/],
    ['in-queue', 'tell', false, /is being checked and delivered/],
    ['done', 'tell', false, /is delivered and stays as it is/],
    ['failed', 'retry', false, /squad tries it again/],
    ['skipped', 'retry', false, /squad tries it again/],
  ])('reaches the author of a task that is %s by %s', (at, verb, interrupts, about) => {
    const phase = ENDS.has(at) ? { at: 'ended', as: at, why: '', cause: null } : { at };
    const state = { task: { id: 'a' }, work: { ...newWork(), authors: ['builder-1'], phase } } as unknown as TaskState;
    expect(reviewWayOf(state)).toEqual({
      ...{ verb, interrupts, author: 'builder-1' },
      about: expect.stringMatching(about) as string,
    });
    expect(
      reviewWayOf({ ...state, work: { ...state.work, authors: [], author: { ...state.work.author, thread: null } } }),
    ).toBeUndefined();
  });
});
