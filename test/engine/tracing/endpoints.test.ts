import { describe, expect, it, type TestContext } from 'vitest';
import { openRunBench, type RunBench } from '../../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../../runs/run-script.ts';
import { allowedMs } from '../../support/busy-machine.ts';
import { openCollector, type Manner } from '../../support/collector.ts';
import { ALL, some } from '../../support/lane.ts';
import { openSilent, type SilentEndpoint } from '../../support/silent-endpoint.ts';

/** From the run's last line to the end of its process. What would wait for an endpoint waits for ten seconds or longer. */
const MOST_AFTER_MS = 1000;
/** The longest that the end of the run waits for the endpoint. */
const MOST_WAIT_MS = 1000;

function openBench(test: TestContext): RunBench {
  const bench = openRunBench({
    script: [plan([piece('one')]), author('one', [{ sleep: 300 }, ...commits({ 'one.txt': 'one\n' })]), APPROVE_ALL],
  });
  test.onTestFinished(() => bench.end());
  return bench;
}

/** How long it took from its last decision to its last line, and from that to its end. */
async function ended(engine: ReturnType<RunBench['startRun']>) {
  const at = async (fits: (line: Record<string, unknown>) => boolean): Promise<number> => {
    await engine.line(fits);
    return performance.now();
  };
  const [decided, last] = [at(({ next }) => next === 'finish'), at(({ type }) => type === 'run-ended')];
  const finished = await engine.finished;
  const end = performance.now();
  return { finished, endingMs: (await last) - (await decided), afterMs: end - (await last) };
}

/** `unconnected`: its machine answers nothing; `unnamed`: nor does the server of names. */
type Endpoint = Manner | 'unconnected' | 'unnamed';

async function openEndpoint(test: TestContext, kind: Endpoint): Promise<SilentEndpoint> {
  const opened =
    kind === 'unconnected'
      ? await openSilent('connection')
      : kind === 'unnamed'
        ? await openSilent('name')
        : await openCollector(kind);
  if (opened === undefined) return test.skip('there is no C compiler');
  test.onTestFinished(async () => void (await opened.close()));
  return opened;
}

describe('an endpoint of traces', { timeout: 300_000 }, () => {
  const rows: readonly [Endpoint, 'otlp' | 'langsmith', RegExp][] = [
    ['hanging', 'langsmith', /no time left|did not answer in time/],
    ['refusing', 'otlp', /ECONNREFUSED/],
    ['unnamed', 'otlp', /no time left|did not answer in time/],
    ['slow', 'otlp', /no time left|did not answer in time/],
    ['unconnected', 'langsmith', /no time left|did not answer in time/],
    ['error', 'langsmith', /the endpoint answered 500|no time left/],
  ];
  it.for(some(rows, 0, 3))('that is %s holds up no run, %s', ALL, async ([manner, to, why], test) => {
    const bench = openBench(test);
    const untraced = await ended(bench.startRun());
    expect(untraced.finished.code).toBe(0);
    const collector = await openEndpoint(test, manner);
    const traced = await ended(bench.startRun(['--name', 'traced', '--trace', to], collector.environment));
    expect([traced.finished.code, traced.finished.stderr], traced.finished.stdout.slice(-2000)).toEqual([0, '']);
    const traces = traced.finished.lines.findLast(({ type }) => type === 'tracing');
    expect(traces).toMatchObject({ state: 'ended', to, why: expect.stringMatching(why) as string });
    expect(Number(traces?.['dropped'])).toBeGreaterThan(0);
    expect(traced.finished.lines.at(-1)?.['type']).toBe('run-ended');
    expect(traced.afterMs).toBeLessThan(allowedMs(MOST_AFTER_MS));
    expect(traced.endingMs).toBeLessThan(untraced.endingMs + MOST_WAIT_MS + allowedMs(1000));

    const again = await bench.run(['trace', 'traced', '--to', to, '--json'], collector.environment);
    const [result] = again.lines;
    if (manner === 'slow') return expect([again.code, result?.['dropped']]).toEqual([0, 0]);
    expect([again.code, result?.['sent']]).toEqual([1, 0]);
    expect(Number(result?.['dropped'])).toBeGreaterThan(2);
  });

  it('that cannot be found is asked for before a run exists', ALL, async (test) => {
    const bench = openBench(test);
    const { code, stderr } = await bench.startRun(['--trace']).finished;
    expect([code, stderr]).toEqual([
      78,
      expect.stringMatching(/nothing says where traces go[^]*LANGSMITH_API_KEY/) as string,
    ]);
    expect((await bench.run(['runs', '--json'])).stdout).toBe('');
  });

  it('that only squad.yaml asks for, and no key opens, is a warning', ALL, async (test) => {
    const bench = openBench(test);
    bench.settings({ tracing: 'langsmith' });
    const { code, lines } = await bench.startRun([], {}).finished;
    expect(code).toBe(0);
    const warnings = lines.filter(({ type }) => type === 'warning').map(({ text }) => text);
    expect(warnings).toEqual(['no traces are sent: traces go to LangSmith, which needs a key']);
  });

  it('of squad.yaml gets the variables that its headers name and no other key', ALL, async (test) => {
    const bench = openBench(test);
    const collector = await openCollector();
    test.onTestFinished(() => collector.close());
    const endpoint = `${collector.url}/v1/traces`;
    bench.settings({ tracing: { to: 'otlp', endpoint, headers: { authorization: 'MY_COLLECTOR' } } });
    const environment = {
      LANGSMITH_API_KEY: 'not-this-one',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-secret=nor-this-one',
      MY_COLLECTOR: 'this-one',
    };
    const { code, stdout } = await bench.startRun([], environment).finished;
    expect(code, stdout.slice(-2000)).toBe(0);
    expect(collector.requests.length).toBeGreaterThan(0);
    for (const { headers } of collector.requests) {
      expect(headers.authorization).toBe('this-one');
      expect(JSON.stringify(headers)).not.toMatch(/not-this-one|nor-this-one/);
    }
  });
});
