import { defined } from '../../text/defined.ts';
import type { FailureKind } from '../../model/failure.ts';

/** The meaning of an HTTP status of a model's API. Programs differ about 413 and 503. */
const STATUSES: Readonly<Record<number, FailureKind>> = {
  400: 'bad-request',
  401: 'auth',
  402: 'billing',
  403: 'auth',
  404: 'model-unavailable',
  407: 'network',
  408: 'network',
  413: 'bad-request',
  422: 'bad-request',
  429: 'rate-limited',
  529: 'overloaded',
};

/** Words of the programs and of the models' APIs about a failed request. The first match counts. */
const TEXTS: readonly (readonly [RegExp, FailureKind])[] = [
  [
    /no rollout found|no conversation found|no previous sessions found|invalid session identifier/i,
    'session-not-found',
  ],
  [/already has an active writer|is already in use/i, 'session-busy'],
  [
    /unknown (?:configuration field|option|command)|flags? provided but not defined|unexpected argument|error: option|invalid choice|argument .* is invalid|too old|minimum version/i,
    'cli-unsupported',
  ],
  [/required MCP servers? failed/i, 'mcp-unavailable'],
  [/prompt is too long|ran out of room in the model's context|context[ _](?:window|length)/i, 'context-overflow'],
  [/credit balance is too low/i, 'billing'],
  // Gemini's words for too many requests, and not for a quota.
  [/resource has been exhausted \(e\.g\. check quota\)/i, 'rate-limited'],
  [
    /\b(?:usage|session|weekly|hour|opus|sonnet|spend(?:ing)?) limit\b|hit your limit|(?<!rate )limit reached|out of extra usage|quota/i,
    'quota-exhausted',
  ],
  [/too many requests|rate.?limit/i, 'rate-limited'],
  // Before the words about a login: it is the proxy that wants one.
  [/proxy authentication|tunnel(?:l?ing)? (?:socket|connection)/i, 'network'],
  [/failed to refresh token: 5\d\d/i, 'server-error'],
  [
    /missing environment variable|authentication failed|not (logged|signed) in|please log ?in|(log|sign) in again|refresh token|reauthenticate|authentication required|does not have (?:access|permission)|(?:incorrect|invalid).{1,3}api.?key|api.?key.{1,4}(?:invalid|not valid)/i,
    'auth',
  ],
  [/at capacity|server_is_overloaded|\boverloaded\b/i, 'overloaded'],
  [/high demand/i, 'server-error'],
  [/reason: max_output_tokens/i, 'output-truncated'],
  [/content_filter|policy violation|flagged for/i, 'model-refused'],
  [
    /models?\b.{0,80}\b(does not exist|is not supported|not found)|model_not_found|invalid model selection|\bmodel: [\w.:@/-]+(?="| \{|$)/i,
    'model-unavailable',
  ],
  [/error loading config|invalid value|failed to parse/i, 'bad-request'],
  [/model provider `[^`]*` not found|output schema/i, 'bad-request'],
  [
    /sandbox required but unavailable|without a working sandbox|bwrap|bubblewrap|sandbox-exec|seatbelt|landlock/i,
    'sandbox-unavailable',
  ],
  [/request timed out/i, 'stalled'],
  [/stream disconnected|connection|waiting for network|error sending request|timed? ?out/i, 'network'],
  [
    /ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|socket hang up|fetch failed|no such host|(?:could not|cannot|unable to) connect|^terminated\b/i,
    'network',
  ],
  [/\bcertificate\b|CERT_|SELF_SIGNED|UnknownIssuer|ERR_TLS|SSL routines|TLS handshake/i, 'network'],
  [/no response was returned/i, 'bad-output'],
];

/** Names of failed requests and of ends of a turn, as the programs and the models' APIs report them in a field. */
const NAMES: readonly (readonly [FailureKind, readonly string[]])[] = [
  ['auth', ['authentication_failed', 'oauth_org_not_allowed', 'account_on_hold', 'verification_required']],
  ['auth', ['cloud_credential_error']],
  ['model-unavailable', ['model_not_found']],
  ['output-truncated', ['max_output_tokens']],
  ['network', ['connection_failed']],
  ['quota-exhausted', ['usage_limit_reached']],
  ['billing', ['billing_error']],
  ['overloaded', ['overloaded']],
  ['step-limit', ['error_max_turns', 'max_turns']],
  ['cost-limit', ['error_max_budget_usd', 'budget_exhausted']],
  ['bad-output', ['error_max_structured_output_retries', 'structured_output_retry_exhausted']],
  ['bad-output', ['malformed_tool_use_exhausted']],
  ['model-refused', ['refusal']],
  ['context-overflow', ['prompt_too_long', 'blocking_limit', 'rapid_refill_breaker', 'ContextOverflowError']],
  ['cancelled', ['aborted_streaming', 'aborted_tools']],
  ['bad-request', ['invalid_request', 'image_error', 'stop_hook_prevented', 'hook_stopped', 'turn_setup_failed']],
];

/** The meaning of the first of these names that is known. */
export function kindOfNames(...names: readonly (string | undefined)[]): FailureKind | undefined {
  const kinds = names.map((name = '') => NAMES.find(([, known]) => known.includes(name))?.[0]);
  return kinds.find((kind) => kind !== undefined);
}

/** Only so much of a text is searched, which bounds the work of every pattern. */
const MAX_TEXT = 4000;

/** undefined: the text has no known cause. Never searched: what a model wrote. */
export function kindOfText(text: string): FailureKind | undefined {
  const head = text.slice(0, MAX_TEXT);
  return TEXTS.find(([pattern]) => pattern.test(head))?.[1];
}

/**
 * The cause that an error of an agent names, by a known name, its words, or a status that it carries as its code or in its words;
 * undefined: none is known.
 */
export function causeOfWords(text: string, code?: number): { kind: FailureKind; httpStatus?: number } | undefined {
  const said = text.slice(0, MAX_TEXT);
  const written = Number(/\b(?:error|status|rejected)\b[: ]{0,2}\(?([45]\d\d)\b/i.exec(said)?.[1] ?? code);
  const httpStatus = written >= 400 && written < 600 ? written : undefined;
  const named = kindOfNames(/"error(?:Kind|Name|Type)":"(\w{1,64})"/.exec(said)?.[1]);
  // Some agents put their own status over the API's.
  const own = httpStatus === 400 || httpStatus === 500 ? kindOfText(said) : undefined;
  const known = httpStatus === undefined ? kindOfText(said) : kindOfStatus(httpStatus, said, { 503: 'overloaded' });
  // OpenCode repeats what may pass by itself, and reports the rest by this name.
  const refused = said.includes('"errorName":"APIError"') ? 'bad-request' : undefined;
  const kind = named ?? own ?? known ?? refused;
  return kind && defined({ kind, httpStatus });
}

/** The status counts more than the text, except for an empty account, a quota and a full context, which share a status. */
export function kindOfStatus(
  status: number,
  text: string,
  special: Readonly<Record<number, FailureKind>> = {},
): FailureKind {
  const said = kindOfText(text);
  if (said === 'billing' || said === 'quota-exhausted' || said === 'context-overflow') return said;
  return special[status] ?? STATUSES[status] ?? (status >= 500 ? 'server-error' : (said ?? 'bad-request'));
}
