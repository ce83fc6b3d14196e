/** Public test suites and their types: what an adapter of your own has to pass. */
export { checkHistory, type LedgerHistory, type Violation } from './history-checker.ts';
export { runtimeConformance } from './runtime-conformance.ts';
export { CASES } from './runtime-cases.ts';
export {
  FAILING_SCENARIOS,
  SCENARIOS,
  type RuntimeBench,
  type RuntimeHarness,
  type ScenarioName,
} from './runtime-scenarios.ts';
export type { RuntimeCase, Stage, Started, Ended, TestRunner } from './runtime-stage.ts';
