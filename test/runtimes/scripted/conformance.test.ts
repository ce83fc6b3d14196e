import { runtimeConformance } from '../../../src/testing/runtime-conformance.ts';
import { scriptedHarness } from '../../support/scripted-harness.ts';
import { vitestRunner } from '../../support/vitest-runner.ts';

// The other half is tried with an ACP agent on each commit.
runtimeConformance(
  vitestRunner((index) => index % 2 === 1),
  scriptedHarness,
);
