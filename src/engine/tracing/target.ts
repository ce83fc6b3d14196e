import { wrongEnvironment, type SquadError } from '../../model/errors.ts';
import type { SinkName, TracedPlace, Tracing } from '../../model/tracing.ts';

/** Where traces go, with everything that a request needs. Its headers hold secrets. */
export interface TraceTarget {
  readonly to: SinkName;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** LangSmith's project; absent: its default one. */
  readonly project?: string | undefined;
  readonly content: boolean;
}

/** `true`: to the sink that the settings name, or else the environment. */
export type TraceOption = SinkName | true;

type Environment = Readonly<Record<string, string | undefined>>;
type Settings = Tracing | undefined;

const LANGSMITH = 'https://api.smith.langchain.com';

/** Throws `wrong-environment` if traces cannot be sent as asked. Pure. */
export function traceTarget(asked: TraceOption, settings: Settings, environment: Environment): TraceTarget {
  const to = asked === true ? (settings?.to ?? sinkOf(environment)) : asked;
  const own = settings?.to === to ? settings : undefined;
  const base = to === 'langsmith' ? langsmith(own, environment) : otlp(own, environment);
  // A key of the environment goes only to an endpoint that the environment names too, or the sink's own.
  const headers = { ...base.headers, ...namedHeaders(own, environment) };
  const project = own?.project ?? filled(environment, 'LANGSMITH_PROJECT');
  return { to, url: checkedUrl(base), headers: checkedHeaders(headers), project, content: own?.content === true };
}

/** A target without what may hold a key. LangSmith puts what names no project into `default`. */
export function placeOf({ to, url, project = 'default', content }: TraceTarget): TracedPlace {
  return { to, endpoint: new URL(url).origin, ...(to === 'langsmith' ? { project } : {}), content };
}

interface Base {
  readonly url: string;
  /** The variable or setting that named the URL. */
  readonly from: string;
  readonly headers: Readonly<Record<string, string>>;
}

function sinkOf(environment: Environment): SinkName {
  if (filled(environment, 'LANGSMITH_API_KEY') !== undefined) return 'langsmith';
  if (OTLP_ENDPOINTS.some((name) => filled(environment, name) !== undefined)) return 'otlp';
  throw nowhere('nothing says where traces go', 'Set LANGSMITH_API_KEY or OTEL_EXPORTER_OTLP_ENDPOINT');
}

function langsmith(own: Settings, environment: Environment): Base {
  if (own?.endpoint !== undefined) return { url: below(own.endpoint, 'runs/batch'), from: OWN, headers: {} };
  const key = filled(environment, 'LANGSMITH_API_KEY');
  if (key === undefined) throw nowhere('traces go to LangSmith, which needs a key', 'Set LANGSMITH_API_KEY');
  const workspace = filled(environment, 'LANGSMITH_WORKSPACE_ID');
  return {
    url: below(filled(environment, 'LANGSMITH_ENDPOINT') ?? LANGSMITH, 'runs/batch'),
    from: 'LANGSMITH_ENDPOINT',
    headers: { 'x-api-key': key, ...(workspace === undefined ? {} : { 'x-tenant-id': workspace }) },
  };
}

const OWN = '`tracing.endpoint`';
const OTLP_ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

function otlp(own: Settings, environment: Environment): Base {
  if (own?.endpoint !== undefined) return { url: own.endpoint, from: OWN, headers: {} };
  const [ofTraces, ofAll] = OTLP_ENDPOINTS.map((name) => filled(environment, name));
  const url = ofTraces ?? (ofAll === undefined ? undefined : below(ofAll, 'v1/traces'));
  if (url === undefined) throw nowhere('no endpoint takes traces in OTLP', 'Set OTEL_EXPORTER_OTLP_ENDPOINT');
  const given =
    filled(environment, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS') ?? filled(environment, 'OTEL_EXPORTER_OTLP_HEADERS');
  return { url, from: OTLP_ENDPOINTS[ofTraces === undefined ? 1 : 0], headers: parseHeaders(given ?? '') };
}

/** `name=value,name=value` with values as in an address. */
function parseHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => /^\s*([^\s=]+)\s*=\s*(.*?)\s*$/.exec(pair));
  return Object.fromEntries(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1], decoded(pair[2] ?? '')]])));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // It was not encoded.
    return text;
  }
}

function namedHeaders(own: Settings, environment: Environment): Record<string, string> {
  const entries = Object.entries(own?.headers ?? {}).map(([header, name]): [string, string] => {
    const value = filled(environment, name);
    if (value === undefined) throw nowhere(`\`tracing.headers\` needs the variable ${name}`, `Set ${name}`);
    return [header.toLowerCase(), value];
  });
  return Object.fromEntries(entries);
}

function checkedUrl({ url, from }: Base): string {
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
  throw wrongEnvironment(`${from} is no address that begins with https:// or http://`, 'Correct it.');
}

/** Node would name the value in its error. */
function checkedHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\u0020-\u007e]*$/.test(value)) continue;
    const shown = name.replaceAll(/[^\w-]/g, '?');
    throw wrongEnvironment(`the header ${shown} of the requests that send traces cannot be sent`, 'Correct its value.');
  }
  return headers;
}

function below(base: string, path: string): string {
  return `${base.replace(/\/+$/, '')}/${path}`;
}

function filled(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === '' ? undefined : value;
}

function nowhere(message: string, fix: string): SquadError {
  return wrongEnvironment(message, `${fix}, or leave out tracing (docs/tracing.md).`);
}
