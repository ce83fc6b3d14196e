import { runtimeConformance } from '../../../src/testing/runtime-conformance.ts';
import { inProcessHarness } from '../../support/in-process-harness.ts';
import { vitestRunner } from '../../support/vitest-runner.ts';

// The other runtimes try the rest on each commit.
runtimeConformance(
  vitestRunner((index) => index % 3 === 0),
  inProcessHarness,
);
