import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { scoresOf, sendScores, type ScoredView } from '../../../src/engine/tracing/scores.ts';
import { openCollector } from '../../support/collector.ts';

const ROOT = { id: '0123456789abcdef0123456789abcdef', startedAt: 1 };
const MET = ['met', 'failed', 'judged', 'not-checked'] as const;
const view = (outcome: 'done' | 'failed' | null, more: Partial<ScoredView['plan']> = {}, unknownCostTurns = 0) => ({
  end: outcome === null ? null : { outcome },
  plan: { criteria: [], reviews: [], ...more },
  use: { usage: { costUsd: 0.75, unknownCostTurns } },
});
const SCORES = scoresOf(
  view('failed', { criteria: MET.map((state) => ({ state })), reviews: [{ rounds: 2 }, { rounds: 1 }] }),
);

it('scores outcome, criteria, rounds and cost, nothing that is not known, and nothing before the end', () => {
  expect(SCORES).toEqual([
    { key: 'squad_outcome', score: 0 },
    { key: 'squad_criteria', score: 0.5 },
    { key: 'squad_rounds', score: 3 },
    { key: 'squad_cost_usd', score: 0.75 },
  ]);
  expect(scoresOf(view('done', {}, 1))).toEqual([{ key: 'squad_outcome', score: 1 }]);
  expect(scoresOf(view(null, { criteria: [{ state: 'met' }] }))).toEqual([]);
});

it.for([
  ['none where the settings name no variable', {}],
  ['those that the settings name', { authorization: 'Bearer theirs' }],
])('an endpoint gets of the environment and of a profile of LangSmith: %s', async ([, headers]) => {
  const home = mkdtempSync(join(tmpdir(), 'squad-langsmith-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, '.langsmith'));
  const profile = { api_key: 'key-of-a-profile', workspace_id: 'workspace-of-a-profile' };
  writeFileSync(join(home, '.langsmith/config.json'), JSON.stringify({ profiles: { default: profile } }));
  const own = { HOME: home, LANGSMITH_API_KEY: 'key-of-a-person', LANGSMITH_WORKSPACE_ID: 'workspace-of-a-person' };
  for (const [name, value] of Object.entries(own)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const collector = await openCollector();
  onTestFinished(() => collector.close());
  const target = {
    to: 'langsmith',
    url: `${collector.url}/runs/batch`,
    headers: headers as Record<string, string>,
    content: false,
  } as const;
  expect(await sendScores(target, ROOT, SCORES)).toBeUndefined();
  expect(collector.requests.filter(({ path }) => path === '/feedback')).toHaveLength(4);
  const sent = JSON.stringify(collector.requests.map((one) => one.headers));
  expect(sent).not.toMatch(/of-a-person|of-a-profile|x-tenant-id/);
  for (const { headers: got } of collector.requests)
    expect(got.authorization).toBe((headers as Record<string, string>)['authorization']);
});

it('says why an endpoint did not take them', async () => {
  const collector = await openCollector('refusing');
  const target = { to: 'langsmith', url: `${collector.url}/runs/batch`, headers: {}, content: false } as const;
  expect(await sendScores(target, ROOT, SCORES)).toMatch(/ECONNREFUSED/);
});
