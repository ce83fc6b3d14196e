import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSet, type Item, type SetName } from '../../evals/items.ts';
import { summaryOf, type Summary } from '../../evals/report.ts';
import { playSets, type Result } from '../../evals/run.ts';
import { createSquad } from '../../src/exports/index.ts';
import { scriptOf, type Quality } from '../evals/models.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { startFakeAnthropic, type FakeReply } from './fake-anthropic.ts';
import { startFakeOpenai } from './fake-openai.ts';
import { scriptModel, type Act, type ScriptedTurn } from './turn-scripts.ts';
import { runtimesAt, type Cli } from './whole-run-room.ts';

const BINARIES = { claude: CLAUDE_BINARY, codex: CODEX_BINARY };
const QUALITIES: readonly Quality[] = ['good', 'bad', 'liar'];

/** Items of each set: a review has a score only if a bug and a clean change were played. */
const ITEMS: Readonly<Record<SetName, readonly string[]>> = {
  reviewers: ['days-between', 'clean-chunk'],
  planners: ['one-file'],
  builders: ['slug'],
};

interface Step {
  readonly run?: readonly string[];
  readonly write?: { readonly path: string; readonly text: string };
  readonly answer?: string;
}

/** The scripted model of this quality, as a model behind a real CLI. */
function turnsOf(set: SetName, quality: Quality, items: readonly Item<SetName>[]): ScriptedTurn[] {
  const { turns } = scriptOf(set, quality, items) as {
    turns: { when: string; steps: Step[]; structured?: Record<string, unknown> }[];
  };
  const known = turns.map(({ when, steps, structured }) => {
    const acts = steps.flatMap((step) => actOf(step, structured));
    const answer: Act[] = structured === undefined ? [] : [{ act: 'answer', value: structured }];
    const literal = when.replaceAll(/[^\w ]/g, '\\$&');
    return { name: when, when: new RegExp(literal), acts: [...acts, ...answer] };
  });
  // Asked again for an answer in the form, it says what it said.
  return [...known, { name: 'again', when: /^/, acts: known[0]?.acts.slice(-1) ?? [] }];
}

function actOf({ run, write, answer }: Step, structured: unknown): Act[] {
  if (write !== undefined) {
    return [{ act: 'shell', command: `cat > '${write.path}' <<'END_OF_FILE'\n${write.text}\nEND_OF_FILE` }];
  }
  if (run !== undefined) return [{ act: 'shell', command: run.map((word) => `'${word}'`).join(' ') }];
  return structured === undefined && answer !== undefined ? [{ act: 'say', text: answer }] : [];
}

/** Plays items of a set with a real CLI, behind which these models stand. */
async function playWith(
  cli: Cli,
  set: SetName,
  models: { anthropic: Parameters<typeof startFakeAnthropic>[0]; openai: Parameters<typeof startFakeOpenai>[0] },
): Promise<Result> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'squad-eval-home-')));
  const [anthropic, openai] = [await startFakeAnthropic(models.anthropic), await startFakeOpenai(models.openai)];
  onTestFinished(async () => {
    await Promise.all([anthropic.close(), openai.close()]);
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  const keys = { ANTHROPIC_API_KEY: 'key-of-the-fake', ANTHROPIC_BASE_URL: anthropic.url, FAKE_KEY: 'key-of-the-fake' };
  const measured = {
    ...{ createSquad, cli: CLI_ENTRY, runtime: cli, model: cli === 'codex' ? PLAIN_MODEL : undefined },
    runtimes: { [cli]: (runtimesAt(openai.baseUrl) as Record<Cli, object>)[cli] },
    environment: { PATH: process.env['PATH'], HOME: home, ...keys },
  };
  return playSets(measured, { sets: [set], maxUsd: 50, only: new Set(ITEMS[set]), say: () => undefined });
}

async function play(cli: Cli, set: SetName, quality: Quality): Promise<[Quality, Result]> {
  const items = readSet(set).filter(({ id }) => ITEMS[set].includes(id));
  return [quality, await playWith(cli, set, scriptModel(turnsOf(set, quality, items)))];
}

/** What the table says of each model. */
const EXPECTED: Readonly<Record<SetName, Readonly<Record<Quality, Partial<Summary>>>>> = {
  reviewers: {
    good: { right: 2, score: 1, alarms: 0 },
    bad: { right: 0, score: -1, alarms: 1 },
    liar: { right: 0, score: -1 },
  },
  planners: { good: { right: 1, score: 1 }, bad: { right: 0, score: 0 }, liar: { right: 0, score: 0 } },
  builders: { good: { right: 1, score: 1 }, bad: { right: 0, score: 0 }, liar: { right: 0, score: 0 } },
};

describe.each<Cli>(['claude', 'codex'])('on the real %s the table ranks models by their quality', (cli) => {
  const test = it.skipIf(BINARIES[cli] === undefined);

  test.each<SetName>(['reviewers', 'planners', 'builders'])('as %s', { timeout: 280_000 }, async (set) => {
    const played = await Promise.all(QUALITIES.map(async (quality) => play(cli, set, quality)));
    for (const [quality, { all, stopped }] of played) {
      expect([quality, stopped]).toEqual([quality, null]);
      expect(summaryOf(set, all), `${quality}: ${JSON.stringify(all)}`).toMatchObject({
        ...{ set, played: ITEMS[set].length },
        ...EXPECTED[set][quality],
      });
    }
    const good = played.find(([quality]) => quality === 'good')?.[1].all ?? [];
    for (const { usd, tokens } of good) expect([(usd ?? 0) > 0, (tokens ?? 0) > 0]).toEqual([cli === 'claude', true]);
  });
});

it.skipIf(CLAUDE_BINARY === undefined)('counts nothing of a Claude without a login', { timeout: 120_000 }, async () => {
  const refuse = (): FakeReply => ({ type: 'failure', status: 401, error: 'authentication_error', message: 'no' });
  const { all, stopped } = await playWith('claude', 'planners', { anthropic: refuse, openai: [] });
  expect(all).toEqual([]);
  expect(stopped).toMatch(/login|claude/i);
});
