import { describe, it } from 'vitest';
import { runtimeConformance } from '../../src/testing/runtime-conformance.ts';
import { vitestRunner } from '../support/vitest-runner.ts';
import { CLAUDE_BINARY, claudeHarness, NO_BINARY } from './claude-harness.ts';

if (CLAUDE_BINARY === undefined) {
  describe('claude keeps the promises of AgentRuntime', () => it.skip(`not run: ${NO_BINARY}`, () => undefined));
} else {
  runtimeConformance(vitestRunner(), claudeHarness);
}
