import type { FailureKind } from '../model/failure.ts';
import type { ProcessIdentity } from '../model/process-identity.ts';
import type { TurnRequest, Workspace } from '../model/turn-request.ts';
import type { AgentRuntime } from '../runtimes/port/agent-runtime.ts';

/**
 * How the agent must behave in each scenario. A harness arranges this by a script, a fake model server behind the real binary,
 * or a recording. The suite checks only what the port promises about it.
 */
export const SCENARIOS = {
  answer: 'Answers `hello from the agent` without any tool.',
  echo: 'Answers with the whole prompt it received; the harness also returns it from `received()`.',
  empty: 'Ends its turn successfully with an empty answer.',
  tool: 'Runs one shell command that prints `tool-ran`, then answers `done`.',
  'failing-tool': 'Runs one shell command that exits with 3, then answers `done`.',
  edit: 'Creates `made.txt` holding `made by the agent` in its workspace, then answers `done`.',
  commit: 'Creates `made.txt`, runs `git add -A` and `git commit -m made` in its workspace, then answers `done`.',
  structured: 'Gives the structured answer {"verdict":"approve","score":7} when a schema is asked for.',
  'ignored-schema': 'Answers prose although a schema is asked for.',
  'wrong-schema': 'Gives the structured answer {"verdict":"maybe"}, which breaks the schema.',
  mcp: 'Calls the tool `note` of the MCP server `desk` with {"text":"from the agent"}, then answers `done`.',
  'mcp-down': 'Would answer `done`, but the required MCP server cannot start.',
  'two-turns': 'Answers `first` to its first turn and `second` to the next one of the same session.',
  'long-tool': 'Runs one shell command that sleeps for 30 s and starts a child that sleeps as long.',
  denied: 'Tries a tool that its access does not allow, then answers `done`.',
  slow: 'Runs one shell command that sleeps for 2 s, then answers `done`.',
  environment: 'Runs `env` in a shell, then answers `done`.',
  hermetic: 'Answers `hello from the agent` in a repository that plants configuration for every agent CLI.',
  'bad-request': 'The model refuses the request as malformed (HTTP 400).',
  unauthorized: 'The model refuses the key (HTTP 401).',
  forbidden: 'The model refuses the account (HTTP 403).',
  'unknown-model': 'The model does not exist (HTTP 404).',
  'rate-limit': 'The model answers HTTP 429 every time.',
  'usage-limit': 'The account has used up its quota; the answer says when it resets.',
  'server-error': 'The model answers HTTP 500 every time.',
  overloaded: 'The model says it is overloaded (HTTP 529 or 503) every time.',
  'cut-stream': 'The model’s stream is cut in the middle of every answer.',
  'refused-connection': 'Nothing listens where the model should be.',
  silent: 'The server accepts the connection and never answers.',
} as const;
/** The name of a scenario. */
export type ScenarioName = keyof typeof SCENARIOS;

/**
 * How the agent must behave where its runtime holds a conversation with it: it asks and is answered in the middle of a
 * turn.
 */
export const CONVERSATION_SCENARIOS = {
  'late-request':
    'Waits for a second, asks whether it may run `echo tool-ran` in a shell, runs it if so, answers `done`.',
  'asked-person':
    'Asks whether it may use a tool that no rule covers, which creates `asked.txt`, uses it if so, then answers `done`. A person is to answer.',
  'open-text': 'Says `still thinking` and then nothing more.',
  'long-tool': SCENARIOS['long-tool'],
  history:
    'Runs `echo tool-ran` in a shell and answers `first` to its first turn, and answers `second` to the next one.',
  'repaired-answer':
    'Asked for a schema, it answers prose first, and {"verdict":"approve","score":7} once it knows what is wrong.',
} as const;
/** The name of a scenario of a conversation. */
export type ConversationScenario = keyof typeof CONVERSATION_SCENARIOS;

/** The failure kind of each failing scenario. */
export const FAILING_SCENARIOS: readonly (readonly [ScenarioName, FailureKind])[] = [
  ['bad-request', 'bad-request'],
  ['unauthorized', 'auth'],
  ['forbidden', 'auth'],
  ['unknown-model', 'model-unavailable'],
  ['rate-limit', 'rate-limited'],
  ['usage-limit', 'quota-exhausted'],
  ['server-error', 'server-error'],
  ['overloaded', 'overloaded'],
  ['cut-stream', 'network'],
  ['refused-connection', 'network'],
  ['silent', 'stalled'],
];

/** One arranged scenario. It is temporary and belongs to one case. */
export interface RuntimeBench {
  /** A new runtime object over the same state, as after a restart of the engine. */
  runtime(): AgentRuntime;
  /** A folder with a git repository of its own, at a detached commit with `readme.md`; `repository` is true. */
  readonly workspace: Workspace;
  /** A second one at the same commit. */
  otherWorkspace(): Promise<Workspace>;
  /** A new, empty turn directory. */
  directory(): Promise<string>;
  /** The fields that this runtime needs (model, rules, limits); the suite sets the rest. */
  readonly request: Partial<TurnRequest>;
  /** All text that the model or program has received so far. */
  received(): string;
  /** An MCP server `desk` with a tool `note`. `notes()` returns what the tool received. */
  readonly mcpServer: { readonly command: string; readonly args: readonly string[] };
  notes(): Promise<readonly string[]>;
  /** Names of the host's variables that no agent may see. Their values contain `canary`. */
  readonly canaries: readonly string[];
  /** Files that exist only if planted configuration ran something. */
  planted(): Promise<readonly string[]>;
  alive(identity: ProcessIdentity): Promise<boolean>;
  /** The agent reports no usage, so that nothing can be lost of it. */
  readonly reportsNoUsage?: boolean;
  /** Live processes that carry the marker. */
  marked(marker: string): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** Tells the suite how to make a runtime do what each scenario says. */
export interface RuntimeHarness {
  readonly name: string;
  open(scenario: ScenarioName): Promise<RuntimeBench>;
  /** Give it if the runtime holds a conversation with its agent. Without it the suite skips those cases. */
  openConversation?(scenario: ConversationScenario): Promise<RuntimeBench>;
  /** Cases that this runtime cannot pass, by title, with the reason. An unknown title fails the suite. */
  readonly skip?: readonly { readonly title: string; readonly reason: string }[];
  /** Longest time in ms that a failing turn may take with the limits in `request`. */
  readonly failureBoundMs: number;
}
