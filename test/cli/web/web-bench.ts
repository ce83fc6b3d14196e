import { request } from 'node:http';
import { join } from 'node:path';
import { openRunBench, type RunBench } from '../../runs/run-bench.ts';
import { again, author, commits, piece, plan, verdict, waitFor, type Entry } from '../../runs/run-script.ts';
import type { Engine } from '../../support/engine.ts';

interface Answered {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

/** A program that speaks to the page's server as a browser does. */
interface WebClient {
  readonly url: string;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  post(path: string, body: object | string, headers?: Readonly<Record<string, string>>): Promise<Answered>;
  /** The next message of the stream that fits, with when it came. */
  events(path: string): Promise<Stream>;
}

interface Stream {
  next(fits: (message: PageMessage) => boolean): Promise<{ readonly message: PageMessage; readonly at: number }>;
  close(): void;
}

interface PageMessage {
  readonly title: string;
  readonly news: string;
  readonly order: readonly string[];
  readonly regions: Readonly<Record<string, string>>;
}

export interface WebBench extends RunBench {
  /** Files that the agents of the script wait for. */
  readonly gates: Readonly<Record<'work' | 'review', string>>;
  serve(...more: string[]): Promise<WebClient & { readonly serving: Engine }>;
}

/** Asks about its plan, waits in the turn of its author and in that of its reviewer, and takes a second turn for what a person says. */
export function openWebBench(): WebBench {
  const bench = openRunBench({
    script: [],
    settings: { plan: 'ask' },
    files: { 'a.txt': 'one\ntwo\n', 'b.txt': 'gone\nkept\n' },
  });
  const gates = { work: join(bench.root, 'work'), review: join(bench.root, 'review') };
  const second: Entry = {
    when: 'A person read your work on task a',
    steps: commits({ 'a.txt': 'one\nTWO\nthree\n' }),
  };
  const told: Entry = {
    when: 'use tabs',
    steps: [{ say: 'I was told.' }, ...commits({ 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'kept\n' })],
  };
  bench.rescript([
    plan([piece('a', { title: 'Make a <b>bold</b> one', acceptance: ['it says why'] })], 'asks for a change'),
    plan([piece('a', { title: 'Make a <b>bold</b> one' })]),
    second,
    told,
    author('a', [{ say: 'I look around first.' }, waitFor(gates.work), ...commits({ 'a.txt': 'one\ntwo\nthree\n' })]),
    again('a', 'review', commits({ 'a.txt': 'one\nTWO\nthree\n' })),
    { ...verdict(null, []), steps: [waitFor(gates.review), ...verdict(null, []).steps] },
  ]);
  return {
    ...bench,
    gates,
    serve: async (...more) => {
      const serving = bench.start(['watch', '--web', '--json', ...more]);
      const { url } = (await serving.line(({ type }) => type === 'web-started')) as { url: string };
      return { ...clientAt(url), serving };
    },
  };
}

function clientAt(url: string): WebClient {
  const ask = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: string) =>
    new Promise<Answered>((resolve, reject) => {
      const asked = request(new URL(path, url), { method, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (more: string) => void (text += more));
        response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      });
      asked.once('error', reject);
      asked.end(body);
    });
  return {
    url,
    get: async (path, headers = {}) => ask('GET', path, headers),
    post: async (path, body, headers = {}) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const length = String(Buffer.byteLength(text));
      return ask('POST', path, { 'content-type': 'application/json', 'content-length': length, ...headers }, text);
    },
    events: async (path) => openStream(new URL(path, url)),
  };
}

async function openStream(url: URL): Promise<Stream> {
  const seen: { message: PageMessage; at: number }[] = [];
  let wake: () => void = () => undefined;
  const asked = request(url, { headers: { accept: 'text/event-stream' } }, (response) => {
    let rest = '';
    response.setEncoding('utf8').on('data', (more: string) => {
      const blocks = (rest + more).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data !== undefined) seen.push({ message: JSON.parse(data) as PageMessage, at: Date.now() });
      }
      wake();
    });
  });
  asked.on('error', () => undefined);
  asked.end();
  let read = 0;
  return {
    next: async (fits) => {
      for (;;) {
        for (; read < seen.length;) {
          const one = seen[read];
          read += 1;
          if (one !== undefined && fits(one.message)) return one;
        }
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    close: () => asked.destroy(),
  };
}
