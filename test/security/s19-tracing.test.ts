// @module-tag all
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, type TestContext } from 'vitest';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../runs/run-script.ts';
import type { Finished } from '../support/engine.ts';
import { ALL, some, SPREAD } from '../support/lane.ts';
import { watchSockets } from '../support/sockets.ts';
import { allowedMs } from '../support/busy-machine.ts';

/** Of the run, to the end of its process. */
const MOST_AFTER_MS = 1000;
const LIBRARY = fileURLToPath(
  new URL(
    process.env['SQUAD_TEST_BUILT'] === '1' ? '../../dist/index.mjs' : '../../src/exports/index.ts',
    import.meta.url,
  ),
);
const EMBEDDER = fileURLToPath(new URL('../fixtures/embedding/run-in-library.ts', import.meta.url));

/** Everything that LangChain, LangGraph and langsmith look at, as one sets it who wants traces. */
function switches(endpoint: string): Record<string, string> {
  const both = {
    TRACING: 'true',
    TRACING_V2: 'true',
    TRACING_BACKGROUND: 'false',
    TRACING_MODE: 'langsmith',
    TRACING_SAMPLING_RATE: '1',
    CALLBACKS_BACKGROUND: 'false',
    VERBOSE: 'true',
    API_KEY: `lsv2_pt_${'0'.repeat(32)}_${'0'.repeat(10)}`,
    ENDPOINT: endpoint,
    PROJECT: 'leak',
    SESSION: 'leak',
    WORKSPACE_ID: 'leak',
    DEBUG: 'true',
  };
  return {
    ...Object.fromEntries(
      Object.entries(both).flatMap(([name, value]) => [
        [`LANGSMITH_${name}`, value],
        [`LANGCHAIN_${name}`, value],
      ]),
    ),
    // InputRecords an endpoint it is a contradiction, at which langsmith throws wherever it makes a client.
    LANGSMITH_RUNS_ENDPOINTS: JSON.stringify([{ api_url: endpoint, api_key: 'leak', project_name: 'leak' }]),
    LANGSMITH_OTEL_ENABLED: 'true',
    OTEL_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  };
}

interface Endpoint {
  readonly environment: Record<string, string>;
  connections(): number;
}

/** Takes every connection and never answers. */
async function hanging(test: TestContext): Promise<Endpoint> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket.on('error', () => undefined));
  });
  const environment = switches(await listen(server));
  test.onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { environment, connections: () => connections };
}

/** Was there a moment ago. */
async function refusing(): Promise<Endpoint> {
  const server = createServer();
  const environment = switches(await listen(server));
  server.close();
  await once(server, 'close');
  return { environment, connections: () => 0 };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function openBench(test: TestContext): RunBench {
  const bench = openRunBench({
    script: [
      plan([piece('one')]),
      author('one', [{ sleep: 500 }, ...commits({ 'one.txt': 'one\n' })]),
      // An interrupted turn may have had a session already.
      { when: 'was cut short', steps: commits({ 'one.txt': 'one\n' }) },
      APPROVE_ALL,
    ],
  });
  test.onTestFinished(() => bench.end());
  return bench;
}

/** With the moment at which each line was read and the process was gone. */
async function timed(engine: ReturnType<RunBench['startRun']>): Promise<Finished & { readonly afterMs: number }> {
  let endedAt = Number.NaN;
  void engine
    .line(({ type }) => type === 'run-ended')
    .then(
      () => (endedAt = performance.now()),
      () => undefined,
    );
  const finished = await engine.finished;
  return { ...finished, afterMs: performance.now() - endedAt };
}

/** A run for `squad resume`. */
async function interrupt(bench: RunBench, environment: Record<string, string> = {}) {
  const engine = bench.startRun([], environment);
  await engine.line(({ type, task }) => type === 'attempt-taken' && task === 'one');
  engine.child.kill('SIGTERM');
  return timed(engine);
}

async function embed(bench: RunBench, how: readonly string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [EMBEDDER, LIBRARY, bench.root, ...how], {
    env: { PATH: process.env['PATH'], HOME: bench.root, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await once(child, 'close');
  const afterMs = Date.now();
  expect(stderr).toBe('');
  const said = JSON.parse(stdout) as { at: number; ended: string; heard: string[] };
  return { ...said, afterMs: afterMs - said.at };
}

describe('S19: LangChain’s switches', { timeout: 300_000 }, () => {
  it.for(some(['hanging', 'refusing'] as const, 0, 1))(
    'S19: send nothing out of the command line, %s',
    SPREAD,
    async (kind, test) => {
      const bench = openBench(test);
      const endpoint = kind === 'hanging' ? await hanging(test) : await refusing();
      const engine = bench.startRun([], endpoint.environment);
      const sockets = watchSockets(engine.child.pid ?? 0);
      const finished = await timed(engine);
      expect([finished.code, finished.stderr], finished.stdout.slice(-2000)).toEqual([0, '']);
      // LANGCHAIN_VERBOSE prints every node's state between the events.
      expect(finished.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
      expect(endpoint.connections()).toBe(0);
      const { looks, seen } = sockets.stop();
      expect(seen).toEqual([]);
      // It was looked at all the time that it ran.
      if (process.platform === 'linux') expect(looks).toBeGreaterThan(20);
      expect(finished.afterMs).toBeLessThan(allowedMs(MOST_AFTER_MS));
    },
  );

  it('S19: send nothing out of a run that is resumed', ALL, async (test) => {
    const bench = openBench(test);
    const endpoint = await hanging(test);
    const interrupted = await interrupt(bench, endpoint.environment);
    const resumed = await timed(bench.start(['resume', '--json'], endpoint.environment));
    expect([resumed.code, resumed.stderr], resumed.stdout.slice(-2000)).toEqual([0, '']);
    expect(endpoint.connections()).toBe(0);
    for (const { afterMs } of [interrupted, resumed]) expect(afterMs).toBeLessThan(allowedMs(MOST_AFTER_MS));
  });

  it('S19: a run that asks a person waits for the answer, and sends nothing', async (test) => {
    const bench = openBench(test);
    bench.rescript([author('one', [{ fail: { kind: 'auth', message: 'log in' } }]), plan([piece('one')])]);
    const endpoint = await hanging(test);
    const finished = await timed(bench.startRun([], endpoint.environment));
    expect([finished.code, finished.stderr], finished.stdout.slice(-2000)).toEqual([3, '']);
    expect(finished.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
    expect(endpoint.connections()).toBe(0);
    expect(finished.afterMs).toBeLessThan(allowedMs(MOST_AFTER_MS));
  });

  it.for(some(['hanging', 'refusing'] as const, 0, 1))(
    'S19: send nothing out of the library, %s',
    SPREAD,
    async (kind, test) => {
      const bench = openBench(test);
      const endpoint = kind === 'hanging' ? await hanging(test) : await refusing();
      const { ended, afterMs } = await embed(bench, ['run', 'alone'], endpoint.environment);
      expect(ended).toMatch(/^done/);
      expect(endpoint.connections()).toBe(0);
      expect(afterMs).toBeLessThan(allowedMs(MOST_AFTER_MS));
    },
  );

  it.for(some(['resume', 'run'] as const, 0, 1))(
    'S19: a graph that embeds squad hears of its own nodes only, %s',
    SPREAD,
    async (verb, test) => {
      const bench = openBench(test);
      if (verb === 'resume') await interrupt(bench);
      const { ended, heard } = await embed(bench, [verb, 'in a graph']);
      expect(ended).toMatch(/^done/);
      expect(heard.length).toBeGreaterThan(0);
      expect(heard.filter((text) => /inflight|bind_armory|run_agent_attempt/.test(text))).toEqual([]);
    },
  );
});
