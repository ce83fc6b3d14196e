/** Everything to prove that a runtime of your own keeps the promises of the port. */
export { CASES, runtimeConformance } from './runtime-conformance.ts';
export {
  CONVERSATION_SCENARIOS,
  FAILING_SCENARIOS,
  SCENARIOS,
  type ConversationScenario,
  type RuntimeBench,
  type RuntimeHarness,
  type ScenarioName,
} from './runtime-scenarios.ts';
export type { RuntimeCase, TestRunner } from './runtime-stage.ts';
export { TRIGGER_CASES, triggerConformance, type TriggerCase, type TriggerHarness } from './trigger-conformance.ts';
export type { Segment, SegmentOffer, StopTaking, TakenSegment, Trigger } from '../substrate/ports/trigger.ts';
