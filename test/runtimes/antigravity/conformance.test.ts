// @module-tag all
import { runtimeConformance } from '../../../src/testing/runtime-conformance.ts';
import { antigravityHarness } from '../../support/antigravity-harness.ts';
import { NIGHT } from '../../support/lane.ts';
import { vitestRunner } from '../../support/vitest-runner.ts';

runtimeConformance(
  vitestRunner((index) => index % 3 === 0, NIGHT),
  antigravityHarness,
);
