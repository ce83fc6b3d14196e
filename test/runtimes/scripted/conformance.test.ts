import { runtimeConformance } from '../../../src/testing/runtime-conformance.ts';
import { scriptedHarness } from '../../support/scripted-harness.ts';
import { vitestRunner } from '../../support/vitest-runner.ts';

runtimeConformance(vitestRunner(), scriptedHarness);
