import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';
import type { TurnEvent } from '../../src/model/turn-event.ts';
import { LIVE_AGENTS } from './acp-agents.ts';
import { acts, openAcpBench, type AcpBench } from './acp-live-harness.ts';

const STOPPED_MS = 5000;

let bench: AcpBench | undefined;
afterEach(() => bench?.close());

describe.each(LIVE_AGENTS)('a turn of the real $name', (agent) => {
  it.skipIf(agent.binary === undefined)(
    'is over 5 s after it is cancelled in an open request',
    { timeout: 120_000 },
    async () => {
      const call = { act: 'mail', server: 'desk', tool: 'note', arguments: { text: 'from the agent' } } as const;
      bench = await openAcpBench(agent, acts(agent, call));
      const { command, args } = bench.mcpServer;
      const request: TurnRequest = {
        turnId: `cancel-${process.pid}-${Date.now()}`,
        workspace: bench.workspace,
        prompt: 'Please continue.',
        instructions: 'You are a member of a squad.',
        access: { level: 'edit' },
        ask: 'human',
        // The policy knows other tools of this server, so a person is asked about this one.
        mcp: [
          {
            name: 'desk',
            required: true,
            tools: ['other'],
            transport: { type: 'stdio', command, args: [...args], env: {} },
          },
        ],
        ...bench.request,
        limits: { ...DEFAULT_TURN_LIMITS, ...bench.request.limits },
      };
      const events: TurnEvent[] = [];
      const turn = bench.runtime().start(request, {
        directory: await bench.directory(),
        onEvent: (event) => events.push(event),
        onSpawned: () => Promise.resolve(),
      });
      const isCalled = (): boolean => events.some((event) => event.type === 'tool-started');
      for (let waited = 0; !isCalled() && waited < 40_000; waited += 100) await pause(100);
      expect(isCalled(), JSON.stringify(events)).toBe(true);
      await pause(1500);
      expect(await bench.notes()).toEqual([]);
      const from = performance.now();
      const result = await turn.cancel('the operator stopped it');
      expect(performance.now() - from).toBeLessThan(STOPPED_MS);
      expect(result.outcome).toBe('cancelled');
      expect(await bench.marked(request.turnId)).toEqual([]);
      expect(await bench.notes()).toEqual([]);
    },
  );
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
