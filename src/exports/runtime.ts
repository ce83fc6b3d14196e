/** Everything to write a runtime: an adapter of a command-line program, or the whole port. */
export type { RuntimeFactory, RuntimePorts } from '../engine/compose.ts';
export type { Access } from '../model/access.ts';
export { FAILURE_KINDS, type Failure, type FailureKind } from '../model/failure.ts';
export type { GitSettings } from '../model/git-settings.ts';
export type { ProcessIdentity } from '../model/process-identity.ts';
export type { RuntimeDescription } from '../model/runtime-description.ts';
export type { SessionRef } from '../model/session-ref.ts';
export type { ToolKind, TurnEvent, TurnReport } from '../model/turn-event.ts';
export type { McpServer, TurnLimits, TurnRequest, Workspace } from '../model/turn-request.ts';
export type { Outcome, TurnResult } from '../model/turn-result.ts';
export { usageSchema, type Usage } from '../model/usage.ts';
export { PORT_VERSION } from '../runtimes/port/agent-runtime.ts';
export type {
  AgentRuntime,
  AttachContext,
  Probe,
  Turn,
  TurnActivity,
  TurnContext,
} from '../runtimes/port/agent-runtime.ts';
export { childEnvironment, gitEnvironment } from '../runtimes/shared/child-environment.ts';
export type {
  CliAdapter,
  CliCommand,
  NativeLine,
  Refusal,
  RuntimeSettings,
  TurnFacts,
  Verdict,
} from '../runtimes/shared/cli-adapter.ts';
export { createCliRuntime } from '../runtimes/shared/cli-turn.ts';
export { instructionsHash, sessionRefusal } from '../runtimes/shared/session.ts';
export { promptFor } from '../runtimes/shared/turn-prompt.ts';
