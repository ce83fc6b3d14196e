import { stringify } from 'yaml';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { openEngineRoom } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { mailOf } from '../support/mail-of.ts';
import { expectCaptured } from './captured.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { COUNCIL_FILES, COUNCIL_OBJECTIVE, COUNCIL_STEPS, COUNCIL_TURNS } from './council-script.ts';
import { startFakeAnthropic } from './fake-anthropic.ts';
import { startFakeOpenai } from './fake-openai.ts';
import { scriptModel } from './turn-scripts.ts';
import { processesOf, runtimesAt, turnsTaken, type Cli } from './whole-run-room.ts';
import { stateOf } from '../support/state.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);
const BRANCH = 'squad/the-router-waits';

describe('a council of the real claude and codex', () => {
  test.each<[Cli, Cli]>([
    ['claude', 'codex'],
    ['codex', 'claude'],
  ])('MAIN is %s, the members are %s: every message traced and read, the work delivered', async (first, others) => {
    const model = scriptModel(COUNCIL_TURNS);
    const anthropic = await startFakeAnthropic(model.anthropic);
    const openai = await startFakeOpenai(model.openai);
    const agent = (name: string, role: string, runtime: Cli) => ({
      ...{ name, role, runtime },
      ...(runtime === 'codex' ? { model: PLAIN_MODEL } : {}),
    });
    const settings = stringify({
      version: 1,
      playbook: 'council',
      agents: [agent('main', 'main', first), agent('a', 'member', others), agent('b', 'member', others)],
      runtimes: runtimesAt(openai.baseUrl),
    });
    const engine = openEngineRoom({ ...COUNCIL_FILES, 'squad.yaml': settings, 'objective.md': COUNCIL_OBJECTIVE });
    onTestFinished(async () => {
      await anthropic.close();
      await openai.close();
      engine.close();
    });
    const end = await engine.run(['run', 'objective.md', '--json', '--yes'], {
      ANTHROPIC_API_KEY: 'key-of-the-fake',
      ANTHROPIC_BASE_URL: anthropic.url,
      FAKE_KEY: 'key-of-the-fake',
    });
    const last = end.lines.at(-1);
    expect(model.strange).toEqual([]);
    expect(last, end.stderr).toMatchObject({ type: 'run-ended', outcome: 'done', exitCode: 0, branch: BRANCH });
    expect(model.asked.toSorted()).toEqual(COUNCIL_STEPS.toSorted());

    const { messages, unread, status } = mailOf(engine, String(last?.['runId']));
    expect(messages.toSorted()).toEqual(
      [
        'MAIN → A B: ask/review',
        'A → MAIN: report/review_feedback',
        'B → MAIN: done',
        'MAIN → A B: ask/verify',
        'A → MAIN: done/verified',
        'B → MAIN: done/verified',
        'MAIN → B: ask/assign',
        'B → MAIN: ask/clarify',
        'MAIN → B: send/answer',
        'B → MAIN: done',
      ].toSorted(),
    );
    expect([unread, status.unanswered, status.counts.refused]).toEqual([[], [], 0]);
    expect(status.tasks.map((task) => task.status).toSorted()).toEqual(['done', 'verified']);

    expect(git(engine.repository, 'show', `${BRANCH}:docs/design.md`)).toMatch(
      /at most 10 minutes[^]*first wait is 500 ms/,
    );
    expect(git(engine.repository, 'show', `${BRANCH}:src/router.mjs`)).toContain('backoff');
    const turns = turnsTaken(engine);
    expect(turns.filter(({ result }) => result?.outcome !== 'completed')).toEqual([]);
    // Each agent has one session, whatever it is asked.
    const sessions = new Set(turns.map(({ attempt, result }) => `${attempt.agent} ${result?.session?.id}`));
    expect(sessions.size).toBe(3);
    const check = checkLedger(ledgerPath(stateOf(engine.repository)));
    expect([...check.problems, ...check.violations]).toEqual([]);
    for (const name of ['main', 'a', 'b'])
      await expectCaptured({ engine, anthropic, openai }, `council-${name}`, ({ attempt }) => attempt.agent === name);
    expect(await processesOf(engine.root)).toEqual([]);
  });
});
