// @module-tag all
import { describe, expect, it, type TestContext } from 'vitest';
import type { SinkName } from '../../../src/model/tracing.ts';
import { openRunBench, type RunBench } from '../../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../../runs/run-script.ts';
import { COLLECTED, openCollector, type Collected, type Collector } from '../../support/collector.ts';
import { ALL, SPREAD, some } from '../../support/lane.ts';
import { watchSockets } from '../../support/sockets.ts';
import { expectWholeTrace } from '../../support/whole-trace.ts';

const SINKS: readonly SinkName[] = ['otlp', 'langsmith'];

function openBench(test: TestContext): RunBench {
  const bench = openRunBench({
    script: [
      plan([piece('one')]),
      author('one', [{ run: ['/bin/echo', 'hello'] }, { sleep: 1500 }, ...commits({ 'one.txt': 'one\n' })], {
        usage: { inputTokens: 700, cachedInputTokens: 300, outputTokens: 50, costUsd: 0.25 },
      }),
      { when: 'was cut short', steps: commits({ 'one.txt': 'one\n' }) },
      APPROVE_ALL,
    ],
  });
  test.onTestFinished(() => bench.end());
  return bench;
}

async function collector(test: TestContext): Promise<Collector> {
  const opened = await openCollector();
  test.onTestFinished(() => opened.close());
  return opened;
}

/** The shape of a tree, without what depends on time. */
const placed = (tree: ReadonlyMap<string, Collected>) =>
  [...tree.values()].map(({ id, trace, parent, name }) => `${trace} ${parent ?? '-'} ${id} ${name}`).toSorted();

function parentsOf(tree: ReadonlyMap<string, Collected>, span: Collected): string[] {
  const above = span.parent === undefined ? undefined : tree.get(span.parent);
  return above === undefined ? [] : [above.name, ...parentsOf(tree, above)];
}

/** `one` is at work, and its tool has ended. */
async function atWork(bench: RunBench, environment: Record<string, string>, more: readonly string[]) {
  const engine = bench.startRun(more, environment);
  await engine.line(({ type, task }) => type === 'tool-ended' && task === 'one');
  return engine;
}

describe('a run with --trace', { timeout: 300_000 }, () => {
  it.for(some(SINKS, 0, 1))('is one tree in a collector, also after two more exports, %s', SPREAD, async (to, test) => {
    const bench = openBench(test);
    const collected = await collector(test);
    const engine = bench.startRun(['--trace', to, '--trace-detail'], collected.environment);
    const sockets = watchSockets(engine.child.pid ?? 0);
    const finished = await engine.finished;
    // So the look-up that finds none without --trace does see them.
    const { seen } = sockets.stop();
    if (process.platform === 'linux') expect(seen.length).toBeGreaterThan(0);
    expect([finished.code, finished.stderr], finished.stdout.slice(-2000)).toEqual([0, '']);
    const live = collected.tree();
    expect(collected.spans()).toHaveLength(live.size);
    expectWholeTrace(bench, live);
    const spans = [...live.values()];
    const tool = spans.find(({ name, about }) => /(?:^| )run$/.test(name) && about['task'] === 'one');
    expect(parentsOf(live, tool ?? fail('no tool'))).toEqual([
      to === 'otlp' ? 'invoke_agent builder-1' : 'one-1',
      'squad make-things',
    ]);
    for (const node of ['intake', 'collect', 'reconcile_inbox', 'decide_next', 'route_frontier', 'publish']) {
      expect(
        spans.some(({ name }) => name === node),
        node,
      ).toBe(true);
    }
    for (let times = 0; times < 2; times += 1) {
      const again = await bench.run(['trace', '--to', to, '--json'], collected.environment);
      expect([again.code, again.stderr]).toEqual([0, '']);
      const [{ sent, dropped } = {}] = again.lines;
      expect([Number(sent) > 4, dropped]).toEqual([true, 0]);
    }
    const scores = collected.requests.flatMap(({ path, body }) =>
      path === '/api/v1/feedback'
        ? [JSON.parse(body) as { id: string; run_id: string; key: string; score: number }]
        : [],
    );
    const root = spans.find(({ parent }) => parent === undefined);
    expect(scores.every(({ run_id: about }) => about === root?.id)).toBe(true);
    // Sent three times, under the same ids.
    expect([scores.length, new Set(scores.map(({ id }) => id)).size]).toEqual(to === 'otlp' ? [0, 0] : [9, 3]);
    expect(new Set(scores.map(({ key, score }) => `${key} ${score}`))).toEqual(
      new Set(to === 'otlp' ? [] : ['squad_outcome 1', 'squad_criteria 1', 'squad_rounds 1']),
    );
    expect(placed(collected.tree())).toEqual(placed(live));
    expectWholeTrace(bench, collected.tree());
  });

  it('says where spans go, begins with the root, has no node of the engine, and ends with the link', async (test) => {
    const bench = openBench(test);
    const collected = await collector(test);
    const { code, lines, stderr } = await bench.startRun(['--trace'], collected.environment).finished;
    expect([code, stderr]).toEqual([0, '']);
    const [begun, ended] = lines.filter(({ type }) => type === 'tracing');
    const place = { to: 'langsmith', endpoint: collected.url, project: 'default', content: false };
    expect(begun).toMatchObject({ state: 'begun', ...place });
    const bodies = collected.requests.filter(({ path }) => path.endsWith('/runs/batch')).map(({ body }) => body);
    const [first] = bodies.map((body) => JSON.parse(body) as { post: Record<string, unknown>[]; patch: unknown[] });
    expect(first?.post[0]).toMatchObject({ name: 'squad make-things', run_type: 'chain' });
    expect([first?.post[0]?.['end_time'], first?.post[0]?.['parent_run_id'], first?.patch]).toEqual([
      ...[undefined, undefined, []],
    ]);
    const spans = [...collected.tree().values()];
    expectWholeTrace(bench, collected.tree());
    const root = spans.find(({ parent }) => parent === undefined) ?? fail('no root');
    expect(root.about).toMatchObject({ playbook: 'delivery', runtimes: 'scripted' });
    expect(spans.filter(({ about }) => about['superstep'] !== undefined)).toEqual([]);
    expect(ended).toMatchObject({
      ...{ state: 'ended', ...place, sent: spans.length, dropped: 0, scored: 3, trace: root.id },
      link: `${collected.url}/o/${COLLECTED.tenant_id}/projects/p/${COLLECTED.id}/r/${root.id}?poll=true`,
    });
    expect(lines.at(-1)?.['type']).toBe('run-ended');
  });

  it.for(some(['SIGINT', 'SIGTERM', 'SIGKILL'] as const, 0, 2))(
    'has no open span after %s and a resume',
    ALL,
    async (signal, test) => {
      const bench = openBench(test);
      const collected = await collector(test);
      const to = signal === 'SIGTERM' ? 'langsmith' : 'otlp';
      const engine = await atWork(bench, collected.environment, ['--trace', to]);
      engine.child.kill(signal);
      await engine.finished;
      const resumed = await bench.start(['resume', '--json', '--trace', to], collected.environment).finished;
      expect(resumed.code, resumed.stdout.slice(-2000)).toBe(0);
      expectWholeTrace(bench, collected.tree());
      const tools = [...collected.tree().values()].filter(
        ({ about }) => about['tool'] === 'run' && about['task'] === 'one',
      );
      expect(tools.length).toBeGreaterThan(0);
    },
  );

  it('is closed by `squad trace` if it was killed, cancelled and never traced again', ALL, async (test) => {
    const bench = openBench(test);
    const collected = await collector(test);
    const engine = await atWork(bench, collected.environment, ['--trace', 'otlp']);
    const running = await bench.run(['trace', '--to', 'otlp'], collected.environment);
    expect([running.code, running.stderr]).toEqual([75, expect.stringContaining('is running') as string]);
    engine.child.kill('SIGKILL');
    await engine.finished;
    expect((await bench.run(['cancel', '--json'], {})).code).toBe(0);
    const sent = await bench.run(['trace', '--to', 'otlp', '--json'], collected.environment);
    expect([sent.code, sent.stderr]).toEqual([0, '']);
    expectWholeTrace(bench, collected.tree());
  });
});

function fail(message: string): never {
  throw new Error(message);
}
