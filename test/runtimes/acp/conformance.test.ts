// @module-tag all
import { CASES, runtimeConformance } from '../../../src/testing/runtime-conformance.ts';
import { acpHarness } from '../../support/acp-harness.ts';
import { NIGHT } from '../../support/lane.ts';
import { vitestRunner } from '../../support/vitest-runner.ts';

// Of what every runtime promises, the other half is tried with the scripted one on each commit.
runtimeConformance(
  vitestRunner((index) => index % 2 === 0 || index >= CASES.length, NIGHT),
  acpHarness,
);
