import { isSameSecret } from '../model/secret.ts';

/** The page of LangChain's Studio. It comes from the internet and speaks to the server from the person's browser. */
export const STUDIO_PAGE = 'https://smith.langchain.com/studio/';

/** Pages that may speak to the server without being named: that of Studio alone. */
export const KNOWN_ORIGINS: readonly string[] = [new URL(STUDIO_PAGE).origin];

/** A request, as far as the guard reads it. `rawHeaders` as Node has them: name, value, name, value. */
export interface Asked {
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
}

/** Any port: a tunnel may have another one. A name that DNS resolves to loopback is none of these. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
/** They change nothing here, and browsers ask the others only after an OPTIONS. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** `none`: a person typed the address. */
const OWN_SITES: ReadonlySet<string> = new Set(['none', 'same-origin']);

/** The command that serves, and the pages that may speak to it. */
export interface Guarded {
  readonly command: string;
  /** `own`: only those that it serves itself. */
  readonly origins: readonly string[] | 'own';
  /** Sent to any other page. */
  readonly foreign: string;
}

/** `origins`: of the pages that may speak to the server, that of Studio among them. */
export function studioGuard(origins: readonly string[]): Guarded {
  const foreign =
    'squad studio takes requests of the page of LangSmith Studio only; `squad studio --origin` names another page.';
  return { command: 'squad studio', origins, foreign };
}

/** Why the server must not see this request; undefined: it may. */
export function refusalOf(asked: Asked, guarded: Guarded): string | undefined {
  const { command } = guarded;
  const hosts = valuesOf(asked, 'host');
  if (hosts.length !== 1 || !LOOPBACK.test(hosts[0] ?? '')) {
    return `${command} answers to 127.0.0.1, localhost and [::1] only, in exactly one Host header.`;
  }
  if (!asked.target.startsWith('/')) return `${command} is no proxy: the target of a request begins with a slash.`;
  return refuseOrigin(asked, guarded) ?? refuseContent(asked, command);
}

function refuseOrigin(asked: Asked, { command, origins, foreign: refusal }: Guarded): string | undefined {
  const given = valuesOf(asked, 'origin');
  if (given.length > 1) return `${command} takes one Origin header.`;
  const [origin] = given;
  if (origin === undefined) {
    // A browser sends no Origin with an image or a link of another page.
    const foreign = valuesOf(asked, 'sec-fetch-site').some((site) => !OWN_SITES.has(site));
    return foreign ? refusal : undefined;
  }
  // The name is one of loopback, so no other machine's page has it.
  const known = origins === 'own' ? valuesOf(asked, 'host').map((host) => `http://${host}`) : origins;
  return known.includes(origin) ? undefined : refusal;
}

/** A form of a foreign page can send text, but no JSON. A request without a body has no type. */
function refuseContent(asked: Asked, command: string): string | undefined {
  if (READING.has(asked.method)) return undefined;
  const types = valuesOf(asked, 'content-type');
  const isEmpty =
    valuesOf(asked, 'transfer-encoding').length === 0 &&
    valuesOf(asked, 'content-length').every((length) => /^0+$/.test(length));
  if (types.length === 0 && isEmpty) return undefined;
  if (types.length === 1 && JSON_TYPE.test(types[0] ?? '')) return undefined;
  return `${command} takes JSON: send a ${asked.method} with the header content-type: application/json.`;
}

function valuesOf({ rawHeaders }: Asked, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}

/** An answer of squad in place of the server's. */
export interface Instead {
  readonly status: number;
  readonly text: string;
  /** The origin of the page that may read it. */
  readonly readBy?: string;
}

const CRONS = /^(?:\/threads\/[^/]+)?\/runs\/crons(?:\/|$)/;
const THREAD = /^\/threads\/([^/]+)(\/copy)?\/?$/;

/**
 * undefined: the server answers. It would make an empty thread of a copy, forget a thread whose run is still there, and fail at
 * crons, which a client then requests again and again. `nameOf`: the name of the run with this id.
 */
export function answerInstead(
  { method, target }: Asked,
  nameOf: (threadId: string) => string | undefined,
): Instead | undefined {
  const path = pathOf(target);
  if (method === 'GET' && path === '/') return { status: 200, text: NO_PAGE };
  if (path.startsWith('/internal/')) return { status: 403, text: 'squad studio keeps its list of threads itself.' };
  if (CRONS.test(path)) return { status: 422, text: NO_CRONS };
  const [, thread = '', copy] = THREAD.exec(path) ?? [];
  const isCopy = method === 'POST' && copy !== undefined;
  const isRemoval = method === 'DELETE' && copy === undefined && thread !== '';
  const run = isCopy || isRemoval ? nameOf(thread.toLowerCase()) : undefined;
  if (isCopy)
    return { status: 422, text: `A copy of a run is a fork: \`squad fork ${run ?? 'RUN'} --at SEQ\` makes one.` };
  if (run !== undefined) {
    const text = `This thread is the run ${run}, which stays: \`squad drop ${run}\` removes its folders and its branch.`;
    return { status: 422, text };
  }
  return undefined;
}

const NO_CRONS =
  'squad studio has no crons. A line of `crontab -e` or a systemd timer starts `squad resume --all` (docs/control.md).';
const NO_PAGE =
  'squad studio answers here, and has no pages of its own: it printed the address of Studio when it started.';

/** As a rule compares it: nothing is escaped. */
function pathOf(target: string): string {
  try {
    return decodeURIComponent(target.replace(/[?#][^]*$/, ''));
  } catch {
    return target;
  }
}

/** Characters that mean the same when they are not escaped. */
const UNRESERVED = /%(?:2[de]|3\d|[46][1-9a-f]|[57][0-9a]|5f|7e)/gi;

/**
 * The target in the one form that rules and server read: no dot segments, no doubled or turned slashes, and nothing escaped without
 * need. `target` begins with a slash.
 */
export function plainTarget(target: string): string {
  const [, path = '/', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(target) ?? [];
  const plain = path
    .replaceAll(/%(?![0-9a-f]{2})/gi, '%25')
    .replaceAll(UNRESERVED, (escaped) => decodeURIComponent(escaped))
    .replaceAll(/[/\\]+/g, '/');
  return new URL(`http://localhost${plain}`).pathname + query;
}

/** The target without the secret; undefined: it does not begin with it. */
export function targetBehind(secret: string, target: string): string | undefined {
  const [, given = '', rest = ''] = /^\/([^/?#]*)([^]*)$/.exec(target) ?? [];
  if (!isSameSecret(given, secret)) return undefined;
  return rest.startsWith('/') ? rest : `/${rest}`;
}
