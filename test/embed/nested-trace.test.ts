// @module-tag all
import { join } from 'node:path';
import { LangChainTracer } from '@langchain/core/tracers/tracer_langchain';
import { Client } from 'langsmith';
import { expect, it } from 'vitest';
import { createSquadGraph } from '../../src/exports/langgraph.ts';
import { createSquad } from '../../src/squad/squad.ts';
import { openRunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan } from '../runs/run-script.ts';
import { openCollector } from '../support/collector.ts';

interface Sent {
  readonly id: string;
  readonly name: string;
  readonly parent_run_id?: string;
  readonly trace_id: string;
  readonly run_type: string;
  readonly error?: string;
  readonly inputs: object;
  readonly end_time?: string | number;
  readonly extra?: { readonly metadata?: Record<string, unknown> };
}

it('shows turns and tool calls below the node of the application’s own trace, without content', async (test) => {
  const script = [
    plan([piece('a')]),
    author('a', [{ run: ['true'] }, ...commits({ 'a.txt': 'a secret of the work\n' })], {
      usage: { inputTokens: 7, outputTokens: 5, costUsd: 0.5 },
    }),
    APPROVE_ALL,
  ];
  const bench = openRunBench({ script });
  test.onTestFinished(() => bench.end());
  const collector = await openCollector();
  test.onTestFinished(() => collector.close());
  const environment = { PATH: process.env['PATH'], HOME: bench.root, XDG_STATE_HOME: join(bench.root, 'state') };
  const squad = createSquad({ cwd: bench.repository, environment });
  const client = new Client({ apiUrl: collector.url, apiKey: 'key', autoBatchTracing: false, tracingSamplingRate: 1 });
  const request = { objective: { text: objective() }, runtime: 'scripted' };
  const play = async (name: string, nestTrace?: boolean): Promise<Sent[]> => {
    const before = collector.requests.length;
    const tracer = new LangChainTracer({ client });
    const graph = createSquadGraph(squad, { trust: 'yes', nestTrace });
    const { end } = await graph.invoke({ request: { ...request, name } }, { callbacks: [tracer] });
    expect(end?.outcome).toBe('done');
    await client.awaitPendingTraceBatches();
    // A patch has its id in the path.
    return collector.requests
      .slice(before)
      .map(({ path, body }) => ({ id: path.split('/').at(-1), ...(JSON.parse(body) as Omit<Sent, 'id'>) }) as Sent);
  };
  const alone = await play('alone', false);
  expect(alone.filter(({ name }) => name.includes('.a-'))).toEqual([]);

  const all = await play('nested');
  const sent = all.filter(({ end_time: end }) => end !== undefined && end !== null);
  const first = (fits: (one: Sent) => boolean): number => all.findIndex(fits);
  const turn = sent.find(({ name }) => name.endsWith('.a-1'));
  // By id: the end of the trace before may arrive late.
  const node = all.find(({ id }) => id === turn?.parent_run_id);
  expect(node?.name).toBe('drive_run');
  // The application's own run and the node come before the turn, each before it has ended.
  const root = first(({ id }) => id === turn?.trace_id);
  const begins = [root, first(({ id }) => id === node?.id), first(({ id }) => id === turn?.id)];
  expect(begins[2]).toBeGreaterThan(Math.max(...begins.slice(0, 2)));
  expect(begins.map((index) => all[index]?.end_time ?? null)).toEqual([null, null, null]);
  expect(turn).toMatchObject({ parent_run_id: node?.id, trace_id: node?.trace_id, run_type: 'llm' });
  expect(all[begins[2] ?? -1]).toMatchObject({ inputs: {} });
  expect(turn?.extra?.metadata).toMatchObject({ agent: 'builder-1', task: 'a', runtime: 'scripted' });
  expect(turn?.extra?.metadata?.['usage_metadata']).toMatchObject({
    input_tokens: 7,
    output_tokens: 5,
    total_cost: 0.5,
  });
  const tools = sent.filter(({ parent_run_id: parent }) => parent === turn?.id);
  expect(tools.map(({ run_type: type }) => type)).toContain('tool');
  const own = sent.filter(({ parent_run_id: parent }) => parent === node?.id || parent === turn?.id);
  expect(JSON.stringify(own)).not.toContain('secret of the work');
});
