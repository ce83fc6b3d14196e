/** The public API. */
export { createSquad, type Squad, type SquadOptions } from './squad.ts';
export type { Answered, Intervened, InterventionRequest, ObjectiveSource, Reloaded, ResumeOptions } from './squad.ts';
export type { RunOptions, RunSummary, Stopped, TrustOption } from './squad.ts';
export { compose, type Composition, type Host, type RuntimeChoice } from './compose.ts';
export { haltRun, resumeRun, startRun } from './engine.ts';
export type { EnginePorts, RunEnd, RunningRun } from './engine.ts';
export type { RunProgress } from './read-model/usage-count.ts';
export { preflight, type Preflight, type PreflightPorts, type PreflightRequest } from './preflight/preflight.ts';
export { RUNTIME_NAMES, type RuntimeName } from './model/runtime-name.ts';
export { isSquadError, SquadError, ERROR_CODES, type ErrorCode } from './model/errors.ts';
export { errorLineSchema, type ErrorLine } from './model/error-line.ts';
export { FAILURE_KINDS, type Failure, type FailureKind } from './model/failure.ts';
export type { Access } from './model/access.ts';
export type { GitSettings } from './model/git-settings.ts';
export type { Attempt, Settlement } from './model/attempt.ts';
export type { LedgerEvent } from './model/ledger-event.ts';
export type { PublishFacts, RunDefinition } from './model/run.ts';
export { runEventSchema, type RunEvent } from './model/run-event.ts';
export type { ProcessIdentity } from './model/process-identity.ts';
export type { SessionRef } from './model/session-ref.ts';
export type { ToolKind, TurnEvent, TurnReport } from './model/turn-event.ts';
export { DEFAULT_TURN_LIMITS, turnRequestSchema } from './model/turn-request.ts';
export type { McpServer, TurnLimits, TurnRequest, Workspace } from './model/turn-request.ts';
export { turnResultSchema, type Outcome, type TurnResult } from './model/turn-result.ts';
export { usageSchema, type Usage } from './model/usage.ts';
export { runStatusSchema, type RunStatus } from './read-model/status.ts';
export { PORT_VERSION } from './runtimes/port/agent-runtime.ts';
export type {
  AgentRuntime,
  AttachContext,
  Probe,
  Turn,
  TurnActivity,
  TurnContext,
} from './runtimes/port/agent-runtime.ts';
export type { CliAdapter, CliCommand, NativeLine, Refusal, TurnFacts, Verdict } from './runtimes/shared/cli-adapter.ts';
export { createCliRuntime } from './runtimes/shared/cli-turn.ts';
export { childEnvironment, gitEnvironment } from './runtimes/shared/child-environment.ts';
export { instructionsHash, promptFor, sessionRefusal } from './runtimes/shared/session.ts';
export { createSystemClock } from './substrate/clock/system-clock.ts';
export { openLedger, lockWorkspace, checkDatabase } from './substrate/ledger/index.ts';
export type { Ledger } from './substrate/ports/ledger.ts';
export type { Processes } from './substrate/ports/processes.ts';
export { createSystemProcesses } from './substrate/process/system-processes.ts';
