import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NO_BROWSER, openBrowserPage, type BrowserPage } from '../../support/browser.ts';
import { eventfulPage, EVIL, pageOf, stagesOf } from '../../view/report/pages.ts';
import { ALL } from '../../support/lane.ts';

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const WIDTHS = [320, 1600];
const SCHEMES = ['light', 'dark'] as const;
/** What the keyboard reaches, in the order of the page. */
const FOCUSABLE = `[...document.querySelectorAll('summary, [tabindex="0"]')].filter((one) => one.checkVisibility())`;
const NAME = `((one) => one.getAttribute('aria-label') ?? one.textContent)`;

/** A run's, and two with hostile texts, one of them in its stages. */
const makePages = async (): Promise<string[]> => [
  await eventfulPage(),
  await pageOf(EVIL),
  await eventfulPage(stagesOf(EVIL)),
];
const named = NO_BROWSER === undefined ? '' : ` (left out: ${NO_BROWSER})`;

describe.skipIf(NO_BROWSER !== undefined)(`report.html in a browser${named}`, { timeout: 120_000 }, () => {
  let browser: BrowserPage;
  beforeAll(async () => {
    browser = await openBrowserPage();
  }, 120_000);
  afterAll(() => browser?.close(), 60_000);

  const everyView = WIDTHS.flatMap((width) => SCHEMES.map((scheme) => ({ width, scheme })));

  it('asks for nothing', async () => {
    for (const html of await makePages()) {
      await browser.show(html);
      expect(browser.requests()).toEqual([]);
    }
    // A page that does ask is noticed.
    await browser.show('<!doctype html><img src="other.png">');
    expect(browser.requests()).toEqual([expect.stringMatching(/other\.png$/)]);
  });

  it.each(everyView)('has no fault of accessibility at $width px, $scheme', ALL, async ({ width, scheme }) => {
    await browser.resize(width, 800);
    await browser.colours(scheme);
    for (const html of await makePages()) {
      await browser.show(html);
      await browser.value('for (const one of document.querySelectorAll("details")) one.open = true');
      await browser.value(AXE);
      const found = await browser.value(
        'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`))',
      );
      expect(found).toEqual([]);
    }
  });

  it.each(WIDTHS)('fits into %d px, and shows what counts', async (width) => {
    await browser.resize(width, 800);
    for (const html of await makePages()) {
      await browser.show(html);
      await browser.value('for (const one of document.querySelectorAll("details")) one.open = true');
      expect(await browser.value('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    }
    await browser.show(await eventfulPage());
    const text = String(await browser.value('document.body.innerText'));
    expect(text).toMatch(/Success criteria[^]*met[^]*tests pass/);
    // The size of the letters, and the length of a line.
    expect(await browser.value('parseFloat(getComputedStyle(document.body).fontSize)')).toBeGreaterThanOrEqual(15);
    expect(await browser.value('document.querySelector("main").getBoundingClientRect().width')).toBeLessThanOrEqual(
      1200,
    );
  });

  it('is reached by the keyboard, in order, and shows where it is', async () => {
    await browser.resize(320, 800);
    await browser.show(await eventfulPage());
    const expected = await browser.value(`${FOCUSABLE}.map(${NAME})`);
    const reached: unknown[] = [];
    for (const _ of expected as unknown[]) {
      await browser.press('Tab');
      reached.push(await browser.value(`${NAME}(document.activeElement)`));
      expect(await browser.value('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none');
    }
    expect(reached).toEqual(expected);
    expect(reached.length).toBeGreaterThan(5);
  });

  it('scrolls what is wide, and opens what is folded, by the keyboard', async () => {
    await browser.resize(320, 800);
    await browser.show(await eventfulPage());
    await browser.value(`document.querySelector('[aria-label="Timeline"]').focus()`);
    // A browser on a busy machine scrolls nothing before its first frame, and drops the key.
    const scrolled = async (): Promise<void> => {
      await browser.press('ArrowRight');
      expect(await browser.value(`document.activeElement.scrollLeft`)).toBeGreaterThan(0);
    };
    await vi.waitFor(scrolled, { timeout: 20_000, interval: 100 });
    await browser.value(`document.querySelector('summary').focus()`);
    await browser.press('Enter');
    expect(await browser.value(`document.querySelector('details').open`)).toBe(true);
    expect(await browser.value(`document.querySelector('pre.diff').checkVisibility()`)).toBe(true);
  });
});
