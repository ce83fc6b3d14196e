import { join } from 'node:path';
import { z } from 'zod';
import { buildsThere, writableFolders } from '../../model/access.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { defined } from '../../text/defined.ts';
import type { Cage } from '../shared/cage.ts';
import { gitEnvironment } from '../shared/child-environment.ts';
import { refuse, type CliCommand, type LaunchFile, type Refusal } from '../shared/cli-adapter.ts';
import type { CliFacts } from '../shared/cli-program.ts';
import { confined, isCaged, refuseUnconfined, type Confiner } from '../shared/confine.ts';
import { oddVariable, outsideServers, type OutsideServers } from '../shared/outside-servers.ts';
import type { RepositoryNote } from '../shared/repository-notes.ts';
import { turnRefusal } from '../shared/session.ts';
import { instructedPrompt } from '../shared/turn-prompt.ts';

export interface AntigravityFacts extends CliFacts {
  readonly versionProblem: string | undefined;
  /** undefined: `access: full` wants none. */
  readonly confiner: Confiner | undefined;
  readonly view: Pick<Cage, 'hidden' | 'readable'>;
  readonly notes: readonly RepositoryNote[];
  /** The repository names MCP servers, which `agy` would start. */
  readonly foreignServers: boolean;
}

export const NAME = 'antigravity';
export const KEY = 'GEMINI_API_KEY';
const CONFIG = `runtimes.${NAME}.config`;
const configSchema = z.strictObject({
  'allow-google-login': z.boolean().default(false),
  'allow-unconfined': z.boolean().default(false),
  /** Absolute paths, or below `~/`, that a confined agent may read besides. */
  read: z.array(z.string()).default([]),
});
export const GOOGLE_TERMS = "Google's terms forbid third-party software to use the Antigravity login";

const SETTINGS = '.gemini/antigravity-cli/settings.json';
const SERVERS = '.gemini/config/mcp_config.json';
const SCHEMA_FILE = 'output-schema.json';
const RULE = /^(?:command|read_file|write_file)\(.+\)$|^mcp\([^/]+\/.+\)$/;

/** The defaults where it is not valid, which the command refuses. */
export function configOf({ config = {} }: Partial<Pick<CliFacts, 'config'>>): z.infer<typeof configSchema> {
  return configSchema.safeParse(config).data ?? configSchema.parse({});
}

/** Pure: one turn as an `agy` command line, or a refusal of the setting that it cannot honour. */
export function command(request: TurnRequest, facts: AntigravityFacts): CliCommand | Refusal {
  const refused = refusal(request, facts);
  if (refused !== undefined) return refused;
  const { home, directory, binary = '', confiner, view } = facts;
  const { access, workspace } = request;
  const temporary = join(directory, 'tmp');
  const servers = outsideServers(request.mcp, directory, [KEY]);
  const changes = access.level === 'edit' || buildsThere(access);
  const own = changes ? [workspace.path, ...writableFolders(access)] : [];
  const args = argsFor(request, facts);
  const message = { role: 'user', content: instructedPrompt(request, facts.notes) };
  const places = { hidden: view.hidden, writable: [home, temporary, ...own], masked: servers.masked };
  const cage = { ...places, readable: [...(view.readable ?? []), directory, workspace.path], cwd: workspace.path };
  return {
    type: 'command',
    ...servers.before(isCaged(confiner) ? confined(confiner, cage, binary, args) : { binary, args }),
    env: {
      ...facts.environment,
      ...gitEnvironment(workspace),
      HOME: home,
      TMPDIR: temporary,
      // It replaces itself while it runs.
      AGY_CLI_DISABLE_AUTO_UPDATE: '1',
    },
    stdin: `${JSON.stringify({ event: 'user', message })}\n`,
    files: [...servers.files, ...filesFor(request, facts, servers)],
    home,
    folders: [home, temporary],
  };
}

const FREELY = ['--mode=accept-edits', '--dangerously-skip-permissions'];

/** In print mode a person cannot approve. Rules alone are for a reader that nothing confines: a builder's commands cannot be listed. */
function byRules({ access }: TurnRequest, { confiner }: AntigravityFacts): boolean {
  return access.level === 'read-only' && confiner?.kind === 'none';
}

/** Values are joined to their flag with `=`, and `-p` is left out: it eats the next word. squad's own limit comes before `agy` gives up. */
function argsFor(request: TurnRequest, facts: AntigravityFacts): string[] {
  const { access, workspace, limits, model, effort, outputSchema, session } = request;
  const flags = defined({
    'print-timeout': `${Math.ceil(limits.wallMs / 1000) + 60}s`,
    model,
    effort,
    'json-schema': outputSchema && join(facts.directory, SCHEMA_FILE),
    conversation: session?.id,
  });
  return [
    ...['--input-format=stream-json', '--output-format=stream-json', '--disable-slash-commands'],
    ...[workspace.path, ...writableFolders(access)].map((path) => `--add-dir=${path}`),
    ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    ...(byRules(request, facts) ? ['--mode=plan', '--sandbox'] : FREELY),
  ];
}

function filesFor(request: TurnRequest, facts: AntigravityFacts, { servers }: OutsideServers): LaunchFile[] {
  const { mcp, outputSchema } = request;
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const provider = facts.environment[KEY] ? { modelProvider: 'gemini' } : {};
  const http = mcp.flatMap(({ name, transport }) =>
    transport.type === 'http' ? [[name, { serverUrl: transport.url, headers: transport.headers }]] : [],
  );
  const mcpServers = Object.fromEntries([...servers.map(({ name, ...server }) => [name, server]), ...http]);
  return [
    { name: SETTINGS, text: json({ ...provider, permissions: permissions(request, facts) }), inHome: true },
    { name: SERVERS, text: json({ mcpServers }), inHome: true, secret: true },
    ...(outputSchema === undefined ? [] : [{ name: SCHEMA_FILE, text: JSON.stringify(outputSchema) }]),
  ];
}

/** `agy` accepts `mcp(server)`, too, which matches nothing. */
function permissions({ access, workspace, mcp, toolRules }: TurnRequest, { home }: AntigravityFacts) {
  const folders = [workspace.path, ...writableFolders(access)];
  const writable = access.level === 'read-only' && !buildsThere(access) ? [] : folders;
  const read = [...folders, ...(mcp.length === 0 ? [] : [join(home, '.gemini/antigravity-cli/mcp')])];
  const called = mcp.flatMap(({ name, tools = ['*'] }) => tools.map((tool) => `mcp(${name}/${tool})`));
  const files = [...read.map((path) => `read_file(${path})`), ...writable.map((path) => `write_file(${path})`)];
  return { allow: [...files, ...called, ...(toolRules?.allow ?? [])] };
}

function refusal(request: TurnRequest, facts: AntigravityFacts): Refusal | undefined {
  const { access, limits, mcp, toolRules: { allow = [], deny = [] } = {} } = request;
  const { config = {}, confiner, versionProblem } = facts;
  const settings = configOf(facts);
  const [issue] = configSchema.safeParse(config).error?.issues ?? [];
  const strange = issue?.code === 'unrecognized_keys' ? issue.keys[0] : issue?.path.join('.');
  const rule = allow.find((one) => !RULE.test(one));
  const acts = access.level === 'read-only' ? allow.find((one) => /^(?:command|write)/.test(one)) : undefined;
  const limited = byRules(request, facts) ? undefined : mcp.find(({ tools }) => tools !== undefined)?.name;
  const unproven = mcp.find(({ required, transport }) => required === true && transport.type === 'http')?.name;
  const variable = oddVariable(mcp);
  const checks: Parameters<typeof turnRefusal>[3] = [
    [issue !== undefined, `${CONFIG}.${strange}`, `antigravity cannot read its configuration: ${issue?.message}`],
    [limits.maxSteps !== undefined, 'limits.maxSteps', 'agy cannot limit steps'],
    [limits.maxCostUsd !== undefined, 'limits.maxCostUsd', 'agy does not report cost, so it cannot be limited'],
    [deny.length > 0, 'toolRules.deny', 'agy has rules that allow, and none that deny'],
    [rule !== undefined, 'toolRules.allow', `${rule} is no rule of agy, such as command(npm test) or mcp(server/tool)`],
    [acts !== undefined, 'toolRules.allow', `${acts} cannot be allowed with read-only access`],
    [limited !== undefined, 'mcp', `agy asks for no permission here, so ${limited} cannot be limited to some tools`],
    [unproven !== undefined, 'mcp', `agy does not say whether ${unproven} answers, so it cannot be required over HTTP`],
    [variable !== undefined, 'mcp', `${variable} of an MCP server is no name that a shell can export`],
    [facts.foreignServers, 'workspace', 'agy would start what .agents/mcp_config.json of the repository names'],
  ];
  const common = turnRefusal(NAME, request, facts, checks, ['environment']);
  if (common !== undefined) return common;
  if (versionProblem !== undefined) return refuse('cli-unsupported', `runtimes.${NAME}.command`, versionProblem);
  if (!facts.environment[KEY] && !settings['allow-google-login']) {
    const next = `set ${KEY}, or ${CONFIG}: {allow-google-login: true}`;
    return refuse('auth', `${CONFIG}.allow-google-login`, `${GOOGLE_TERMS}; ${next}`);
  }
  const unconfined = { setting: `${CONFIG}.allow-unconfined`, isOn: settings['allow-unconfined'] };
  return refuseUnconfined('agy', access, confiner, unconfined);
}
