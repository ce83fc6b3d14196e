import { describe, expect, it } from 'vitest';
import type { FailureKind } from '../../../src/model/failure.ts';
import type { SessionRef } from '../../../src/model/session-ref.ts';
import { instructionsHash } from '../../../src/runtimes/shared/session.ts';
import { capture, CONVERSATION, counters, init, lines, play, result, step } from './support.ts';

const NOW = Date.UTC(2026, 10, 22);

const session = (changes: Partial<SessionRef> = {}): SessionRef => ({
  runtime: 'antigravity',
  id: CONVERSATION,
  home: '/state/homes/antigravity/1',
  workspace: '/w/tree',
  instructionsHash: instructionsHash('be good'),
  ...changes,
});
const read = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  cachedInputTokens: 0,
  outputTokens,
  reasoningTokens: 0,
});

describe('the transcripts of an emulated agy', () => {
  it.each<[name: string, code: number, ends: 'completed' | FailureKind]>([
    ['text', 0, 'completed'],
    ['tool', 0, 'completed'],
    ['mcp', 0, 'completed'],
    ['auth', 1, 'auth'],
    ['badmodel', 1, 'model-unavailable'],
    ['denied', 0, 'bad-output'],
    ['timeout', 0, 'output-truncated'],
    ['quota', 3, 'quota-exhausted'],
    ['cut', 0, 'protocol'],
    ['cut', 1, 'crashed'],
  ])('%s with exit %i ends as %s', (name, code, ends) => {
    const hasStderr = ['auth', 'badmodel', 'denied', 'timeout', 'quota'].includes(name);
    const played = play(capture(`${name}.jsonl`), { code, stderr: hasStderr ? capture(`${name}.err`) : '', now: NOW });
    expect(played.result.failure?.kind ?? played.result.outcome).toBe(ends);
  });

  it('tell the reset of a quota', () => {
    const { failure } = play(capture('quota.jsonl'), { code: 3, stderr: capture('quota.err'), now: NOW }).result;
    expect(failure).toMatchObject({ httpStatus: 429, retryAt: NOW + (34 * 60 + 13) * 1000, mayHaveActed: false });
  });

  it('tell a reset also where stdout does not', () => {
    const { failure } = play('', { code: 3, stderr: capture('quota.err'), now: NOW }).result;
    expect(failure).toMatchObject({ kind: 'quota-exhausted', retryAt: NOW + (34 * 60 + 13) * 1000 });
  });

  it('tell what was refused', () => {
    const { result: end } = play(capture('denied.jsonl'), { stderr: capture('denied.err') });
    expect(end.denials).toEqual([{ tool: 'RunCommand' }]);
  });

  it('tell a tool from its start to its end', () => {
    expect(play(capture('tool.jsonl')).reports).toEqual([
      expect.objectContaining({ type: 'session-announced', resumed: false, model: 'm' }),
      {
        type: 'tool-started',
        id: 'step-1',
        tool: 'run_command',
        kind: 'execute',
        input: { CommandLine: 'echo squad-was-here' },
      },
      { type: 'tool-ended', id: 'step-1', ok: true, denied: false, output: 'squad-was-here\n' },
      { type: 'text', text: 'OK: hello there', delta: true },
      { type: 'text', text: 'OK: hello there', delta: false },
    ]);
  });

  it('tell a call of an MCP tool by server and tool', () => {
    expect(play(capture('mcp.jsonl')).reports).toContainEqual({
      type: 'tool-started',
      id: 'step-1',
      tool: 'mailbox_send',
      kind: 'mcp',
      server: 'squad',
      input: { to: 'reviewer', body: 'please look at PR 1' },
    });
  });
});

describe('a success of agy', () => {
  const success = (more: object = {}, ...before: Record<string, unknown>[]) => lines(init(), ...before, result(more));

  it.each<[what: string, stdout: string, options: Parameters<typeof play>[1], ends: 'completed' | FailureKind]>([
    ['with an answer', success(), {}, 'completed'],
    ['without usage', success({ usage: undefined }), {}, 'completed'],
    ['with impossible usage', success({ usage: counters(-1, 5) }), {}, 'completed'],
    ['without an answer', success({ response: '' }), {}, 'bad-output'],
    ['with a refused action and an answer', success({ denied_actions: [{ action: 'command' }] }), {}, 'bad-output'],
    ['with no use at all', success({ usage: counters(0, 0) }), {}, 'output-truncated'],
    ['with no use of this turn', success(), { session: session({ counters: read(100, 10) }) }, 'output-truncated'],
    ['with use of this turn', success(), { session: session({ counters: read(60, 5) }) }, 'completed'],
    ['at its print timeout', success(), { stderr: '[agy] print timeout after 5m0s with …\n' }, 'output-truncated'],
    ['that quotes a print timeout', success(), { stderr: 'x: [agy] print timeout after 5m0s\n' }, 'completed'],
    ['before a bad exit', success(), { code: 1 }, 'crashed'],
    ['without a conversation', lines(result()), {}, 'protocol'],
    ['of another name', success({ status: 'PARTIAL' }), {}, 'protocol'],
    ['after output that is no JSON', `oops\n${success()}`, {}, 'completed'],
    ['that is a quota', success({ response: 'Individual quota reached. Resets in 34m13s.' }), {}, 'quota-exhausted'],
    ['in another conversation', lines(init('other'), result()), { session: session() }, 'session-not-found'],
  ])('%s ends as expected', (_, stdout, options, ends) => {
    const { result: end } = play(stdout, options);
    expect(end.failure?.kind ?? end.outcome).toBe(ends);
  });

  it('counts from the beginning of the conversation', () => {
    const { result: end } = play(lines(init(), result({ usage: counters(250, 30, 50, 4), num_turns: 2 })), {
      session: session({ counters: { inputTokens: 100, cachedInputTokens: 20, outputTokens: 10, reasoningTokens: 1 } }),
    });
    expect(end.usage).toEqual({ inputTokens: 100, cachedInputTokens: 30, outputTokens: 20, reasoningTokens: 3 });
    expect(end.session?.counters).toMatchObject({ inputTokens: 200, cachedInputTokens: 50, outputTokens: 30 });
  });

  it('leaves the last reading in place where it has none', () => {
    const before = read(100, 10);
    const { result: end } = play(lines(init(), result({ usage: counters(0, 0) })), {
      session: session({ counters: before }),
    });
    expect([end.usage, end.session?.counters]).toEqual([undefined, before]);
  });

  it('in a conversation that was not asked for says nothing that counts, and leaves the session as it was', () => {
    const other = lines(init('other'), step(1, 'ACTIVE', 'agent_response', { text_delta: 'I will' }));
    const { reports, result: end } = play(other, { session: session({ counters: read(5, 5) }), code: 137 });
    expect(reports).toEqual([expect.objectContaining({ type: 'session-announced', id: 'other', resumed: false })]);
    expect(end).toMatchObject({ outcome: 'failed', session: session({ counters: read(5, 5) }) });
    expect(end.failure).toMatchObject({ kind: 'session-not-found', mayHaveActed: false });
  });

  it('in such a conversation may have acted once it used a tool', () => {
    const acted = lines(init('other'), step(1, 'ACTIVE', 'tool', { tool_name: 'run_command' }));
    expect(play(acted, { session: session() }).result.failure).toMatchObject({
      kind: 'session-not-found',
      mayHaveActed: true,
    });
  });

  it('gives the structured answer alone', () => {
    const outputSchema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
    expect(play(success({ structured_output: { a: 1 } }), { outputSchema }).result.structured).toEqual({ a: 1 });
    expect(play(success({ response: '{"a":1}' }), { outputSchema }).result.failure?.kind).toBe('bad-output');
    expect(play(success({ structured_output: { a: 'x' } }), { outputSchema }).result.failure?.kind).toBe('bad-output');
  });
});

describe('an error of agy', () => {
  const failed = (error: string) => lines(init(), result({ status: 'ERROR', response: '', error }));
  const details = (code: number, text: string) =>
    `error: ${text}\nAGY_ERROR: {"short_error":"(code ${code}): ${text}","status":"X","error_code":${code},"code_kind":"http"}\n`;

  it.each<[error: string, stderr: string, code: number, ends: FailureKind]>([
    ['authentication failed or timed out', '', 1, 'auth'],
    ['API key not valid', details(401, 'API key not valid'), 1, 'auth'],
    ['denied', details(403, 'denied'), 1, 'auth'],
    ['invalid model selection (--model): model m is not recognized', '', 1, 'model-unavailable'],
    ['gone', details(404, 'gone'), 1, 'model-unavailable'],
    ['RESOURCE_EXHAUSTED (code 429): too many requests per minute', '', 1, 'rate-limited'],
    ['x', details(429, 'x'), 1, 'rate-limited'],
    ['x', details(500, 'x'), 1, 'server-error'],
    ['x', details(503, 'x'), 1, 'overloaded'],
    ['dial tcp: connect: connection refused', '', 1, 'network'],
    ['timeout waiting for response', '', 1, 'network'],
    ['interrupted', '', 1, 'cancelled'],
    ['what is this', '', 1, 'server-error'],
    ['', '', 1, 'server-error'],
  ])('%s %s', (error, stderr, code, ends) => {
    const { failure } = play(failed(error), { stderr, code }).result;
    expect(failure).toMatchObject({ kind: ends, mayHaveActed: false });
    expect(failure?.message).not.toBe('');
  });

  it.each<[what: string, stderr: string, code: number, ends: FailureKind]>([
    ['an unknown flag', 'flags provided but not defined: -x\n', 2, 'cli-unsupported'],
    ['a login before its first line', 'error: authentication failed or timed out\n', 1, 'auth'],
    ['a terminal that is not there', 'could not open a new TTY\n', 0, 'protocol'],
    ['silence', '', 0, 'protocol'],
    ['a crash', 'panic: runtime error\n', 2, 'crashed'],
  ])('without any output: %s', (_, stderr, code, ends) => {
    expect(play('', { stderr, code }).result.failure).toMatchObject({ kind: ends });
  });

  it('of what works with it is not taken for its own', () => {
    const { failure } = play(lines(init()), { stderr: 'error: 401 Unauthorized, not logged in\n', code: 1 }).result;
    expect(failure).toMatchObject({ kind: 'crashed', mayHaveActed: true });
  });

  it('names a required MCP server that could not be started', () => {
    const desk = { name: 'desk', transport: { type: 'stdio' as const, command: '/x', args: [], env: {} } };
    const stderr = '/bin/sh: /x: not found\nsquad: the MCP server desk did not start (127)\n';
    const all = lines(init(), result());
    expect(play(all, { stderr, mcp: [{ ...desk, required: true }] }).result.failure?.kind).toBe('mcp-unavailable');
    expect(play(all, { stderr, mcp: [desk] }).result.outcome).toBe('completed');
  });
});

describe('a line of agy', () => {
  it('ends at a newline only, whatever else breaks lines', () => {
    const text = 'one\u2028two\u0085three';
    const { reports, result: end } = play(
      lines(init(), step(1, 'DONE', 'agent_response', { text_delta: text }), result({ response: text })),
    );
    expect(reports.at(-1)).toEqual({ type: 'text', text, delta: false });
    expect(end.text).toBe(text);
  });

  it('that is too long closes the tool that it ends', () => {
    const info = { name: 'run_command', parameters: {}, output: 'x'.repeat(100_000) };
    const { reports } = play(
      lines(
        init(),
        step(3, 'ACTIVE', 'tool', { tool_name: 'run_command' }),
        step(3, 'DONE', 'tool', { tool_name: 'run_command', tool_info: info }),
        result(),
      ),
    );
    expect(reports.filter(({ type }) => type === 'tool-ended')).toHaveLength(1);
  });

  it('after the result changes nothing', () => {
    const more = [init('other'), step(9, 'ACTIVE', 'tool', { tool_name: 'run_command' }), result({ status: 'ERROR' })];
    const { result: end, reports } = play(lines(init(), result(), ...more));
    expect([end.outcome, reports.length]).toEqual(['completed', 1]);
  });

  it.each([
    ['an unknown event', { event: 'news', news: {} }],
    ['an unknown step', step(1, 'DONE', 'checkpoint')],
    ['an unknown state', step(1, 'PAUSED', 'tool')],
    ['a payload under another name', { event: 'result', done: {} }],
    ['no event', { result: {} }],
    ['a step without a number', step(-1, 'DONE', 'tool')],
  ])('with %s is ignored', (_, line) => {
    expect(play(lines(init(), line, result())).reports).toHaveLength(1);
  });

  it.each<[tool: string, type: string, kind: string]>([
    ['view_file', 'tool', 'read'],
    ['write_to_file', 'tool', 'edit'],
    ['replace_file_content', 'tool', 'edit'],
    ['search_web', 'tool', 'fetch'],
    ['read_url_content', 'tool', 'fetch'],
    ['call_mcp_tool', 'tool', 'mcp'],
    ['anything', 'tool', 'other'],
    ['anything', 'subagent', 'agent'],
  ])('about %s (%s) is of kind %s', (tool, type, kind) => {
    const [, started] = play(lines(init(), step(2, 'ACTIVE', type, { tool_name: tool }))).reports;
    expect(started).toMatchObject({ type: 'tool-started', kind });
  });

  it('about a tool that failed says so, and reading changes nothing', () => {
    const reads = lines(
      init(),
      step(1, 'ERROR', 'tool', { tool_name: 'view_file', tool_info: { error: 'no such file' } }),
    );
    const { reports, result: end } = play(reads + lines(result({ status: 'ERROR', error: 'x' })), { code: 1 });
    expect(reports.at(-1)).toMatchObject({ type: 'tool-ended', ok: false, output: 'no such file' });
    expect(end.failure?.mayHaveActed).toBe(false);
  });
});
