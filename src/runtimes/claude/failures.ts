import type { FailureKind } from '../../model/failure.ts';

/** What is known of one failed request to the model. */
interface FailedRequest {
  readonly error: string | undefined;
  readonly status: number | undefined;
  readonly text: string;
}

/** Words for people whose account has run out; only ever read where something has failed. */
const QUOTA =
  /\b(?:usage|session|weekly|hour|opus|sonnet|spend(?:ing)?) limit\b|hit your limit|(?<!rate )limit reached|out of extra usage|quota/i;

const TOO_LONG = /prompt is too long|context (?:window|length)/i;

export function kindOfError({ error, status, text }: FailedRequest): FailureKind {
  if (error === 'billing_error' || /credit balance is too low/i.test(text)) return 'billing';
  if (status === 529 || error === 'overloaded') return 'overloaded';
  if (error === 'rate_limit' || status === 429) return QUOTA.test(text) ? 'quota-exhausted' : 'rate-limited';
  const known = KIND_BY_ERROR.get(error ?? '') ?? KIND_BY_STATUS.get(status ?? 0);
  if (known !== undefined && !(known === 'bad-request' && TOO_LONG.test(text))) return known;
  if (TOO_LONG.test(text)) return 'context-overflow';
  if (status !== undefined && status >= 500) return 'server-error';
  if (/timed out/i.test(text)) return 'stalled';
  if (/ECONN|ENOTFOUND|EAI_AGAIN|connection|socket hang up|fetch failed/i.test(text)) return 'network';
  if (QUOTA.test(text)) return 'quota-exhausted';
  // A retry of a request that got no answer at all says `unknown` and no status.
  return error === 'unknown' && text === '' ? 'network' : 'server-error';
}

const KIND_BY_ERROR: ReadonlyMap<string, FailureKind> = new Map([
  ['authentication_failed', 'auth'],
  ['oauth_org_not_allowed', 'auth'],
  ['account_on_hold', 'auth'],
  ['verification_required', 'auth'],
  ['cloud_credential_error', 'auth'],
  ['model_not_found', 'model-unavailable'],
  ['max_output_tokens', 'output-truncated'],
  ['invalid_request', 'bad-request'],
]);

const KIND_BY_STATUS: ReadonlyMap<number, FailureKind> = new Map([
  [400, 'bad-request'],
  [401, 'auth'],
  [402, 'billing'],
  [403, 'auth'],
  [404, 'model-unavailable'],
  [408, 'network'],
  [413, 'bad-request'],
]);

/** How the CLI itself names the end of a turn: `result.subtype`, then `result.terminal_reason`. */
export function kindOfEnd(subtype: string, reason: string): FailureKind | undefined {
  return KIND_BY_SUBTYPE.get(subtype) ?? KIND_BY_REASON.get(reason);
}

const KIND_BY_SUBTYPE: ReadonlyMap<string, FailureKind> = new Map([
  ['error_max_turns', 'step-limit'],
  ['error_max_budget_usd', 'cost-limit'],
  ['error_max_structured_output_retries', 'bad-output'],
]);

const KIND_BY_REASON: ReadonlyMap<string, FailureKind> = new Map([
  ['max_turns', 'step-limit'],
  ['budget_exhausted', 'cost-limit'],
  ['structured_output_retry_exhausted', 'bad-output'],
  ['malformed_tool_use_exhausted', 'bad-output'],
  ['prompt_too_long', 'context-overflow'],
  ['blocking_limit', 'context-overflow'],
  ['rapid_refill_breaker', 'context-overflow'],
  ['image_error', 'bad-request'],
  ['aborted_streaming', 'cancelled'],
  ['aborted_tools', 'cancelled'],
  ['stop_hook_prevented', 'bad-request'],
  ['hook_stopped', 'bad-request'],
  ['turn_setup_failed', 'bad-request'],
]);

/** What the CLI complains about on stderr, with an empty stdout. */
export function kindOfStartProblem(stderr: string): FailureKind | undefined {
  return START_PROBLEMS.find(([pattern]) => pattern.test(stderr))?.[1];
}

/** Complaints on stderr with an empty stdout. Texts of 2.1.328. */
const START_PROBLEMS: readonly [RegExp, FailureKind][] = [
  [/is already in use/i, 'session-busy'],
  [/No conversation found/i, 'session-not-found'],
  [/sandbox required but unavailable|without a working sandbox/i, 'sandbox-unavailable'],
  [
    /unknown option|unknown command|error: option|invalid choice|argument .* is invalid|too old|minimum version/i,
    'cli-unsupported',
  ],
  [/cannot be used with root|bypassPermissions|dangerously-skip-permissions/i, 'setting-unsupported'],
  [/not logged in|invalid api key|\/login|authentication/i, 'auth'],
  [/mcp/i, 'mcp-unavailable'],
  [/json[- ]schema|settings|invalid|must be|cannot|requires|error:/i, 'bad-request'],
];
