import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { bugLines, readSet, type SetName } from '../../evals/items.ts';
import { summaryOf } from '../../evals/report.ts';
import { playSets, type Result } from '../../evals/run.ts';
import { createSquad } from '../../src/exports/index.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { finding } from '../support/findings.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { calls, runs, says, startFakeAnthropic, type FakeReply, type FakeRequest } from './fake-anthropic.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined);

/** Plays these items with the real Claude, behind which this model stands. */
async function play(set: SetName, ids: readonly string[], model: (request: FakeRequest) => FakeReply): Promise<Result> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'squad-eval-home-')));
  const server = await startFakeAnthropic(model);
  onTestFinished(async () => {
    await server.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  const key = { ANTHROPIC_API_KEY: 'key-of-the-fake', ANTHROPIC_BASE_URL: server.url };
  const measured = {
    ...{ createSquad, cli: CLI_ENTRY, runtime: 'claude' },
    runtimes: { claude: { command: CLAUDE_BINARY, env: Object.keys(key) } },
    environment: { PATH: process.env['PATH'], HOME: home, ...key },
  };
  return playSets(measured, { sets: [set], maxUsd: 50, only: new Set(ids), say: () => undefined });
}

/** A reviewer who looks, and answers with these lines of the change that it is asked about. */
function reviewer(linesOf: (id: string) => readonly number[]): (request: FakeRequest) => FakeReply {
  const changes = readSet('reviewers');
  return ({ prompt, step }) => {
    const change = changes.find(({ task }) => prompt.includes(task));
    if (change === undefined) return says('a title');
    if (step === 0) return runs('git show --stat HEAD');
    const findings = linesOf(change.id).map((line) =>
      finding('wrong', { file: change.file, line, proof: '`node -e 1`', blocks: 'defect', criterion: null }),
    );
    const approved = findings.length === 0;
    return calls('StructuredOutput', { approved, summary: 'seen', findings, settled: [], checks: [] });
  };
}

test('ranks reviewers on the real Claude by the quality of the model behind it', { timeout: 240_000 }, async () => {
  const ids = ['days-between', 'clean-chunk'];
  const [change] = readSet('reviewers').filter(({ id }) => id === 'days-between');
  const [line = 0] = (change && bugLines(change)) ?? [];
  const good = await play(
    'reviewers',
    ids,
    reviewer((id) => (id === 'days-between' ? [line] : [])),
  );
  const bad = await play(
    'reviewers',
    ids,
    reviewer((id) => (id === 'days-between' ? [] : [1])),
  );
  expect([good.stopped, bad.stopped]).toEqual([null, null]);
  expect(summaryOf('reviewers', good.all)).toMatchObject({ right: 2, score: 1, alarms: 0 });
  expect(summaryOf('reviewers', bad.all)).toMatchObject({ right: 0, score: -1, alarms: 1 });
  for (const { usd, tokens } of good.all) expect([usd, tokens].every((one) => one !== null && one > 0)).toBe(true);
});

test('counts nothing of a Claude without a login', { timeout: 120_000 }, async () => {
  const refuse = (): FakeReply => ({ type: 'failure', status: 401, error: 'authentication_error', message: 'no' });
  const { all, stopped } = await play('planners', ['one-file'], refuse);
  expect(all).toEqual([]);
  expect(stopped).toMatch(/login|claude/i);
});
