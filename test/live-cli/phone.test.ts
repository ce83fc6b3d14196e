import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { NO_BROWSER, openBrowserPage } from '../support/browser.ts';
import { git } from '../support/git.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY } from './codex-harness.ts';
import { openProjectRoom, type ProjectRoom } from './real-project-room.ts';
import { COMPONENTS, SENTENCE, steeredTurns } from './real-project-script.ts';
import { expectDone, expectInit, expectMerged } from './real-project-steps.ts';
import { createGate } from './turn-scripts.ts';

const CLIS = CLAUDE_BINARY === undefined || CODEX_BINARY === undefined ? 'a CLI is missing' : undefined;
const LEFT_OUT = CLIS ?? NO_BROWSER;
const LAUNCHER = fileURLToPath(new URL('../../bin/squad.cjs', import.meta.url));
const WORD = 'write it in euros';

it.skipIf(LEFT_OUT !== undefined)(
  `a Vite project on a phone: the plan is approved, a builder is told something, and the work is merged${LEFT_OUT === undefined ? '' : ` (left out: ${LEFT_OUT})`}`,
  { timeout: 900_000 },
  async () => {
    const gate = createGate(1);
    const room = await openProjectRoom(steeredTurns(WORD, gate));
    onTestFinished(room.close, 300_000);
    onTestFinished(gate.open);
    await expectInit(room);

    // It asks, and says where one can answer.
    const asks = await room.squad(['run', SENTENCE, '--yes', '--plan', 'ask']);
    expect(asks.code, asks.output).toBe(3);
    expect(asks.output).toContain('squad watch --web');

    const page = await openPhone(room);
    await page.says('Price', 'Stock', 'Delivery', 'npm test');
    await page.press('button[value="approve"]');
    const [, resume = ''] = (await page.says(/No engine is running\. Next: squad (resume \S+)/)) ?? [];

    const run = room.squad(resume.split(' '));
    await gate.reached;
    const author = room.attempts().find(({ taskId, status }) => taskId === 'price' && status !== 'settled');
    const form = `[data-key="agent-${author?.agent}"]`;
    await page.value(`document.querySelector('${form} input[name="now"]').checked = true`);
    await page.type(`${form} textarea`, WORD);
    await page.press(`${form} form button`);
    await page.says(`${author?.agent} is interrupted and continues with the note`);

    expectDone(room, await run, 1 + COMPONENTS.length);
    await page.says('DONE');
    await expectMerged(room);
    expect(git(room.clone, 'show', 'HEAD:src/Price.jsx')).toContain('EUR');
    expect(room.model.strange).toEqual([]);
  },
);

/** `squad watch --web` in a browser with a small screen, where all is touched. */
async function openPhone({ clone, environment }: ProjectRoom) {
  const web = spawn(process.execPath, [LAUNCHER, 'watch', '--web'], {
    cwd: clone,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void web.kill('SIGTERM'));
  let said = '';
  web.stdout.setEncoding('utf8').on('data', (text: string) => void (said += text));
  const url = await vi.waitFor(() => /http:\/\/\S+/.exec(said)?.[0] ?? expect.fail(said), { timeout: 60_000 });
  const browser = await openBrowserPage();
  onTestFinished(async () => browser.close());
  await browser.resize(375, 667);
  await browser.open(url);
  const text = async (): Promise<string> => String(await browser.value('document.body.innerText'));
  const find = async (selector: string): Promise<void> => {
    const one = `document.querySelector(${JSON.stringify(selector)})`;
    await vi.waitFor(async () => expect(await browser.value(`${one} !== null`), selector).toBe(true), {
      timeout: 60_000,
    });
    const opened = `for (let up = ${one}; up; up = up.parentElement) if (up.localName === 'details') up.open = true`;
    await browser.value(`{ ${opened}; ${one}.scrollIntoView(); ${one}.focus() }`);
  };
  const fits = async (): Promise<void> => {
    expect(await browser.value('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375);
  };
  return {
    value: async (expression: string) => browser.value(expression),
    says: async (...parts: readonly (string | RegExp)[]): Promise<RegExpExecArray | null> => {
      const last = await vi.waitFor(
        async () => {
          const shown = await text();
          for (const part of parts) expect(shown).toMatch(part);
          const pattern = parts.at(-1);
          return pattern instanceof RegExp ? pattern.exec(shown) : null;
        },
        { timeout: 120_000, interval: 200 },
      );
      await fits();
      return last;
    },
    type: async (selector: string, words: string): Promise<void> => {
      await find(selector);
      await browser.type(words);
    },
    press: async (selector: string): Promise<void> => {
      await find(selector);
      await browser.value(`document.querySelector(${JSON.stringify(selector)}).click()`);
    },
  };
}
