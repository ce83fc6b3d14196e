import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { ProcessIdentity } from '../../../src/model/process-identity.ts';
import { DEFAULT_TURN_LIMITS } from '../../../src/model/turn-request.ts';
import { acpHarness } from '../../support/acp-harness.ts';
import { ALL } from '../../support/lane.ts';

it(
  'a turn that reaches its time limit without an engine has timed out, whatever its host says of that',
  ALL,
  async () => {
    const bench = await acpHarness.openConversation!('open-text');
    onTestFinished(() => bench.close());
    const directory = await bench.directory();
    const request = {
      turnId: `wall-${process.pid}`,
      workspace: bench.workspace,
      prompt: 'Please continue.',
      instructions: 'You are a member of a squad.',
      access: { level: 'edit' as const },
      mcp: [],
      limits: { ...DEFAULT_TURN_LIMITS, wallMs: 8000 },
    };
    const said = Promise.withResolvers<void>();
    const spawned = Promise.withResolvers<{ identity: ProcessIdentity; spawnedAt: number }>();
    const turn = bench.runtime().start(request, {
      directory,
      onEvent: ({ type }) => void (type === 'text' && said.resolve()),
      onSpawned: (identity, spawnedAt) => Promise.resolve(spawned.resolve({ identity, spawnedAt })),
    });
    await said.promise;
    await turn.detach();
    while ((await bench.marked(request.turnId)).length > 0) await sleep(100);
    const result = await bench.runtime().attach(request, { directory, ...(await spawned.promise) }).result;
    expect(result).toMatchObject({ outcome: 'timed-out', failure: { kind: 'wall-timeout' } });
  },
);
