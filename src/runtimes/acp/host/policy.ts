import { isAbsolute, resolve } from 'node:path';
import { isWithin } from '../../../substrate/system/files/confine.ts';
import type { HostPlan, ToolKind } from './plan.ts';
import { asObject, isJsonObject, objectsIn } from '../../../text/json.ts';
import type { Fields } from '../../../substrate/system/process/json-rpc.ts';

interface Verdict {
  /** `unknown`: no rule covers it. A person may be asked; otherwise it is rejected. */
  readonly answer: 'allowed' | 'rejected' | 'unknown';
  readonly reason: string;
}

/** The true place of an absolute path, links followed as far as it exists; undefined: unknown. */
type RealPath = (path: string) => string | undefined;
type Rules = Pick<HostPlan, 'policy' | 'mcp' | 'cwd' | 'quirks'>;

const KINDS = new Set<unknown>(['read', 'search', 'think', 'edit', 'delete', 'move', 'execute', 'fetch', 'other']);
const CHANGES = new Set<unknown>(['edit', 'delete', 'move']);
const HIDDEN = /[\p{C}\ufffd]/u;
const PATH_KEY = /path|file|dir|folder|cwd|target|dest|source|location|uri|root|notebook/i;
const TEXT_KEY = /content|text|diff|string|description|pattern|patch|line|type/i;
const MOST_VALUES = 1_000;

/** Whether an agent may do what it asks for, by what it says of the call. The sandbox bounds an agent that lies. */
export function decide(call: Fields, rules: Rules, realPath: RealPath): Verdict {
  const { policy } = rules;
  const tool = toolOf(call, rules);
  const denied = policy.deny.find((rule) => fits(rule, tool.names));
  if (denied !== undefined) return { answer: 'rejected', reason: `the rule "${denied}" denies it` };
  if (policy.access === 'full') return { answer: 'allowed', reason: 'access is full' };
  const { kind } = tool;
  if (kind === 'read' || kind === 'search' || kind === 'think') return { answer: 'allowed', reason: SAID[kind] };
  if (kind === 'execute' || CHANGES.has(kind)) return change(call, kind, rules, realPath);
  if (tool.server !== undefined) return { answer: 'allowed', reason: `the turn has the MCP server ${tool.server}` };
  const allowed = policy.allow.find((rule) => fits(rule, tool.names));
  if (allowed !== undefined) return { answer: 'allowed', reason: `the rule "${allowed}" allows it` };
  if (kind === 'fetch' && policy.network) return { answer: 'allowed', reason: 'the turn has a network' };
  if (kind === 'fetch') return { answer: 'rejected', reason: 'the turn has no network' };
  return { answer: 'unknown', reason: `no rule covers a tool of kind ${kind ?? 'unknown'}` };
}

/** A kind of tool, in the words of people. */
const SAID = {
  read: 'it reads',
  search: 'it searches',
  think: 'it thinks',
  execute: 'it runs a command',
  edit: 'it edits',
  delete: 'it deletes',
  move: 'it moves',
} as const;

function saidOf(kind: unknown): string {
  return (SAID as Readonly<Record<string, string>>)[String(kind)] ?? `its kind is ${String(kind)}`;
}

function change(call: Fields, kind: unknown, { policy, cwd }: Rules, realPath: RealPath): Verdict {
  const isReader = policy.access === 'read-only';
  if (isReader && kind === 'execute' && isLook(call)) return { answer: 'allowed', reason: 'it shows what git has' };
  if (isReader) return { answer: 'rejected', reason: `access is read-only, and ${saidOf(kind)}` };
  const paths = pathsOf(call);
  if (paths === undefined) return { answer: 'rejected', reason: 'it is too large to judge' };
  if (paths.length === 0 && kind !== 'execute')
    return { answer: 'rejected', reason: `${saidOf(kind)}, and names no file` };
  const roots = [cwd, ...policy.writable].map((root) => realPath(root));
  const outside = paths.find((path) => !placesOf(path, cwd).every((place) => isInside(realPath(place), roots)));
  if (outside === undefined) return { answer: 'allowed', reason: 'it stays in the folders of the turn' };
  return { answer: 'rejected', reason: `${JSON.stringify(outside.slice(0, 200))} is outside the folders of the turn` };
}

/**
 * The commands that a reviewer’s prompt names, without shell characters and without options by which git runs or writes a file. git accepts
 * abbreviated options, so their beginnings are excluded.
 */
const LOOK = /^git (?:--no-pager )?(?:diff|log|show|status)(?: (?!-O|--ou|--ex|--te)[\w./:@^~=,+-]+)*$/;

/** Some agents name a command only in the title. */
function isLook({ rawInput, title }: Fields): boolean {
  const given = isJsonObject(rawInput) ? rawInput : { command: title };
  const commands = [given['command'], ...(Array.isArray(given['commands']) ? given['commands'] : [])];
  return commands.every((command) => typeof command === 'string' && command.length < 1000 && LOOK.test(command));
}

function isInside(place: string | undefined, roots: readonly (string | undefined)[]): boolean {
  return place !== undefined && roots.some((root) => root !== undefined && isWithin(root, place));
}

/** Where the agent may look for a path: it may resolve `..` before links or after. None: the path is none. */
function placesOf(path: string, cwd: string): string[] {
  if (HIDDEN.test(path) || path.startsWith('~') || /^\w+:/.test(path)) return ['/'];
  return [resolve(cwd, path), isAbsolute(path) ? path : `${cwd}/${path}`];
}

interface Tool {
  readonly kind: ToolKind | undefined;
  /** Names by which rules can refer to it. */
  readonly names: readonly string[];
  readonly server?: string | undefined;
}

function toolOf(call: Fields, { mcp, quirks }: Rules): Tool {
  const name = nameOf(call, quirks);
  const { toolKinds = {} } = quirks;
  const said = Object.hasOwn(toolKinds, name) ? toolKinds[name] : call['kind'];
  const kind = isEdit(call) && !CHANGES.has(said) ? 'edit' : hasCommand(call) && !CHANGES.has(said) ? 'execute' : said;
  const found = mcp.flatMap((server) => {
    const tool = mcpTool(server.name, name);
    return tool === undefined || server.tools?.includes(tool) === false ? [] : [{ server: server.name, tool }];
  })[0];
  const own = found && [found.server, `${found.server}/${found.tool}`];
  const known = KINDS.has(kind) ? (kind as ToolKind) : undefined;
  return {
    kind: known,
    names: [name, ...(typeof kind === 'string' ? [kind] : []), ...(own ?? [])],
    server: found?.server,
  };
}

/** The name of the tool, as far as the agent says it. */
export function nameOf(call: Fields, quirks: Rules['quirks']): string {
  const { name, title, toolCallId } = call;
  const byCall = quirks.toolName === 'call-id' && typeof toolCallId === 'string';
  const id = byCall ? toolCallId.slice(0, 400).replace(/(?:[-_]\d+)+$/, '') : '';
  const other = byCall ? (/^(.+?)__\1$/.exec(id)?.[1] ?? id) : title;
  const said = [name, other].find((text) => typeof text === 'string' && text !== '');
  return typeof said === 'string' ? said.slice(0, 200) : 'unknown';
}

/** A tool of this server: `mcp__<server>__<tool>`, `<server>-<tool>` and the like, or `<tool> (<server> MCP Server)`. */
export function mcpTool(server: string, name: string): string | undefined {
  const plain = /^(\S+) \((\S+) MCP Server\)$/.exec(name);
  if (plain !== null) return plain[2] === server ? plain[1] : undefined;
  const rest = name.replace(/^mcp__?/, '');
  const mark = rest.startsWith(server) ? /^(?:__|[_\-/.:])([\w./-]+)$/.exec(rest.slice(server.length)) : null;
  return mark?.[1];
}

function isEdit({ content }: Fields): boolean {
  return objectsIn(content).some(({ type }) => type === 'diff');
}

function hasCommand({ rawInput }: Fields): boolean {
  const { command, commands } = asObject(rawInput);
  return command !== undefined || commands !== undefined;
}

function fits(rule: string, names: readonly string[]): boolean {
  return names.some((name) => (rule.endsWith('*') ? name.startsWith(rule.slice(0, -1)) : name === rule));
}

/** Every path that the call names; undefined: it has too many values to look at. */
function pathsOf({ locations, content, rawInput }: Fields): string[] | undefined {
  const found: string[] = [];
  // The texts of a change may look like paths.
  const changed = objectsIn(content).map(({ path }) => ({ path }));
  const left: [key: string, value: unknown][] = [['', [locations, rawInput, changed]]];
  for (let seen = 0; left.length > 0; seen += 1) {
    const [key, value] = left.pop() ?? ['', undefined];
    if (seen + left.length > MOST_VALUES) return undefined;
    if (typeof value === 'string' && PATH_KEY.test(key) && !TEXT_KEY.test(key)) found.push(value);
    if (Array.isArray(value))
      left.push(...value.slice(0, MOST_VALUES + 1).map((item): [string, unknown] => [key, item]));
    else if (isJsonObject(value)) left.push(...Object.entries(value).slice(0, MOST_VALUES + 1));
  }
  return found;
}

/** The option to choose; undefined: none may be. Of options that share an id, none is a choice. */
export function optionFor(options: unknown, wanted: 'allow' | 'reject', always: boolean): string | undefined {
  const plain = objectsIn(options).map(({ optionId, kind }) => ({ id: optionId, kind }));
  if (plain.some(({ id }) => typeof id !== 'string' || id === '' || id.length > 256 || HIDDEN.test(id)))
    return undefined;
  const single = plain.filter(({ id }) => plain.filter((other) => other.id === id).length === 1);
  const ofKind = (kind: string) => single.find((option) => option.kind === kind)?.id;
  return (ofKind(`${wanted}_once`) ?? (always ? ofKind(`${wanted}_always`) : undefined)) as string | undefined;
}
