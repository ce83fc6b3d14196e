/** Public test suites and their types. Your own adapter must pass them. */
export { checkHistory } from '../substrate/ledger/check-database.ts';
export type { CapsOfRuns, Violation } from '../substrate/ledger/history.ts';
export { CASES, runtimeConformance } from './runtime-conformance.ts';
export {
  FAILING_SCENARIOS,
  SCENARIOS,
  type RuntimeBench,
  type RuntimeHarness,
  type ScenarioName,
} from './runtime-scenarios.ts';
export type { RuntimeCase, Stage, Started, Ended, TestRunner } from './runtime-stage.ts';
