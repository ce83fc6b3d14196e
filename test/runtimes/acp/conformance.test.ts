import { runtimeConformance } from '../../../src/testing/runtime-conformance.ts';
import { acpHarness } from '../../support/acp-harness.ts';
import { vitestRunner } from '../../support/vitest-runner.ts';

runtimeConformance(vitestRunner(), acpHarness);
