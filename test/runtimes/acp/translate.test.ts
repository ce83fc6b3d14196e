import { describe, expect, it } from 'vitest';
import type { TurnRequest } from '../../../src/model/turn-request.ts';
import type { Usage } from '../../../src/model/usage.ts';
import type { FailureKind } from '../../../src/model/failure.ts';
import { profileOf } from '../../../src/runtimes/acp/profiles.ts';
import { play, recorded } from './support.ts';

const session = { type: 'session', id: 's-1', resumed: false, mcp: [] };
const update = (fields: object, more: object = {}) => ({ type: 'update', update: fields, ...more });
const say = (text: string) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const tool = (id: string, fields: object = {}) => update({ sessionUpdate: 'tool_call', toolCallId: id, ...fields });
const ended = (id: string, fields: object = {}) =>
  update({ sessionUpdate: 'tool_call_update', toolCallId: id, status: 'completed', ...fields });
const permission = (id: string, answer: string, fields: object = {}) => ({
  ...{ type: 'permission', id, tool: 'shell', kind: 'execute', title: 'touch x', answer, by: 'policy' },
  ...{ reason: 'access is read-only', ...fields },
});
const result = (fields: object = {}) => ({ type: 'result', stopReason: 'end_turn', text: 'done', ...fields });

describe('true conversations', () => {
  it('report a shell command from its start to its end, and the turn’s use (claude-bash)', () => {
    const { reports, verdict } = play(recorded('claude-bash'));
    const id = 'toolu_be1a0179d12e4f9cb26cf058';
    const told = reports.filter(({ type }) => type.startsWith('tool'));
    const output = expect.stringContaining('Failed to connect to 127.0.0.1 port 9');
    const command = 'curl -sS http://127.0.0.1:9/; echo hi';
    expect(told).toEqual([
      { type: 'tool-started', id, tool: 'Bash', kind: 'execute', input: {} },
      { type: 'tool-ended', id, ok: true, denied: false, input: { command, description: 'run a command' }, output },
    ]);
    expect(verdict).toEqual({
      ...{ text: 'Done: ran the command.', denials: [], mayHaveActed: true, steps: 1 },
      sessionId: '7ddfafed-3054-41c5-9119-3fb7fefcf2a9',
      counters: { costUsd: 0.00296 },
      usage: { inputTokens: 300, cachedInputTokens: 100, outputTokens: 84, costUsd: 0.00296 },
    });
  });

  it('count cached tokens once, whether or not an agent counts them as input (copilot-bash)', () => {
    const { reports, verdict } = play(recorded('copilot-bash'), { quirks: profileOf('copilot').quirks ?? {} });
    expect(verdict.usage).toEqual({ inputTokens: 300, cachedInputTokens: 100, outputTokens: 84 });
    expect(reports).toContainEqual(expect.objectContaining({ type: 'tool-ended', ok: true, exitCode: 0 }));
    expect(verdict.failure).toBeUndefined();
  });

  it('report MCP calls by server and tool (claude-mcp)', () => {
    const transport = { type: 'stdio' as const, command: '/x', args: [], env: {} };
    const { reports } = play(recorded('claude-mcp'), { request: { mcp: [{ name: 'squad', transport }] } });
    expect(reports).toContainEqual(
      expect.objectContaining({ type: 'tool-started', tool: 'mailbox_send', server: 'squad', kind: 'mcp' }),
    );
    expect(reports[0]).toMatchObject({ mcp: [{ name: 'squad', status: 'unknown' }] });
  });

  it.each([
    ['claude-err429', 'claude', 'rate-limited', /Request rejected \(429\)/],
    ['codex-429', 'codex', 'rate-limited', /exceeded retry limit, last status: 429/],
    ['copilot-429', 'copilot', 'rate-limited', /Error: Failed to get response/],
    ['claude-cancel', 'claude', 'cancelled', /cancelled/],
  ])('%s is no completed turn', (name, agent, kind, message) => {
    const { verdict } = play(recorded(name), { quirks: profileOf(agent).quirks ?? {} });
    expect(verdict.failure).toMatchObject({ kind, message: expect.stringMatching(message) });
  });

  it('report that codex retries by itself (codex-429)', () => {
    expect(play(recorded('codex-429')).reports).toContainEqual(
      expect.objectContaining({ type: 'retry-scheduled', failure: 'rate-limited' }),
    );
  });
});

describe('history that is replayed', () => {
  it('counts for nothing', () => {
    const old = [say('long ago'), tool('1'), ended('1')].map((line) => ({ ...line, replayed: true }));
    const { reports, verdict } = play([session, ...old, result({ text: '' })]);
    expect(reports.map(({ type }) => type)).toEqual(['session-announced']);
    expect(verdict).toMatchObject({ text: '', steps: 0, mayHaveActed: false });
  });
});

describe('cost, which agents count over the whole session', () => {
  const costs = (amount: number, more: object = {}, currency = 'USD') =>
    update({ sessionUpdate: 'usage_update', used: 9, size: 99, cost: { amount, currency } }, more);
  const resumed = (counters?: Usage): Partial<TurnRequest> => ({
    session: {
      runtime: 'acp/x',
      id: 's-1',
      home: '/h',
      workspace: '/w',
      instructionsHash: 'i',
      ...(counters && { counters }),
    },
  });
  const replayed = { replayed: true };

  it.each<[string, Partial<TurnRequest>, object[], Usage | undefined, Usage | undefined]>([
    ['of a new session', {}, [costs(0.01), costs(0.25)], { costUsd: 0.25 }, { costUsd: 0.25 }],
    ['since the last turn', resumed({ costUsd: 0.2 }), [costs(0.25)], { costUsd: 0.05 }, { costUsd: 0.25 }],
    [
      'since what is replayed',
      resumed({ costUsd: 9 }),
      [costs(0.1, replayed), costs(0.25)],
      { costUsd: 0.15 },
      { costUsd: 0.25 },
    ],
    [
      'of an agent that began to count anew',
      resumed({ costUsd: 0.5 }),
      [costs(0.1)],
      { costUsd: 0.1 },
      { costUsd: 0.1 },
    ],
    ['that nothing is known of before', resumed(), [costs(0.25)], {}, { costUsd: 0.25 }],
    ['in another currency', {}, [costs(7, {}, 'EUR')], undefined, undefined],
    [
      'that is none',
      {},
      [update({ sessionUpdate: 'usage_update', used: 9, cost: { amount: 'much' } })],
      undefined,
      undefined,
    ],
    ['that was only replayed', resumed({ costUsd: 0.2 }), [costs(0.2, replayed)], undefined, undefined],
  ])('%s', (_, request, lines, usage, counters) => {
    const { verdict } = play([session, ...lines, result()], { request });
    expect([verdict.usage, verdict.counters]).toEqual([usage, counters]);
  });

  it('stands beside the tokens', () => {
    const usage = { inputTokens: 5, outputTokens: 2, totalTokens: 7 };
    const { verdict } = play([session, costs(0.5), result({ usage })]);
    expect(verdict.usage).toEqual({ inputTokens: 5, cachedInputTokens: 0, outputTokens: 2, costUsd: 0.5 });
  });
});

describe('tools', () => {
  it('have the input that came with a later update', () => {
    const { reports } = play([
      ...[session, tool('1', { kind: 'execute', name: 'bash', rawInput: { cwd: '/w' } })],
      update({
        sessionUpdate: 'tool_call_update',
        toolCallId: '1',
        status: 'in_progress',
        rawInput: { command: 'git log' },
      }),
      ...[ended('1'), tool('2', { rawInput: { path: 'a' } }), ended('2'), result()],
    ]);
    expect(reports.filter(({ type }) => type.startsWith('tool'))).toMatchObject([
      { type: 'tool-started', id: '1', input: { cwd: '/w' } },
      { type: 'tool-ended', id: '1', input: { command: 'git log' } },
      { type: 'tool-started', id: '2', input: { path: 'a' } },
      { type: 'tool-ended', id: '2' },
    ]);
    expect(reports.at(-1)).not.toHaveProperty('input');
  });

  it.each([
    ['read', 'read'],
    ['search', 'read'],
    ['think', 'read'],
    ['edit', 'edit'],
    ['delete', 'edit'],
    ['move', 'edit'],
    ['execute', 'execute'],
    ['fetch', 'fetch'],
    ['other', 'other'],
    ['switch_mode', 'other'],
    [undefined, 'other'],
  ])('of kind %s are %s', (kind, expected) => {
    const { reports } = play([session, tool('1', { title: 'look', kind })]);
    expect(reports[1]).toMatchObject({ type: 'tool-started', tool: 'look', kind: expected });
  });

  it.each([
    ['its own field', { rawOutput: { exitCode: 3 } }],
    ['metadata (OpenCode)', { rawOutput: { output: '', metadata: { exit: 3 } } }],
    ['the contents (Copilot)', { rawOutput: { contents: [{ type: 'text' }, { type: 'shell_exit', exitCode: 3 }] } }],
  ])('have failed if the exit code in %s says so', (_title, fields) => {
    const { reports } = play([session, tool('1', { kind: 'execute' }), ended('1', fields)]);
    expect(reports[2]).toMatchObject({ type: 'tool-ended', ok: false, exitCode: 3, denied: false });
  });

  it('begin with a request for permission, or with their end, where the agent says nothing before (Gemini)', () => {
    const id = 'write_file__write_file_1795364294609_0';
    const lines = [session, permission(id, 'allowed', { tool: 'write_file', kind: 'edit' }), ended(id), ended('2')];
    const { reports, verdict } = play([...lines, result()], { quirks: { toolName: 'call-id' } });
    expect(reports.slice(1)).toMatchObject([
      { type: 'tool-started', id, tool: 'write_file', kind: 'edit' },
      { type: 'tool-ended', id, ok: true },
      { type: 'tool-started', id: '2' },
      { type: 'tool-ended', id: '2', ok: true },
    ]);
    expect(verdict).toMatchObject({ steps: 2, mayHaveActed: true });
  });

  it('that are rejected have ended, are denials, and have not acted', () => {
    const lines = [
      tool('1', { kind: 'execute' }),
      permission('1', 'rejected'),
      ended('1', { status: 'failed' }),
      tool('1'),
    ];
    const { reports, verdict } = play([session, ...lines, result()]);
    expect(reports.slice(1)).toMatchObject([
      { type: 'tool-started', id: '1' },
      { type: 'tool-ended', id: '1', ok: false, denied: true, output: 'access is read-only' },
    ]);
    expect(verdict).toMatchObject({
      denials: [{ tool: 'shell', message: 'access is read-only' }],
      mayHaveActed: false,
    });
    expect(verdict.failure).toBeUndefined();
  });

  it('whose request is cancelled with the turn are no denials', () => {
    const { verdict } = play([session, tool('1', { kind: 'edit' }), permission('1', 'cancelled'), result()]);
    expect(verdict.denials).toEqual([]);
  });

  it('are open while a person is asked', () => {
    const ask = { type: 'ask', id: '1', n: 1, tool: 'deploy', kind: 'other', title: 'deploy it', deadline: 1 };
    const { reports, state } = play([session, ask]);
    expect(reports[1]).toMatchObject({ type: 'tool-started', tool: 'deploy' });
    expect(state.tools.open.size).toBe(1);
  });
});

describe('words', () => {
  it('of the program itself are no words of the agent', () => {
    const lines = [session, say('Info: /w/a.txt'), say('done'), say('Info: Request failed. Retrying...')];
    const { reports } = play([...lines, result()], { quirks: { notices: ['Info: '] } });
    expect(reports.slice(1).map(({ type }) => type)).toEqual(['notice', 'text', 'retry-scheduled']);
  });

  it.each<[string, string]>([
    ['Error: Failed to get response from the AI model; retried 5 times Last error: 429 Slow down', 'rate-limited'],
    ['Error: Authentication failed with provider at http://127.0.0.1:1 (HTTP 401).', 'auth'],
    ['Error: Could not connect to local model provider at http://127.0.0.1:9.', 'network'],
    ['Error: No response was returned. Send your message again to retry.', 'bad-output'],
  ])('of the program after half an answer are a failure: %s', (words, kind) => {
    const lines = [session, say('half an ans'), say(words), result({ text: `half an ans${words}` })];
    const { verdict } = play(lines, { quirks: { failures: ['Error: '] } });
    expect(verdict.failure).toMatchObject({ kind, message: words });
  });
});

describe('a turn', () => {
  const quota = 'You have exhausted your daily quota on this model.';
  const resets = Date.parse('2026-11-20T11:00:00Z');
  const error = (at: string, message: string, fields: object = {}) => ({ type: 'error', at, message, ...fields });
  // As OpenCode 1.18.33 reports each failed request of an API: without its status, and after lines of its log.
  const openCode = (words: string, errorName = 'APIError') =>
    error('prompt', `Internal error: ${words}`, {
      ...{ code: -32603, data: { service: 'session', errorName } },
      said: `timestamp=2026-11-22T19:28:34.631Z level=ERROR message="stream error" error.error="AI_APICallError: ${words}"`,
    });
  it.each<[string, object, FailureKind, object]>([
    ['refusal', result({ stopReason: 'refusal' }), 'model-refused', {}],
    ['max_tokens', result({ stopReason: 'max_tokens' }), 'output-truncated', {}],
    ['max_turn_requests', result({ stopReason: 'max_turn_requests' }), 'step-limit', {}],
    ['cancelled', result({ stopReason: 'cancelled' }), 'cancelled', {}],
    ['an unknown stop reason', result({ stopReason: 'tired' }), 'protocol', {}],
    ['an answer that breaks its schema', result({ problem: 'no answer' }), 'bad-output', { message: 'no answer' }],
    ['a notice in place of an answer', result({ text: 'Too many requests' }), 'rate-limited', {}],
    ['401', error('prompt', 'no', { code: 401 }), 'auth', { httpStatus: 401 }],
    ['a bad key as 400', error('prompt', 'API key not valid. Please pass one.', { code: 400 }), 'auth', {}],
    [
      'a missing model as 500',
      error('prompt', 'models/x is not found for API version v1', { code: 500 }),
      'model-unavailable',
      {},
    ],
    ['a broken connection as 500', error('prompt', 'exception TypeError: fetch failed', { code: 500 }), 'network', {}],
    ['a cut stream as 500', error('prompt', 'terminated', { code: 500 }), 'network', {}],
    [
      'Google’s 429',
      error('prompt', 'Resource has been exhausted (e.g. check quota).', { code: 429 }),
      'rate-limited',
      {},
    ],
    ['a quota', error('prompt', quota, { code: 429 }), 'quota-exhausted', { httpStatus: 429 }],
    [
      'a reset',
      error('prompt', `${quota}\nSuggested retry after 3600s.`, { code: 429 }),
      'quota-exhausted',
      { retryAt: resets },
    ],
    ['503', error('prompt', 'busy', { code: 503 }), 'overloaded', {}],
    ['an unknown error', error('prompt', 'hm', { code: -32603 }), 'server-error', {}],
    ['the name of an error', error('prompt', 'hm', { data: { errorKind: 'rate_limit' } }), 'rate-limited', {}],
    [
      'OpenCode’s 400',
      openCode('messages: malformed'),
      'bad-request',
      { message: 'Internal error: messages: malformed' },
    ],
    ['OpenCode’s 401', openCode('invalid x-api-key'), 'auth', {}],
    ['OpenCode’s 401 of OpenAI', openCode('Incorrect API key provided: sk-x.'), 'auth', {}],
    ['OpenCode’s 403', openCode('Your account does not have access'), 'auth', {}],
    ['OpenCode’s 404', openCode('model: claude-none'), 'model-unavailable', {}],
    ['OpenCode’s 400 about a model', openCode('model: Field required'), 'bad-request', {}],
    ['OpenCode’s full context', openCode('too long', 'ContextOverflowError'), 'context-overflow', {}],
    ['no key (OpenCode)', error('prompt', 'provider authentication required', { code: -32000 }), 'auth', {}],
    ['no program', error('spawn', 'ENOENT'), 'cli-missing', { setting: 'runtimes.acp/fake.command' }],
    [
      'a banner',
      error('initialize', 'did not answer', { said: 'Welcome!' }),
      'cli-unsupported',
      { message: 'did not answer; its last words: Welcome!' },
    ],
    ['no login', error('authenticate', 'no key'), 'auth', { setting: 'runtimes.acp/fake.config.auth' }],
    [
      'an unknown model',
      error('options', 'has no model x', { setting: 'model' }),
      'model-unavailable',
      { setting: 'model' },
    ],
    [
      'a dead MCP server',
      error('session', 'desk did not start', { setting: 'mcp' }),
      'mcp-unavailable',
      { setting: 'mcp' },
    ],
    ['a session that cannot be opened', error('session', 'no'), 'cli-unsupported', {}],
    ['a dead agent', error('agent', 'ended by exit code 1'), 'crashed', {}],
  ])('ends with %s', (_title, line, kind, more) => {
    const { verdict } = play([session, line]);
    expect(verdict.failure).toMatchObject({ kind, ...more });
  });

  it.each<[string, object, FailureKind]>([
    [
      'is not there',
      { message: 'Internal error', data: { details: 'No previous sessions found' } },
      'session-not-found',
    ],
    ['cannot be opened for any reason', { message: 'Internal error: OpenCode service failure' }, 'session-not-found'],
    ['waits for a limit', { message: 'Too many requests', code: 429 }, 'rate-limited'],
    ['waits for a login', { message: 'not logged in' }, 'auth'],
  ])('whose session %s', (_title, fields, kind) => {
    const known = { runtime: 'acp/fake', id: 's-0', home: '/h', workspace: '/w', instructionsHash: '' };
    const { verdict } = play([{ type: 'error', at: 'session', ...fields }], { request: { session: known } });
    expect(verdict.failure).toMatchObject({ kind, mayHaveActed: false });
  });

  it('without an end may have acted, and is no completed one whatever its exit code', () => {
    const { verdict } = play([session, say('done')], { facts: { ending: { type: 'exited', code: 0, signal: null } } });
    expect(verdict.failure).toMatchObject({ kind: 'protocol', mayHaveActed: true });
  });

  it('that failed beside its updates has not completed', () => {
    const trouble = (codex: object) => update({ sessionUpdate: 'session_info_update', _meta: { codex } });
    const retried = trouble({ error: { message: '429 Too Many Requests', willRetry: true } });
    const stopped = trouble({ threadStatus: { type: 'systemError' } });
    expect(play([session, retried, result()]).verdict.failure).toBeUndefined();
    expect(play([session, retried, stopped, result()]).verdict.failure).toMatchObject({ kind: 'rate-limited' });
  });
});

describe('a request that the agent repeats', () => {
  // As OpenCode 1.18.33 writes them to its log; the host cuts off what stands before.
  it.each([
    ['AI_APICallError: This request would exceed your rate limit"', 'rate-limited'],
    ['AI_APICallError: Overloaded"', 'overloaded'],
    ['AI_APICallError: Internal server error"', 'server-error'],
    ['AI_APICallError: Cannot connect to API: Unable to connect. Is the computer able to access the url?"', 'network'],
    ['AI_APICallError: Usage limit reached. Please try again in 2 hours."', 'quota-exhausted'],
  ])('is one for its reason: %s', (message, failure) => {
    const { reports } = play([session, { type: 'retry', message }]);
    expect(reports[1]).toEqual({ type: 'retry-scheduled', failure, message: message.slice(0, -1) });
  });
});

describe('use', () => {
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  it.each([
    ['is what the agent reports', [result({ usage })], {}, { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5 }],
    [
      'is that of Gemini’s quota',
      [result({ meta: { quota: { token_count: { input_tokens: 7, output_tokens: 2 } } } })],
      {},
      { inputTokens: 7, cachedInputTokens: 0, outputTokens: 2 },
    ],
    [
      'is that of a repair, too',
      [result({ usage, before: { usage } })],
      {},
      { inputTokens: 20, cachedInputTokens: 0, outputTokens: 10 },
    ],
    [
      'is not added where the agent adds it',
      [result({ usage, before: { usage } })],
      { usage: 'process' as const },
      { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5 },
    ],
    ['is unknown where the agent counts something else', [result({ usage })], { usage: 'unknown' as const }, undefined],
    [
      'is unknown where the agent counts nothing',
      [result({ usage: { inputTokens: 0, outputTokens: 0 } })],
      {},
      undefined,
    ],
    ['is unknown where the agent says nothing', [result({ usage: null })], {}, undefined],
  ])('%s', (_title, lines, quirks, expected) => {
    expect(play([session, ...lines], { quirks }).verdict.usage).toEqual(expected);
  });
});

describe('lines that no host prints', () => {
  it.each([
    [null],
    [[]],
    ['text'],
    [{}],
    [{ type: 'session' }],
    [{ type: 'update' }],
    [{ type: 'update', update: { sessionUpdate: 'tool_call' } }],
    [{ type: 'update', update: { sessionUpdate: 'tool_call_update', toolCallId: 7 } }],
    [{ type: 'permission', id: 1, answer: 'allowed' }],
    [{ type: 'result', stopReason: 3 }],
    [{ type: 'brand-new', id: 'x' }],
  ])('%j reports nothing', (line) => {
    expect(play([line as object]).reports).toEqual([]);
  });
});
