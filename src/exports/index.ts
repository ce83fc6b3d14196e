/** Everything to run squad in an application of your own. `agentsquad/runtime` and `/playbook` are for parts of your own. */
export { createSquad, type Squad, type SquadOptions } from '../squad/squad.ts';
export type { RunEnd, RunningRun } from '../view/running-run.ts';
export { errorLineSchema, type ErrorLine } from '../model/error-line.ts';
export { ERROR_CODES, isSquadError, SquadError, type ErrorCode } from '../model/errors.ts';
export type { SomeLimits } from '../model/limits.ts';
export { runEventSchema, type RunEvent } from '../model/run-event.ts';
export type { TrustItem } from '../squad/preflight/trust-item.ts';
export { runStatusSchema, type RunStatus } from '../view/status.ts';
export type { RunSummary } from '../view/run-summary.ts';
export type { RunProgress } from '../view/usage-count.ts';
export type { Answered, AnswerOptions } from '../squad/answer.ts';
export type { CommandOptions } from '../squad/command-key.ts';
export type { InterventionRequest } from '../model/plan/verbs.ts';
export type { Intervened } from '../squad/intervene.ts';
export type { ObjectiveSource } from '../squad/sources/source-of.ts';
export type { TrustOption } from '../squad/new-run.ts';
export type {
  EjectedPrompt,
  PromptDiff,
  PromptSummary,
  ShownPrompt,
  SquadPrompts,
} from '../squad/repository-prompts.ts';
export type { Reloaded } from '../squad/reload.ts';
export type { ResumeOptions, RunOptions } from '../squad/run.ts';
export type { Stopped, StopOptions } from '../squad/stop.ts';
export type { SubmitOptions, SubmittedRun } from '../squad/submit.ts';
export type { QueuedBase, QueuedRun } from '../view/queue.ts';
