import { describe, it } from 'vitest';
import { runtimeConformance } from '../../src/testing/runtime-conformance.ts';
import { vitestRunner } from '../support/vitest-runner.ts';
import { LIVE_AGENTS } from './acp-agents.ts';
import { liveHarness } from './acp-live-harness.ts';

for (const agent of LIVE_AGENTS) {
  const { name, binary, noBinary } = agent;
  if (binary === undefined) {
    describe(`acp/${name} keeps the promises of AgentRuntime`, () => it.skip(`not run: ${noBinary}`, () => undefined));
  } else {
    runtimeConformance(vitestRunner(), liveHarness(agent));
  }
}
