import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionRef } from '../../model/session-ref.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import type { Probe } from '../port/agent-runtime.ts';
import type { CliAdapter } from '../shared/cli-adapter.ts';
import type { RuntimeSettings } from '../shared/runtime-settings.ts';
import { command, NAME } from './command.ts';
import {
  confinementHere,
  environmentFor,
  findBinary,
  hasKey,
  homeFor,
  lookUp,
  NAME_OF_STATE,
  type ClaudeFacts,
} from './look-up.ts';
import { begin, isTerminal, translate, type ClaudeState } from './translate.ts';
import { conclude } from './verdict.ts';

/** Lowest version whose flags, events and sandbox this adapter was proved with. */
const FLOOR = '2.1.328';
const INSTALL = 'npm install -g @anthropic-ai/claude-code';

/** Drives Claude Code, one process per turn. */
export function createClaudeAdapter(
  settings: RuntimeSettings,
  ports: { readonly processes: Processes },
): CliAdapter<ClaudeFacts, ClaudeState> {
  return {
    name: NAME,
    lookUp: (request, directory) => lookUp(settings, ports, request, directory),
    command,
    begin,
    translate,
    isTerminal,
    conclude,
    // SIGINT leaves a result and takes the running tool along (0.1 to 1.6 s).
    ladder: [
      { signal: 'SIGINT', waitMs: 3000 },
      { signal: 'SIGTERM', waitMs: 3000 },
      { signal: 'SIGKILL', waitMs: 3000 },
    ],
    probe: () => probe(settings, ports.processes),
    dispose: (session) => dispose(settings, session),
  };
}

async function probe(settings: RuntimeSettings, processes: Processes): Promise<Probe> {
  const binary = await findBinary(settings);
  if (binary === undefined) {
    const text = 'claude was not found';
    const next = `install it with \`${INSTALL}\`, or name its path as runtimes.claude.command`;
    return { ok: false, floor: FLOOR, login: 'unknown', sandbox: 'none', problems: [{ text, next }] };
  }
  const problems: { text: string; next: string }[] = [];
  const env = environmentFor(settings);
  const said = await processes.run(binary, ['--version'], { env, timeoutMs: 15_000 });
  const version = /^\d+\.\d+\.\d+/.exec(said.stdout.trim())?.[0];
  const works = said.code === 0 && version !== undefined;
  if (!works) {
    const why = said.problem ?? (said.stderr.trim().slice(0, 200) || `exit ${said.code}`);
    problems.push({ text: `claude --version failed: ${why}`, next: `reinstall it with \`${INSTALL}\`` });
  }
  const current = version !== undefined && isAtLeast(version, FLOOR);
  if (version !== undefined && !current) {
    problems.push({ text: `claude ${version} is older than ${FLOOR}`, next: `update it with \`${INSTALL}@latest\`` });
  }
  const login = await loginState(settings);
  if (login === 'missing') {
    const next = 'run `claude` once and log in, or set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN';
    problems.push({ text: 'claude is not logged in', next });
  }
  const sandbox = await confinementHere(settings, { processes });
  if (sandbox === 'rules') {
    const text = 'no OS sandbox for claude: access `edit` is confined by its permission rules only';
    const next = 'install bubblewrap and socat (and allow user namespaces), or list what may run as agents[].allow';
    problems.push({ text, next });
  }
  const found = version === undefined ? {} : { version };
  return { ok: works && current && login !== 'missing', ...found, binary, floor: FLOOR, login, sandbox, problems };
}

/** Looks for credentials without reading them. macOS keeps them in its keychain, cloud providers elsewhere. */
async function loginState(settings: RuntimeSettings): Promise<Probe['login']> {
  if (hasKey(settings)) return 'ok';
  const file = await lstat(join(homeFor(settings), '.credentials.json')).catch(() => undefined);
  if (file !== undefined) return 'ok';
  const elsewhere = settings.allowEnvironment.some((name) => settings.environment[name] && OTHER_LOGIN.test(name));
  return elsewhere || settings.platform === 'darwin' ? 'unknown' : 'missing';
}

const OTHER_LOGIN = /^(?:ANTHROPIC_AUTH_TOKEN|CLAUDE_CODE_USE_(?:BEDROCK|VERTEX|FOUNDRY))$/;

function isAtLeast(version: string, floor: string): boolean {
  const wanted = floor.split('.').map(Number);
  for (const [index, part] of version.split('.').map(Number).entries()) {
    const least = wanted[index] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}

/** Removes a session's transcript and temporary files from a private home; the user's own home is left alone. */
async function dispose(settings: RuntimeSettings, session: SessionRef): Promise<void> {
  if (session.runtime !== NAME || !/^[0-9a-f-]{36}$/i.test(session.id)) return;
  const state = join(settings.stateDirectory, NAME_OF_STATE);
  await rm(join(state, 'tmp', session.id.slice(0, 13)), { recursive: true, force: true });
  if (!session.home.startsWith(`${state}/`)) return;
  const projects = join(session.home, 'projects');
  for (const project of await readdir(projects).catch(() => [])) {
    await rm(join(projects, project, `${session.id}.jsonl`), { force: true });
    await rm(join(projects, project, session.id), { recursive: true, force: true });
  }
}
