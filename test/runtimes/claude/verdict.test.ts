import { fc, it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import type { FailureKind } from '../../../src/model/failure.ts';
import { isJsonObject } from '../../../src/text/json.ts';
import { parseLine } from '../../../src/runtimes/claude/schema.ts';
import { capture, ended, json, makeRequest, NOW, play } from './support.ts';
import { SPREAD, spread } from '../../support/lane.ts';

const ID = '11111111-2222-4333-8444-555555555555';
const INIT = { type: 'system', subtype: 'init', session_id: ID, mcp_servers: [] };
const DONE = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  terminal_reason: 'completed',
  result: 'ok',
  session_id: ID,
};
const failed = (changes: object): object => ({ ...DONE, is_error: true, terminal_reason: 'api_error', ...changes });
const call = (name: string): object => ({
  type: 'assistant',
  message: { model: 'm', content: [{ type: 'tool_use', id: 't1', name, input: {} }] },
});
const outcome = (content: string): object => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: 't1', content }] },
});

describe('proof of success', () => {
  it('is everything at once', () => {
    expect(play(json(INIT, DONE), ended()).verdict).toMatchObject({ text: 'ok', sessionId: ID });
    expect(play(json(INIT, DONE), ended()).verdict.failure).toBeUndefined();
  });

  it.each<[string, object, number]>([
    ['an error', { is_error: true }, 0],
    ['no word about errors', { is_error: undefined }, 0],
    ['an error in words', { is_error: 'false' }, 0],
    ['another reason', { terminal_reason: 'aborted_tools' }, 0],
    ['no reason', { terminal_reason: undefined }, 0],
    ['an unknown reason', { terminal_reason: 'brand_new' }, 0],
    ['another subtype', { subtype: 'error_during_execution' }, 0],
    ['another exit code', {}, 1],
  ])('is not there with %s', (_title, changes, code) => {
    expect(play(json(INIT, { ...DONE, ...changes }), ended(code)).verdict.failure).toBeDefined();
  });

  it('is not there without an announced session, a result, or an end', () => {
    expect(play(json(DONE), ended()).verdict.failure).toBeDefined();
    expect(play(json(INIT), ended()).verdict.failure?.kind).toBe('protocol');
    expect(play([], ended()).verdict.failure?.kind).toBe('protocol');
    expect(play(json(INIT, DONE), ended(0, { ending: { type: 'vanished' } })).verdict.failure?.kind).toBe('crashed');
    expect(play([], ended(0, { ending: { type: 'never-started' } })).verdict.failure).toMatchObject({
      kind: 'never-started',
      mayHaveActed: false,
    });
  });

  it('is not there without an answer, unless the answer is the structured one', () => {
    const said = { type: 'assistant', message: { model: 'm', content: [{ type: 'text', text: 'I will look.' }] } };
    for (const result of ['', ' \n', undefined]) {
      const lines = json(INIT, ...(result === undefined ? [] : [said]), { ...DONE, result });
      expect(play(lines, ended()).result.failure).toMatchObject({ kind: 'bad-output', mayHaveActed: false });
    }
    const structured = json(INIT, { ...DONE, result: '', structured_output: { a: 1 } });
    const request = makeRequest({ outputSchema: { type: 'object' } });
    expect(play(structured, ended(), request).result.failure).toBeUndefined();
  });

  it('is not there when the CLI itself wrote the last message', () => {
    const text = "You've hit your limit · resets 7pm (Europe/Madrid)";
    const synthetic = { type: 'assistant', message: { model: '<synthetic>', content: [{ type: 'text', text }] } };
    const { failure } = play(json(INIT, synthetic, { ...DONE, result: text }), ended()).verdict;
    expect(failure).toMatchObject({ kind: 'quota-exhausted', retryAt: Date.UTC(2026, 10, 20, 18) });
  });

  it('the model may talk about limits and errors', () => {
    const text = 'API Error: 429. You have hit your usage limit.';
    const said = { type: 'assistant', message: { model: 'm', content: [{ type: 'text', text }] } };
    expect(play(json(INIT, said, { ...DONE, result: text }), ended()).verdict.failure).toBeUndefined();
  });
});

describe('kinds of failed results', () => {
  it.each<[object, FailureKind]>([
    [{ api_error_status: 400, result: 'API Error: 400 messages: malformed' }, 'bad-request'],
    [{ api_error_status: 401, result: 'x' }, 'auth'],
    [{ api_error_status: 402, result: 'x' }, 'billing'],
    [{ api_error_status: 404, result: 'x' }, 'model-unavailable'],
    [{ api_error_status: 429, result: 'slow down' }, 'rate-limited'],
    [{ api_error_status: 429, result: 'Claude usage limit reached|1795190000' }, 'quota-exhausted'],
    [{ result: 'Claude AI usage limit reached|1795190000' }, 'quota-exhausted'],
    [{ result: '5-hour limit reached ∙ resets 3pm' }, 'quota-exhausted'],
    [{ api_error: 'usage_limit_reached', result: 'x' }, 'quota-exhausted'],
    [{ result: 'Credit balance is too low' }, 'billing'],
    [{ api_error_status: 500, result: 'lost connection' }, 'server-error'],
    [{ api_error_status: 503, result: 'x' }, 'server-error'],
    [{ api_error_status: 529, result: 'x' }, 'overloaded'],
    [{ api_error: 'connection_failed', result: 'x' }, 'network'],
    [{ api_error: 'max_output_tokens', result: 'x' }, 'output-truncated'],
    [{ result: 'Request timed out.' }, 'stalled'],
    [{ stop_reason: 'refusal', result: 'x' }, 'model-refused'],
    [{ terminal_reason: 'prompt_too_long', result: 'x' }, 'context-overflow'],
    [{ terminal_reason: 'blocking_limit', result: 'x' }, 'context-overflow'],
    [{ terminal_reason: 'image_error', result: 'x' }, 'bad-request'],
    [{ subtype: 'error_max_turns', result: 'x' }, 'step-limit'],
    [{ subtype: 'error_max_budget_usd', result: 'x' }, 'cost-limit'],
    [{ terminal_reason: 'aborted_streaming', result: 'x' }, 'cancelled'],
    [{ errors: ['No conversation found with session ID: x'] }, 'session-not-found'],
  ])('%o is %s', (changes, kind) => {
    expect(play(json(INIT, failed(changes)), ended(1)).verdict.failure?.kind).toBe(kind);
  });

  it('reads the reset from the text', () => {
    const text = 'Claude AI usage limit reached|1795190000';
    expect(play(json(INIT, failed({ result: text })), ended(1)).verdict.failure?.retryAt).toBe(1_795_190_000_000);
    const soon = play(json(INIT, failed({ result: 'limit reached · resets 7pm (UTC)' })), ended(1)).verdict;
    expect(soon.failure?.retryAt).toBe(NOW + 7 * 3_600_000);
  });
});

describe('what may have happened', () => {
  const acted = (...lines: object[]): boolean | undefined =>
    play(json(INIT, ...lines), ended(137, { ending: { type: 'exited', code: 137, signal: 'SIGKILL' } })).verdict.failure
      ?.mayHaveActed;

  it('nothing, when no tool was called, or only ones that look', () => {
    expect(acted()).toBe(false);
    expect(acted(call('Read'), outcome('text'))).toBe(false);
    expect(acted(call('StructuredOutput'))).toBe(false);
  });

  it('something, when a tool ran or may be running', () => {
    expect(acted(call('Bash'))).toBe(true);
    expect(acted(call('Edit'), outcome('done'))).toBe(true);
    expect(acted(call('mcp__desk__note'), outcome('done'))).toBe(true);
  });

  it('nothing, when the tool was refused', () => {
    const denied = {
      type: 'system',
      subtype: 'permission_denied',
      tool_name: 'Bash',
      tool_use_id: 't1',
      message: 'no',
    };
    expect(acted(call('Bash'), denied)).toBe(false);
    expect(acted(call('Bash'), denied, outcome('no'))).toBe(false);
  });

  it('something, when the output cannot be read', () => {
    const { verdict } = play([{ type: 'text', text: '{"type":"assis' }], ended(1, { stderr: 'boom' }));
    expect(verdict.failure).toMatchObject({ kind: 'crashed', mayHaveActed: true });
  });
});

describe('the end without a result', () => {
  it.each<[string, FailureKind]>([
    ['Error: Session ID x is already in use.', 'session-busy'],
    ['Error: sandbox required but unavailable: socat not installed', 'sandbox-unavailable'],
    ["error: unknown option '--x'", 'cli-unsupported'],
    ['--dangerously-skip-permissions cannot be used with root/sudo privileges', 'setting-unsupported'],
    ['Error: Invalid MCP configuration', 'mcp-unavailable'],
    ['Error: --json-schema is not a valid JSON Schema', 'bad-request'],
    ['segmentation fault', 'crashed'],
  ])('%s is %s', (stderr, kind) => {
    expect(play([], ended(1, { stderr })).verdict.failure).toMatchObject({ kind, mayHaveActed: false });
  });

  it('is a cancellation when the host ended it', () => {
    const facts = ended(143, { endedByHost: true, ending: { type: 'exited', code: 143, signal: null } });
    expect(play(json(INIT), facts).verdict.failure?.kind).toBe('cancelled');
  });
});

describe('whatever stands on stdout', SPREAD, () => {
  const known = [...new Set(['text', 'agent', 'write-default', 'err429', 'schema', 'usage-limit', 'partial'])].flatMap(
    (name) =>
      capture(`${name}.jsonl`)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  );
  const damaged = fc
    .record({ line: fc.constantFrom(...known), key: fc.string(), value: fc.jsonValue(), drop: fc.boolean() })
    .map(({ line, key, value, drop }) => {
      const keys = Object.keys(line);
      const chosen = keys[key.length % keys.length] ?? 'type';
      const { [chosen]: _gone, ...rest } = line;
      return drop ? rest : { ...rest, [chosen]: value };
    });
  const lines = fc.array(fc.oneof(fc.jsonValue(), damaged, fc.constantFrom(...known)), { maxLength: 12 });

  property.prop([lines, fc.integer({ min: 0, max: 255 }), fc.string()], { numRuns: spread(1000, 5000) })(
    'nothing throws, and nothing but a proof is a success (T14)',
    (values, code, stderr) => {
      const { verdict } = play(json(...values), ended(code, { stderr }), makeRequest());
      if (verdict.failure !== undefined) return;
      expect(code).toBe(0);
      const last = values.filter((value) => parseLine(value)?.type === 'result').at(-1);
      expect(isJsonObject(last) && last['is_error'] === false && last['terminal_reason'] === 'completed').toBe(true);
    },
  );

  property.prop([fc.array(fc.string()), fc.string()], { numRuns: 1000 })('text is no result', (texts, stderr) => {
    const { verdict, reports } = play(
      texts.map((text) => ({ type: 'text', text })),
      ended(0, { stderr }),
    );
    expect(verdict.failure).toBeDefined();
    expect(reports).toEqual([]);
  });
});

describe('a hook that fails', () => {
  const hooks = { hooks: [{ on: 'tool-started' as const, run: 'x' }] };
  const answer = (output: string, outcome = 'error'): object => ({
    type: 'system',
    subtype: 'hook_response',
    outcome,
    output,
  });
  const words = (on: string): string => `the hook ${on} failed with exit 3: no such luck\n`;
  const refused = {
    type: 'user',
    message: {
      content: [
        {
          type: 'tool_result',
          tool_use_id: 't1',
          is_error: true,
          content: `PreToolUse:Bash hook error: [sh '/turn/hook-0.sh']: ${words('tool-started')}`,
        },
      ],
    },
  };
  const played = (lines: object[], request: object = hooks) =>
    play(json(INIT, ...lines), ended(), makeRequest(request));

  it.each(['turn-started', 'turn-ended'])('%s: fails the turn, with its last words', (on) => {
    const { verdict, terminal } = played([answer(words(on)), DONE]);
    const message = `the hook ${on} failed with exit 3: no such luck`;
    expect(verdict.failure).toMatchObject({ kind: 'hook-failed', setting: 'hooks', message });
    expect(terminal).toBe(true);
  });

  it('tool-started: denies the call, with its last words', () => {
    const { verdict, reports } = played([call('Bash'), answer(words('tool-started')), refused, DONE]);
    expect(verdict.failure).toBeUndefined();
    expect(verdict.denials).toEqual([{ tool: 'Bash', message: words('tool-started') }]);
    expect(verdict.mayHaveActed).toBe(false);
    expect(reports).toContainEqual(expect.objectContaining({ type: 'tool-ended', denied: true, ok: false }));
    // Without hooks nothing that a tool says is a denial.
    expect(played([call('Bash'), refused, DONE], {}).verdict.denials).toEqual([]);
  });

  it('tool-ended: the model is told, and so is the reader of the turn', () => {
    const { verdict, reports } = played([answer(words('tool-ended')), DONE]);
    expect(verdict.failure).toBeUndefined();
    expect(reports).toContainEqual({ type: 'notice', text: words('tool-ended').trim() });
  });

  it('an answer that does not come in time ends the turn, because the CLI passes over it', () => {
    const late = [answer('still at it', 'cancelled')];
    expect(played(late).verdict.failure).toMatchObject({
      kind: 'hook-failed',
      message: 'a hook gave no answer: still at it',
    });
    expect(played(late).terminal).toBe(true);
  });

  it('is the user’s own affair if it is the user’s own', () => {
    const own = { ...hooks, home: 'mine' };
    expect(played([answer('mine broke'), DONE], own).verdict.failure).toBeUndefined();
    expect(played([answer(words('turn-ended')), DONE], own).verdict.failure?.kind).toBe('hook-failed');
    expect(played([answer('', 'success'), DONE]).verdict.failure).toBeUndefined();
  });
});

describe('a required server that does not start', () => {
  const desk = {
    name: 'desk',
    required: true,
    transport: { type: 'stdio' as const, command: '/desk', args: [], env: {} },
  };
  const init = { ...INIT, mcp_servers: [{ name: 'desk', status: 'failed' }] };
  const at = '2026-11-22T16:28:36.300Z';
  const stderr = [
    `${at} [DEBUG] [MCP] --mcp-config servers running fully async (nonblocking)`,
    `${at} [ERROR] MCP server "desk" Server stderr: no database`,
    'at line 3',
    `${at} [ERROR] MCP server "other" Server stderr: all is well`,
    `${at} [ERROR] MCP server "desk" Connection failed (CONNECTION_CLOSED): Connection closed`,
  ].join('\n');

  it('has its last words in the failure', () => {
    const { failure } = play(json(init), ended(0, { stderr }), makeRequest({ mcp: [desk] })).verdict;
    expect(failure).toMatchObject({ kind: 'mcp-unavailable', setting: 'mcp' });
    expect(failure?.message).toBe(
      'the MCP server desk did not start: Server stderr: no database\nat line 3; ' +
        'Connection failed (CONNECTION_CLOSED): Connection closed',
    );
  });

  it('does not make the log of the CLI its complaint', () => {
    const said = `${at} [DEBUG] MCP server "desk": Starting connection\nError: Session ID x is already in use.\n`;
    const { failure } = play([], ended(1, { stderr: said }), makeRequest({ mcp: [desk] })).verdict;
    expect(failure?.message).toBe('Error: Session ID x is already in use.');
  });
});
