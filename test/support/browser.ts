import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const BROWSER = PROGRAMS.find((name) => spawnSync('which', [name]).status === 0);

/** Why tests in a real browser cannot run here; undefined: they can. */
export const NO_BROWSER = BROWSER === undefined ? 'no Chromium is installed' : undefined;

const PATIENCE_MS = 60_000;

/** A page in a headless Chromium, which is asked by its DevTools protocol. */
export interface BrowserPage {
  /** Shows a page from a file. It is loaded with scripts off; those of a test run afterwards. */
  show(html: string): Promise<void>;
  /** Opens an address with scripts on. */
  open(url: string): Promise<void>;
  /** A picture of the whole page, as PNG. */
  picture(): Promise<Buffer>;
  /** Types text where the focus is. */
  type(text: string): Promise<void>;
  resize(width: number, height: number): Promise<void>;
  colours(scheme: 'light' | 'dark'): Promise<void>;
  press(key: 'Tab' | 'Enter' | 'ArrowRight'): Promise<void>;
  /** The value of an expression, awaited. */
  value(expression: string): Promise<unknown>;
  /** Addresses that were asked for since the page was shown, beside its own file. */
  requests(): readonly string[];
  close(): Promise<void>;
}

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly request?: { readonly url: string } };
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

export async function openBrowserPage(): Promise<BrowserPage> {
  const folder = mkdtempSync(join(tmpdir(), 'squad-browser-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--remote-debugging-port=0'];
  const program = spawn(BROWSER ?? '', [...flags, `--user-data-dir=${folder}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folder },
  });
  const socket = new WebSocket(await addressOf(program));
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));

  const waiting = new Map<number, (answer: Answer) => void>();
  let asked: string[] = [];
  let loaded: (() => void) | undefined;
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    else if (answer.method === 'Network.requestWillBeSent') asked.push(answer.params?.request?.url ?? '');
    else if (answer.method === 'Page.loadEventFired') loaded?.();
  });
  let calls = 0;
  const call = async (method: string, params: object = {}, session?: string): Promise<Record<string, unknown>> => {
    calls += 1;
    const id = calls;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    waiting.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params, ...(session === undefined ? {} : { sessionId: session }) }));
    const timer = setTimeout(() => resolve({ error: { message: 'no answer' } }), PATIENCE_MS);
    const { result = {}, error } = await promise;
    clearTimeout(timer);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };

  const { targetId } = await call('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true });
  const page = (method: string, params: object = {}) => call(method, params, String(sessionId));
  await page('Page.enable');
  await page('Network.enable');

  return {
    show: async (html) => {
      const file = join(folder, 'page.html');
      writeFileSync(file, html);
      const { href } = pathToFileURL(file);
      const done = new Promise<void>((resolve) => (loaded = resolve));
      asked = [];
      await page('Emulation.setScriptExecutionDisabled', { value: true });
      await page('Page.navigate', { url: href });
      await done;
      await page('Emulation.setScriptExecutionDisabled', { value: false });
      asked = asked.filter((url) => url !== href);
    },
    open: async (url) => {
      const done = new Promise<void>((resolve) => (loaded = resolve));
      asked = [];
      await page('Page.navigate', { url });
      await done;
    },
    picture: async () => {
      const { data } = await page('Page.captureScreenshot', { captureBeyondViewport: true });
      return Buffer.from(String(data), 'base64');
    },
    type: async (text) => void (await page('Input.insertText', { text })),
    resize: async (width, height) => {
      await page('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    },
    colours: async (value) => {
      await page('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
    },
    press: async (key) => {
      const code = { Tab: 9, Enter: 13, ArrowRight: 39 }[key];
      const event = { key, code: key, windowsVirtualKeyCode: code, ...(key === 'Enter' ? { text: '\r' } : {}) };
      await page('Input.dispatchKeyEvent', { type: key === 'Enter' ? 'keyDown' : 'rawKeyDown', ...event });
      await page('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    },
    value: async (expression) => {
      const found = await page('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
      if (found['exceptionDetails'] !== undefined) throw new Error(JSON.stringify(found['exceptionDetails']));
      return (found['result'] as { value?: unknown }).value;
    },
    requests: () => asked,
    close: async () => {
      const ended = new Promise((resolve) => program.once('exit', resolve));
      const timer = setTimeout(() => program.kill('SIGKILL'), 10_000);
      // It may end before it answers.
      void call('Browser.close').catch(() => undefined);
      await ended;
      clearTimeout(timer);
      program.stderr?.destroy();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

/** Where it listens, which it says on its standard error. */
function addressOf(program: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`the browser does not listen: ${said}`)), PATIENCE_MS);
    program.once('exit', () => reject(new Error(`the browser ended: ${said}`)));
    program.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [, address] = /^DevTools listening on (ws:\S+)$/m.exec(said) ?? [];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    });
  });
}
