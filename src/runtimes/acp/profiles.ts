import { ACP_AGENTS, type AcpAgent } from '../../model/runtime-name.ts';

/** What squad knows of an agent that speaks the Agent Client Protocol. */
export interface Profile {
  /** A name on PATH or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** What to do where the program is missing. */
  readonly install?: string;
  /** Variables with a key or token. Any of them is a login. */
  readonly keys: readonly string[];
  /** Other variables that it may have of the host's. */
  readonly passes: readonly string[];
  /** The method of `authenticate` that takes the key. Absent: none is called. */
  readonly auth?: string;
}

/** undefined: only settings know the agent. */
export function profileOf(agent: string): Profile | undefined {
  return ACP_AGENTS.find((known) => known === agent) && PROFILES[agent as AcpAgent];
}

/** The agents that squad can start without settings. */
const PROFILES: Readonly<Record<AcpAgent, Profile>> = {
  gemini: {
    command: 'gemini',
    args: ['--acp'],
    install: 'npm install -g @google/gemini-cli',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    passes: ['GOOGLE_GEMINI_BASE_URL', 'GEMINI_MODEL'],
    auth: 'gemini-api-key',
  },
  copilot: {
    command: 'copilot',
    args: ['--acp'],
    install: 'npm install -g @github/copilot',
    keys: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_PROVIDER_API_KEY'],
    passes: ['COPILOT_PROVIDER_BASE_URL', 'COPILOT_PROVIDER_TYPE', 'COPILOT_MODEL', 'COPILOT_OFFLINE'],
  },
  opencode: {
    command: 'opencode',
    args: ['acp'],
    install: 'npm install -g opencode-ai',
    keys: ['OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY'],
    passes: ['OPENCODE_CONFIG_CONTENT'],
  },
  qwen: {
    command: 'qwen',
    args: ['--acp'],
    install: 'npm install -g @qwen-code/qwen-code',
    keys: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY'],
    passes: ['OPENAI_BASE_URL', 'OPENAI_MODEL'],
    auth: 'openai',
  },
  kimi: {
    command: 'kimi',
    args: ['acp'],
    install: 'npm install -g @moonshot-ai/kimi-code',
    keys: ['KIMI_API_KEY', 'MOONSHOT_API_KEY'],
    passes: ['KIMI_BASE_URL', 'KIMI_MODEL_NAME'],
  },
  antigravity: {
    command: 'agy_acp_server',
    args: [],
    keys: ['GEMINI_API_KEY'],
    passes: [],
    auth: 'gemini-api-key',
  },
};
