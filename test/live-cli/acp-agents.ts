import type { AcpAgent } from '../../src/model/runtime-name.ts';
import {
  calls,
  fails,
  says,
  startFakeAnthropic,
  type FakeReply,
  type FakeRequest,
  type FakeScript,
} from './fake-anthropic.ts';
import { startFakeGemini, type FakeGemini } from './fake-gemini.ts';
import type { Act } from './turn-scripts.ts';

/** A real agent that speaks the Agent Client Protocol, and how a model behind it is scripted. */
export interface AcpLiveAgent {
  readonly name: AcpAgent;
  /** Absolute path of the real program; the live lane sets it. */
  readonly binary: string | undefined;
  readonly noBinary: string;
  /** The API that it calls, on loopback. */
  start(script: FakeScript): Promise<FakeGemini>;
  /** What leads the agent to this API. */
  environment(url: string): Readonly<Record<string, string>>;
  /** For agents that take it from squad; the others' is in the environment. */
  readonly model?: string;
  /** The act as a call of the agent's own tools. */
  reply(act: Act, request: FakeRequest): FakeReply;
  readonly reportsNoUsage?: true;
  /** Promises that it cannot keep, by the title of the case. */
  readonly skip: readonly { readonly title: string; readonly reason: string }[];
  /** How the API refuses a request. */
  readonly failures: Readonly<Record<ApiFailure, FakeReply>>;
}

export type ApiFailure =
  | 'bad-request'
  | 'unauthorized'
  | 'forbidden'
  | 'unknown-model'
  | 'rate-limit'
  | 'server-error'
  | 'overloaded';

/** The tools of an agent, by what an act needs. */
interface Tools {
  readonly write: (path: string, text: string) => [name: string, input: Record<string, unknown>];
  readonly read: (path: string) => [name: string, input: Record<string, unknown>];
  readonly shell: (command: string) => [name: string, input: Record<string, unknown>];
  readonly mcp: (server: string, tool: string) => string;
  /** Where the agent tells the model its folder. */
  readonly folder: RegExp;
}

function replyWith(tools: Tools): AcpLiveAgent['reply'] {
  return (act, { raw }) => {
    const folder = tools.folder.exec(raw)?.[1] ?? '/unknown';
    switch (act.act) {
      case 'write':
        return calls(...tools.write(`${folder}/${act.path}`, act.text));
      case 'read':
        return calls(...tools.read(`${folder}/${act.path}`));
      case 'shell':
        return calls(...tools.shell(act.command));
      case 'mail':
        return calls(tools.mcp(act.server ?? 'squad', act.tool), act.arguments);
      case 'own':
        return calls(act.tool, act.arguments);
      case 'answer':
        return says(JSON.stringify(act.value));
      case 'say':
        return says(act.text);
    }
  };
}

/** OpenCode asks the model for a title too. */
const titled =
  (script: FakeScript): FakeScript =>
  (request) => {
    if (request.tools.length === 0) return says('Title');
    return typeof script === 'function'
      ? script(request)
      : (script[Math.min(request.step, script.length - 1)] ?? says('done'));
  };

const ANTHROPIC_FAILURES: AcpLiveAgent['failures'] = {
  'bad-request': fails(400, 'invalid_request_error', 'messages: malformed'),
  unauthorized: fails(401, 'authentication_error', 'invalid x-api-key'),
  forbidden: fails(403, 'permission_error', 'Your account does not have access'),
  'unknown-model': fails(404, 'not_found_error', 'model: unknown'),
  'rate-limit': fails(429, 'rate_limit_error', 'This request would exceed your rate limit'),
  'server-error': fails(500, 'api_error', 'Internal server error'),
  overloaded: fails(529, 'overloaded_error', 'Overloaded'),
};

const NO_UNKNOWN = {
  title: 'a turn that is cancelled while a request waits for a person is over within 5 s',
  reason: 'all its own tools are of kinds that the policy knows; acp-cancel.test.ts does it with an MCP tool',
};
const OTHER_FOLDER = 'the prompt of a session resumed in another folder names the change';
const NO_OUTPUT = 'Gemini CLI 0.61.0 reports no output and no exit code of a shell command';

export const GEMINI: AcpLiveAgent = {
  name: 'gemini',
  binary: process.env['SQUAD_LIVE_GEMINI'],
  noBinary: 'SQUAD_LIVE_GEMINI does not name a gemini',
  start: startFakeGemini,
  environment: (url) => ({ GEMINI_API_KEY: 'key-of-the-fake', GOOGLE_GEMINI_BASE_URL: url }),
  model: 'gemini-2.5-flash',
  reply: replyWith({
    write: (path, text) => ['write_file', { file_path: path, content: text }],
    read: (path) => ['read_file', { file_path: path }],
    shell: (command) => ['run_shell_command', { command, description: 'run a command' }],
    mcp: (server, tool) => `mcp_${server}_${tool}`,
    folder: /Workspace Directories:\*\*\\n {2}- ([^\s"\\]+)/,
  }),
  skip: [
    NO_UNKNOWN,
    { title: 'a tool is reported from its start to its end', reason: NO_OUTPUT },
    { title: 'a failed tool does not fail the turn', reason: NO_OUTPUT },
    {
      title: 'a permission asked while no engine is alive is given, and the turn is harvested',
      reason: `${NO_OUTPUT}; adoption.test.ts does it without`,
    },
    {
      title: OTHER_FOLDER,
      reason: 'Gemini CLI 0.61.0 finds a session only in the folder in which it began',
    },
  ],
  failures: {
    'bad-request': fails(400, 'INVALID_ARGUMENT', 'Request contains an invalid argument.'),
    unauthorized: fails(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
    forbidden: fails(403, 'PERMISSION_DENIED', 'The caller does not have permission'),
    'unknown-model': fails(404, 'NOT_FOUND', 'models/gemini-none is not found for API version v1beta'),
    'rate-limit': fails(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'),
    'server-error': fails(500, 'INTERNAL', 'An internal error has occurred.'),
    overloaded: fails(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  },
};

const OPENCODE: AcpLiveAgent = {
  name: 'opencode',
  binary: process.env['SQUAD_LIVE_OPENCODE'],
  noBinary: 'SQUAD_LIVE_OPENCODE does not name an opencode',
  start: (script) => startFakeAnthropic(titled(script)),
  environment: (url) => ({
    ANTHROPIC_API_KEY: 'key-of-the-fake',
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      model: 'anthropic/claude-sonnet-4-5',
      small_model: 'anthropic/claude-sonnet-4-5',
      provider: { anthropic: { options: { baseURL: `${url}/v1` } } },
    }),
  }),
  reply: replyWith({
    write: (path, text) => ['write', { filePath: path, content: text }],
    read: (path) => ['read', { filePath: path }],
    shell: (command) => ['bash', { command, description: 'run a command' }],
    mcp: (server, tool) => `${server}_${tool}`,
    folder: /Working directory: ([^\s"\\]+)/,
  }),
  reportsNoUsage: true,
  skip: [
    NO_UNKNOWN,
    ...[
      'a turn that answers is completed, with text, session and usage',
      'a resumed turn continues the same session and counts only its own use',
    ].map((title) => ({ title, reason: 'OpenCode 1.18.33 reports the usage of the last request alone' })),
    { title: OTHER_FOLDER, reason: 'OpenCode 1.18.33 works on in the folder in which a session began' },
  ],
  failures: ANTHROPIC_FAILURES,
};

const COPILOT: AcpLiveAgent = {
  name: 'copilot',
  binary: process.env['SQUAD_LIVE_COPILOT'],
  noBinary: 'SQUAD_LIVE_COPILOT does not name a copilot',
  start: startFakeAnthropic,
  environment: (url) => ({
    COPILOT_PROVIDER_BASE_URL: url,
    COPILOT_PROVIDER_TYPE: 'anthropic',
    COPILOT_PROVIDER_API_KEY: 'key-of-the-fake',
    COPILOT_MODEL: 'claude-sonnet-4.5',
    COPILOT_OFFLINE: 'true',
  }),
  reply: replyWith({
    write: (path, text) => ['create', { path, file_text: text }],
    read: (path) => ['view', { path }],
    shell: (command) => ['bash', { command, description: 'run a command' }],
    mcp: (server, tool) => `${server}-${tool}`,
    folder: /working directory: ([^\s"\\]+)/,
  }),
  skip: [NO_UNKNOWN],
  failures: ANTHROPIC_FAILURES,
};

export const LIVE_AGENTS: readonly AcpLiveAgent[] = [GEMINI, OPENCODE, COPILOT];
