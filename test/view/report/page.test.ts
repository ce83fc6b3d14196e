import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldPatch } from '../../../src/view/report/patch.ts';
import { timelineOf } from '../../../src/view/report/timeline.ts';
import { eventful, eventfulPage, EVIL, pageOf, stagesOf } from './pages.ts';
import { ALL, spread } from '../../support/lane.ts';

const TAG = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?: [a-zA-Z][\w-]*="[^"<>]*")*)(\/?)>/y;
const VOID = new Set(['meta']);
/** Nothing that loads, links, runs or styles is among them. */
const ATTRIBUTES = new Set(
  'lang charset http-equiv name content class tabindex role aria-label aria-labelledby scope id viewBox width height x y x1 x2 y1 y2 rx cx cy r patternUnits patternTransform text-anchor'.split(
    ' ',
  ),
);
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/u;

/** The elements in order, and the text. Throws where a browser would have to guess: stricter than HTML. */
function parse(page: string): { tags: string[]; text: string } {
  const body = page.replace('<!doctype html>', '').replace(/<style>[^<]*<\/style>/, '');
  const open: string[] = [];
  const tags: string[] = [];
  let text = '';
  for (let at = 0; at < body.length;) {
    if (body[at] !== '<') {
      const end = body.indexOf('<', at);
      text += body.slice(at, end === -1 ? undefined : end);
      at = end === -1 ? body.length : end;
      continue;
    }
    TAG.lastIndex = at;
    const [whole, closes, name = '', attributes = '', isEmpty] =
      TAG.exec(body) ?? fail(`no tag: ${body.slice(at, at + 80)}`);
    for (const [, attribute = ''] of attributes.matchAll(/ ([a-zA-Z][\w-]*)="[^"]*"/g))
      expect(ATTRIBUTES).toContain(attribute);
    if (closes === '/') expect(open.pop()).toBe(name);
    else tags.push(name);
    if (closes === '' && isEmpty === '' && !VOID.has(name)) open.push(name);
    at += whole.length;
  }
  expect(open).toEqual([]);
  expect(text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toMatch(/[&<>]/);
  return { tags, text: unescaped(text) };
}

function unescaped(text: string): string {
  const names: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => names[name] ?? '');
}

function fail(why: string): never {
  throw new Error(why);
}

describe('what others wrote on a page', () => {
  it('is text wherever it stands', async () => {
    const page = await pageOf(EVIL);
    const { tags, text } = parse(page);
    expect(page).not.toMatch(OBEYED);
    expect(new Set(tags)).not.toContain('script');
    expect(new Set(tags)).not.toContain('img');
    expect(text).toContain('<script>alert(1)</script><img src=http://evil.example/x.png onerror=alert(1)>');
    expect(text).toContain(String.raw`\u202egnp.exe`);
    // The same elements as around harmless text: nothing was added and nothing swallowed.
    expect(tags.filter((tag) => tag !== 'text')).toEqual(
      parse(await pageOf('xy')).tags.filter((tag) => tag !== 'text'),
    );
  });

  it('is text, whatever it is', ALL, async () => {
    const harmless = parse(await pageOf('xy')).tags.filter((tag) => tag !== 'text' && tag !== 'p');
    const bits = [
      '<',
      '>',
      '"',
      "'",
      '&',
      '</',
      '<!--',
      '-->',
      '<script>',
      ' onload=',
      'url(',
      '\u202e',
      '\u001b[',
      '\ud800',
      '`',
      '=',
    ];
    const hostile = fc.array(fc.oneof(fc.constantFrom(...bits), fc.string({ unit: 'binary' })), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(hostile, async (parts) => {
        const page = await pageOf(`x${parts.join('')}y`);
        expect(page).not.toMatch(OBEYED);
        expect(parse(page).tags.filter((tag) => tag !== 'text' && tag !== 'p')).toEqual(harmless);
      }),
      { numRuns: spread(40, 200) },
    );
  });

  it('is cut where it is long', async () => {
    const page = await pageOf('<\u202e'.repeat(500_000));
    parse(page);
    expect(page.length).toBeLessThan(200_000);
  });
});

describe('a page', () => {
  it('says first how it ended and which criteria are met, and loads nothing', async () => {
    const page = await eventfulPage();
    const { text } = parse(page);
    const headings = [...page.matchAll(/<h2>([^<]*)/g)].map(([, title]) => title);
    expect(headings.slice(0, 5)).toEqual(['Success criteria', 'Get the work', 'Changes', 'Timeline', 'Tasks']);
    expect(page).toContain('<strong class="good">met</strong>');
    expect(page).toMatch(/<details><summary><code>shelf<\/code> \(<span class="good">1 added/);
    expect(page).toContain('<span class="add">+tidy</span>');
    expect(page).toContain('content="default-src &#39;none&#39;; style-src');
    expect(page).not.toMatch(/https?:|src=|href=|<script|@import|url\((?!#)/);
    expect(text).toContain('63 s by the clock');
    expect(text).toContain('waited for a person');
  });

  it('says early which stages were reached, in which round and by whom', async () => {
    const page = await eventfulPage(stagesOf('IMPLEMENTATION'));
    const { text } = parse(page);
    const headings = [...page.matchAll(/<h2>([^<]*)/g)].map(([, title]) => title);
    expect(headings.slice(0, 3)).toEqual(['Success criteria', 'Stages', 'Get the work']);
    expect(text).toContain('Stage IMPLEMENTATION (2/3), live');
    expect(text).toMatch(/1\/3\s*✓ done\s*SPEC_REVIEW\s*round 2 of 4\s*rex/);
    expect(text).toMatch(/2\/3\s*◉ live\s*IMPLEMENTATION\s*–\s*bob, cyd/);
    expect(text).toMatch(/3\/3\s*○ waiting\s*COMPLETE: The end/);
  });

  it('keeps its elements whatever a stage is called', async () => {
    const tags = (page: string): string[] => parse(page).tags;
    const evil = await eventfulPage(stagesOf(EVIL));
    expect(evil).not.toMatch(OBEYED);
    expect(tags(evil)).toEqual(tags(await eventfulPage(stagesOf('xy'))));
  });

  it('draws turns by how they ended, and what the run waited for', () => {
    const run = eventful();
    const { lanes, waits } = timelineOf(run.read(), run.clock.time);
    expect(lanes.map(({ agent, bars }) => [agent, bars.map(({ kind, retry }) => [kind, retry])])).toEqual([
      [
        'bob',
        [
          ['limit', false],
          ['wall', true],
          ['completed', true],
        ],
      ],
      ['cyd', [['live', false]]],
    ]);
    expect(waits).toMatchObject([{ for: 'answer', why: 'a person has to log in' }]);
    expect((waits[0]?.until ?? 0) - (waits[0]?.from ?? 0)).toBe(60_000);
  });
});

describe('a diff', () => {
  it('is folded by file, and says what is missing', async () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `+${index}`);
    const patch = await foldPatch([
      ...['diff --git a/long b/long', '--- /dev/null', '+++ b/long', '@@ -0,0 +1,1000 @@', ...lines],
      ...['diff --git a/old name b/new name', 'similarity index 100%', 'rename from old name', 'rename to new name'],
      ...['diff --git a/gone b/gone', '--- a/gone', '+++ /dev/null', '@@ -1 +0,0 @@', '--- a/not-a-name'],
    ]);
    expect(patch.files.map(({ path, added, deleted, missing }) => ({ path, added, deleted, missing }))).toEqual([
      { path: 'long', added: 1_000, deleted: 0, missing: 603 },
      { path: 'new name', added: 0, deleted: 0, missing: 0 },
      { path: 'gone', added: 0, deleted: 1, missing: 0 },
    ]);
  });

  it('leaves files out beyond the bound', async () => {
    const lines = Array.from({ length: 300 }, (_, index) => `diff --git a/f${index} b/f${index}`);
    const { files, missing } = await foldPatch(lines);
    expect([files.length, missing]).toEqual([200, 100]);
  });
});
