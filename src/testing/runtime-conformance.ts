import { setTimeout } from 'node:timers/promises';
import type { ProcessIdentity } from '../model/process-identity.ts';
import type { TurnEvent } from '../model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../model/turn-request.ts';
import { turnResultSchema } from '../model/turn-result.ts';
import { CONVERSATION_CASES } from './cases/conversation-cases.ts';
import { FAILURE_CASES } from './cases/failure-cases.ts';
import { LIFE_CASES } from './cases/life-cases.ts';
import { SAFETY_CASES } from './cases/safety-cases.ts';
import { SESSION_CASES } from './cases/session-cases.ts';
import { WORK_CASES } from './cases/work-cases.ts';
import type { RuntimeBench, RuntimeHarness } from './runtime-scenarios.ts';
import type { ConversationCase, RuntimeCase, Stage, Started, TestRunner } from './runtime-stage.ts';

/** Tests one runtime against every promise of the port. A case is skipped only by title and reason. */
export function runtimeConformance(runner: TestRunner, harness: RuntimeHarness): void {
  const skips = new Map((harness.skip ?? []).map((entry) => [entry.title, entry.reason]));
  runner.describe(`${harness.name} keeps the promises of AgentRuntime`, () => {
    const add = (item: RuntimeCase | ConversationCase, open: () => Promise<RuntimeBench>): void => {
      const reason = skips.get(item.title);
      skips.delete(item.title);
      if (reason !== undefined) runner.skip(`${item.title} (skipped: ${reason})`);
      else runner.it(item.title, () => runCase(harness, item, open), harness.failureBoundMs + 60_000);
    };
    for (const item of CASES) add(item, () => harness.open(item.scenario));
    const converse = harness.openConversation?.bind(harness);
    for (const item of CONVERSATION_CASES) {
      if (converse !== undefined) add(item, () => converse(item.scenario));
      else runner.skip(`${item.title} (skipped: the runtime holds no conversation)`);
    }
    for (const title of skips.keys()) {
      runner.it(
        `knows the skipped case: ${title}`,
        () => Promise.reject(new Error(`no case has the title ${title}`)),
        1000,
      );
    }
  });
}

async function runCase(
  harness: RuntimeHarness,
  item: RuntimeCase | ConversationCase,
  open: () => Promise<RuntimeBench>,
): Promise<void> {
  const bench = await open();
  const started: Started[] = [];
  try {
    await item.check(stageOf(harness, bench, started));
    for (const { request } of started) {
      const left = await bench.marked(request.turnId);
      if (left.length > 0) throw new Error(`processes of ${request.turnId} are still alive: ${left.join(', ')}`);
    }
  } catch (error) {
    // A turn that another engine took over never answers.
    await Promise.all(
      started.map(({ turn }) =>
        Promise.race([turn.cancel('the case is over'), setTimeout(15_000, undefined, { ref: false })]),
      ),
    );
    throw error;
  } finally {
    await bench.close();
  }
}

function stageOf(harness: RuntimeHarness, bench: RuntimeBench, started: Started[]): Stage {
  let turns = 0;
  const start = async (request: TurnRequest): Promise<Started> => {
    const directory = await bench.directory();
    const events: TurnEvent[] = [];
    let spawned: { identity: ProcessIdentity; at: number } | undefined;
    const released = Promise.withResolvers<void>();
    const turn = bench.runtime().start(request, {
      directory,
      onEvent: (event) => events.push(event),
      onSpawned: (identity, at) => {
        spawned = { identity, at };
        released.resolve();
        return Promise.resolve();
      },
    });
    await Promise.race([released.promise, turn.result]);
    const entry = { turn, directory, events, identity: spawned?.identity, spawnedAt: spawned?.at ?? 0, request };
    started.push(entry);
    return entry;
  };
  return {
    bench,
    failureBoundMs: harness.failureBoundMs,
    request: (changes = {}) => {
      turns += 1;
      return {
        turnId: `conformance-${process.pid}-${Date.now()}-${turns}`,
        workspace: bench.workspace,
        prompt: 'Please continue.',
        instructions: 'You are a member of a squad.',
        access: { level: 'edit' },
        mcp: [],
        limits: DEFAULT_TURN_LIMITS,
        ...bench.request,
        ...changes,
      };
    },
    start,
    run: async (request) => {
      const from = performance.now();
      const entry = await start(request);
      const result = turnResultSchema.parse(await entry.turn.result);
      return { ...entry, result, tookMs: performance.now() - from };
    },
  };
}

/** Every promise of the port. */
export const CASES: readonly RuntimeCase[] = [
  ...WORK_CASES,
  ...SESSION_CASES,
  ...LIFE_CASES,
  ...FAILURE_CASES,
  ...SAFETY_CASES,
];
