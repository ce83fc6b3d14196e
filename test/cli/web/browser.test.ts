// @module-tag all
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { NO_BROWSER, openBrowserPage, type BrowserPage } from '../../support/browser.ts';
import { openWebBench, type WebBench } from './web-bench.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const VIEWS = [320, 1600].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ width, scheme })));
const named = NO_BROWSER === undefined ? '' : ` (left out: ${NO_BROWSER})`;

describe.skipIf(NO_BROWSER !== undefined)(`the live page in a browser${named}`, { timeout: 300_000 }, () => {
  let bench: WebBench;
  let browser: BrowserPage;
  beforeAll(async () => {
    bench = openWebBench();
    browser = await openBrowserPage();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    bench?.end();
  }, 60_000);

  const waitFor = async (expression: string): Promise<void> =>
    vi.waitFor(async () => expect(await browser.value(expression), expression).toBeTruthy(), {
      timeout: 60_000,
      interval: 50,
    });
  const says = async (text: string): Promise<void> =>
    waitFor(`document.body.innerText.includes(${JSON.stringify(text)})`);
  const focus = async (selector: string): Promise<void> => {
    await waitFor(`document.querySelector(${JSON.stringify(selector)})`);
    const opened = `for (let up = one; up; up = up.parentElement) if (up.localName === 'details') up.open = true`;
    await browser.value(`{ const one = document.querySelector(${JSON.stringify(selector)}); ${opened}; one.focus() }`);
  };
  const type = async (selector: string, text: string): Promise<void> => {
    await focus(selector);
    await browser.value('document.activeElement.value = ""');
    await browser.type(text);
  };
  const press = async (selector: string): Promise<void> => {
    await focus(selector);
    await browser.press('Enter');
  };
  const looksRight = async (): Promise<void> => {
    for (const { width, scheme } of VIEWS) {
      await browser.resize(width, 900);
      await browser.colours(scheme);
      await browser.value(
        'globalThis.shut = [...document.querySelectorAll("details:not([open])")]; for (const one of shut) one.open = true',
      );
      await browser.value(AXE);
      const found = await browser.value(
        'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200))}`))',
      );
      expect({ width, scheme, found }).toEqual({ width, scheme, found: [] });
      expect(await browser.value('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      // A finger has to meet them.
      const low =
        '[...document.links].map((one) => one.getBoundingClientRect().height).filter((high) => high > 0 && high < 24)';
      expect(await browser.value(low)).toEqual([]);
      await browser.value('for (const one of shut) one.open = false');
    }
  };

  it('takes a changed plan, an approval, a note and a review, all by the keyboard, and follows the run', async () => {
    expect((await bench.runAll()).code).toBe(3);
    const web = await bench.serve();
    await browser.open(web.url);
    await looksRight();

    // The planner changes its plan, and a person approves it.
    await type('form[data-act="answer"] textarea[name="answer"]', 'say why');
    await press('form[data-act="answer"]:has(textarea[name="answer"]) button');
    await says('plan-1 is answered.');
    expect((await bench.run(['resume', '--json'])).code).toBe(3);
    await says('Approve the plan? 1 task');
    await waitFor('document.querySelector("#question-plan-2")');
    await looksRight();
    await press('button[value="approve"]');
    await says('plan-2 is answered.');

    // What a person types stays while the agent works, and the page hears of that.
    const engine = bench.start(['resume', '--json']);
    await waitFor('document.querySelector("#agent-builder-1-note")');
    await type('#agent-builder-1-note', 'use tabs');
    await browser.value(
      `globalThis.heard = 0; new MutationObserver(() => { globalThis.heard += 1 }).observe(document.querySelector('#news'), { childList: true, subtree: true, characterData: true })`,
    );
    const said = await engine.line(({ type: of, text }) => of === 'text' && text === 'I look around first.');
    await waitFor('document.querySelector("#agents").textContent.includes("I look around first.")');
    expect(Date.now() - Number(said['at'])).toBeLessThan(5_000);
    expect(await browser.value('document.activeElement.value')).toBe('use tabs');
    await browser.value('document.querySelector(\'[data-key="agent-builder-1"] input[name="now"]\').checked = true');
    await looksRight();
    await press('[data-key="agent-builder-1"] form button');
    await says('builder-1 is interrupted and continues with the note');
    await waitFor('document.querySelector("#agents").textContent.includes("I was told.")');

    // A comment on a line that is there, and one on a line that is not.
    await waitFor('document.querySelector("#works").textContent.includes("+three")');
    await waitFor('document.querySelector("#works").textContent.includes("goes back to its author")');
    await type('form[data-comment] input', '99');
    await type('form[data-comment] textarea', 'In capitals, please.');
    await press('form[data-comment] button');
    await says('Line 99 of a.txt is not among the lines that are shown.');
    await type('form[data-comment] input', '2');
    await press('form[data-comment] button');
    await says('Added to the review of a: line 2 of a.txt.');
    // A deleted line has the number that it had.
    await type('form[data-comment="b.txt"] input', '-1');
    await type('form[data-comment="b.txt"] textarea', 'It may go.');
    await press('form[data-comment="b.txt"] button');
    await says('Added to the review of a: line -1 of b.txt.');
    await looksRight();
    await press('form[data-act="review"] .buttons button');
    await says('a is retried');
    // Not a word for each step of an agent.
    expect(await browser.value('globalThis.heard')).toBeLessThan(8);

    // The page of a turn at work follows it to its end, without being loaded again.
    const atWork =
      '[...document.querySelectorAll("#agents li")].find((one) => one.textContent.includes("a-5: at work"))';
    await waitFor(atWork);
    await browser.value(`${atWork}.querySelector("a").id = "at-work"`);
    await press('#at-work');
    await waitFor('document.querySelector("#steps")?.textContent.includes("not over")');
    await looksRight();
    // A low list that is at its end stays there.
    await browser.value(
      `{ globalThis.isSame = true; const low = new CSSStyleSheet(); low.replaceSync('.steps { max-height: 2rem !important }'); document.adoptedStyleSheets = [low] }`,
    );
    await browser.value('{ const one = document.querySelector("#steps .steps"); one.scrollTop = one.scrollHeight }');
    const before = Date.now();
    writeFileSync(bench.gates.review, '');
    await waitFor('document.querySelector("#steps").textContent.includes("git log")');
    expect(Date.now() - before).toBeLessThan(5_000);
    await says('has ended: completed');
    expect(await browser.value('globalThis.isSame')).toBe(true);
    const list = 'document.querySelector("#steps .steps")';
    expect(await browser.value(`${list}.scrollHeight > ${list}.clientHeight`)).toBe(true);
    expect(await browser.value(`${list}.scrollHeight - ${list}.clientHeight - ${list}.scrollTop`)).toBeLessThan(9);
    await browser.value('document.adoptedStyleSheets = []');
    await looksRight();
    expect((await engine.finished).code).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('one\nTWO\nthree');

    await browser.open(web.url);
    await says('make-things: DONE');
    await looksRight();
    const { origin } = new URL(web.url);
    expect(browser.requests().filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);

    // All that the run has delivered, and the list of runs.
    await press('a[href="diff"]');
    await waitFor('document.querySelector("#files")?.textContent.includes("+TWO")');
    await looksRight();
    await press('nav a');
    await waitFor('document.querySelector(".cards a")');
    await looksRight();
  });

  it('takes a person’s own version of a plan, after one that cannot be used', async () => {
    for (const gate of Object.values(bench.gates)) writeFileSync(gate, '');
    expect((await bench.runAll(['--name', 'second'])).code).toBe(3);
    const web = await bench.serve('second');
    await browser.open(web.url);
    const area = 'form[data-act="answer"] textarea[name="plan"]';
    await waitFor(`document.querySelector('${area}')?.value.includes('Make a <b>bold</b> one')`);
    const plan = String(await browser.value(`document.querySelector('${area}').value`));
    await type(area, plan.replace('role: builder', 'role: wizard'));
    await press(`form[data-act="answer"]:has(textarea[name="plan"]) button`);
    await says('the edited plan cannot be used');
    expect(await browser.value(`document.querySelector('${area}').value`)).toContain('wizard');
    await type(area, plan.replace('<b>bold</b>', 'modest'));
    await press(`form[data-act="answer"]:has(textarea[name="plan"]) button`);
    await says('plan-1 is answered.');

    // A page of elsewhere reaches nothing.
    await browser.show('<!doctype html><title>x</title>');
    const body = JSON.stringify({ key: 'k'.repeat(10), agent: 'builder-1', text: 'stolen', now: false });
    for (const headers of ['{}', `{ 'content-type': 'application/json' }`]) {
      const sent = `fetch('${web.url}tell', { method: 'POST', headers: ${headers}, body: ${JSON.stringify(body)} }).then(() => 'sent', () => 'refused')`;
      expect(await browser.value(sent)).toBe('refused');
    }
    expect(JSON.stringify(await bench.status())).not.toContain('stolen');
    expect((await bench.run(['resume', '--json'])).code).toBe(0);
  });
});
