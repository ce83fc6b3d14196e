import { describe, it } from 'vitest';
import { runtimeConformance } from '../../src/testing/runtime-conformance.ts';
import { vitestRunner } from '../support/vitest-runner.ts';
import { CODEX_BINARY, codexHarness, NO_BINARY } from './codex-harness.ts';

if (CODEX_BINARY === undefined) {
  describe('codex keeps the promises of AgentRuntime', () => it.skip(`not run: ${NO_BINARY}`, () => undefined));
} else {
  runtimeConformance(vitestRunner(), codexHarness);
}
