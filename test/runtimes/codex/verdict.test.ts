import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FailureKind } from '../../../src/model/failure.ts';
import { instructionsHash } from '../../../src/runtimes/shared/session.ts';
import { capture, play, THREAD } from './support.ts';
import { SPREAD, spread } from '../../support/lane.ts';

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const opened = line({ type: 'thread.started', thread_id: THREAD }) + line({ type: 'turn.started' });
const failed = (message: string) => opened + line({ type: 'turn.failed', error: { message } });
const say = (text: string) => line({ type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text } });
const done = line({ type: 'turn.completed', usage: {} });
const session = {
  runtime: 'codex',
  id: THREAD,
  home: '/h',
  workspace: '/w/tree',
  instructionsHash: instructionsHash('be good'),
};
const schema = { outputSchema: { type: 'object' } };

describe('the verdict on a codex turn', () => {
  it.each(['lean', 'r1', 'r2', 'r4', 'big', 'wt', 'wt-a', 'mcp-bad', 'schema', 'recommended-2'])(
    'is completed with positive proof (%s)',
    (name) => {
      const { verdict } = play(capture(`${name}.jsonl`));
      expect(verdict.failure).toBeUndefined();
      expect(verdict.text).not.toBe('');
    },
  );

  it.each<[string, FailureKind, number | undefined]>([
    ['err400', 'bad-request', 400],
    ['err401', 'auth', 401],
    ['err429', 'rate-limited', 429],
    ['err500', 'server-error', 500],
    ['errctx', 'context-overflow', undefined],
    ['errquota', 'quota-exhausted', 429],
    ['errusage', 'quota-exhausted', 429],
    ['failed', 'network', undefined],
    ['nocomplete', 'network', undefined],
  ])('names the cause: %s is %s', (name, kind, httpStatus) => {
    const { failure } = play(capture(`${name}.jsonl`)).verdict;
    expect(failure).toMatchObject({ kind, mayHaveActed: false });
    expect(failure?.httpStatus).toBe(httpStatus);
  });

  it.each<[string, FailureKind]>([
    ['unexpected status 403 Forbidden: no, url: http://x', 'auth'],
    ['unexpected status 404 Not Found: gone, url: http://x', 'model-unavailable'],
    ['unexpected status 502 Bad Gateway: x', 'server-error'],
    ['The model does not exist', 'model-unavailable'],
    ['Selected model is at capacity. Please try a different model.', 'overloaded'],
    ['Incomplete response returned, reason: max_output_tokens', 'output-truncated'],
    ['stream disconnected before completion: Incomplete response returned, reason: content_filter', 'model-refused'],
    ['stream disconnected before completion: error sending request', 'network'],
    ['Connection failed: refused', 'network'],
    ['Missing environment variable: `FAKE_KEY`.', 'auth'],
    ['{"error":{"message":"too long","code":"context_length_exceeded"}}', 'context-overflow'],
    ['{"error":{"message":"The requested model \'x\' does not exist.","type":"x"}}', 'model-unavailable'],
    ['Your access token could not be refreshed. Please log out and sign in again.', 'auth'],
    ['Failed to refresh token: 500 Internal Server Error', 'server-error'],
    ['{"half":', 'server-error'],
    ['something nobody has seen', 'server-error'],
  ])('reads the text %j', (message, kind) => {
    expect(play(failed(message)).verdict.failure?.kind).toBe(kind);
  });

  it('names an expired login, which codex tells on stderr alone, where the network is blamed', () => {
    const stdout = capture('expired-login.jsonl');
    const stderr = capture('expired-login.err');
    expect(play(stdout, { facts: { stderr } }).verdict.failure?.kind).toBe('auth');
    expect(play(stdout).verdict.failure?.kind).toBe('server-error');
    // Only codex's own line counts, and only where nothing better is known.
    const quoted = 'an agent wrote: ERROR codex_login::auth::manager: Please sign in again.';
    expect(play(stdout, { facts: { stderr: quoted } }).verdict.failure?.kind).toBe('server-error');
    expect(play(capture('errusage.jsonl'), { facts: { stderr } }).verdict.failure?.kind).toBe('quota-exhausted');
  });

  it('keeps the reset that a usage limit names, today or with a date', () => {
    const { failure } = play(capture('errusage.jsonl')).verdict;
    const reset = new Date(failure?.retryAt ?? 0);
    expect([reset.getHours(), reset.getMinutes()]).toEqual([11, 28]);
    const dated = play(failed('You’ve hit your usage limit. Try again later or try again at Nov 23rd, 2026 1:04 PM.'));
    expect(dated.verdict.failure?.retryAt).toBe(new Date(2026, 10, 23, 13, 4).getTime());
  });

  it.each<[string, FailureKind, number]>([
    ['r6', 'session-not-found', 1],
    ['conc2', 'session-busy', 1],
    ['mcp-req', 'mcp-unavailable', 1],
    ['badcfg', 'bad-request', 1],
  ])('names a failed start from stderr: %s is %s', (name, kind, code) => {
    const facts = { stderr: capture(`${name}.err`), ending: { type: 'exited', code, signal: null } as const };
    expect(play('', { facts }).verdict.failure).toMatchObject({ kind, mayHaveActed: false });
  });

  it('adds the last words of a server that must start', () => {
    const said =
      '2026-11-22T16:31:28.6Z  INFO codex_rmcp_client::stdio_server_launcher: MCP server stderr (/bin/desk): no disk';
    const stderr = `${said}\n${capture('mcp-req.err')}`;
    const { failure } = play('', { facts: { stderr, ending: { type: 'exited', code: 1, signal: null } } }).verdict;
    expect(failure?.kind).toBe('mcp-unavailable');
    expect(failure?.message).toMatch(/^MCP server stderr \(\/bin\/desk\): no disk\n.*required MCP servers failed/s);
  });

  it('never calls an empty start a protocol error', () => {
    for (const stderr of ['', capture('nogit.err'), capture('stdin-open.err')]) {
      const { failure } = play('', { facts: { stderr, ending: { type: 'exited', code: 1, signal: null } } }).verdict;
      expect(failure?.kind).toBe('crashed');
      expect(failure?.message).not.toBe('');
    }
    const flag = {
      stderr: "error: unexpected argument '--x' found",
      ending: { type: 'exited', code: 2, signal: null },
    };
    expect(play('', { facts: flag as never }).verdict.failure?.kind).toBe('cli-unsupported');
    const field = { stderr: 'Error loading config.toml: unknown configuration field `x`' };
    expect(play('', { facts: field }).verdict.failure?.kind).toBe('cli-unsupported');
  });

  it('never takes a new thread for the session that was asked for (r7)', () => {
    const { result } = play(capture('r7.jsonl'), { request: { session } });
    expect(result.failure?.kind).toBe('session-not-found');
    expect(play(capture('r2.jsonl'), { request: { session } }).verdict.failure).toBeUndefined();
    expect(play(capture('r2.jsonl'), { request: { session } }).reports[0]).toMatchObject({ resumed: true });
  });

  it('fails a turn that ends without an answer, or with commentary before a tool only', () => {
    expect(play(opened + done).result.failure).toMatchObject({ kind: 'bad-output', mayHaveActed: false });
    const tool = line({ type: 'item.completed', item: { id: 'item_1', type: 'web_search', query: 'q' } });
    expect(play(opened + say('I will look.') + tool + done).result.failure?.kind).toBe('bad-output');
  });

  it('hands a JSON answer over for the host’s check, and fails prose', () => {
    const { verdict } = play(capture('schema.jsonl'), { request: schema });
    expect(verdict.structured).toEqual({ verdict: 'approve', score: 7 });
    expect(play(opened + say('well, yes') + done, { request: schema }).result.failure?.kind).toBe('bad-output');
    expect(play(opened + say('{"a":1}') + done).verdict.structured).toBeUndefined();
  });

  it('is no success when the process ends badly after its last word', () => {
    const facts = { ending: { type: 'exited', code: 1, signal: null } as const };
    expect(play(opened + say('x') + done, { facts }).verdict.failure?.kind).toBe('crashed');
  });

  it('says that a turn cut off in the middle may have acted (SIGTERM-bash, hang)', () => {
    const facts = { ending: { type: 'exited', code: 143, signal: 'SIGTERM' } as const };
    for (const name of ['SIGTERM-bash.jsonl', 'hang.jsonl']) {
      expect(play(capture(name), { facts }).verdict.failure).toMatchObject({ kind: 'crashed', mayHaveActed: true });
    }
    const gone = { ending: { type: 'vanished' } as const };
    expect(play(opened, { facts: gone }).verdict.failure).toMatchObject({ kind: 'crashed', mayHaveActed: true });
    expect(
      play(opened, { facts: { ending: { type: 'exited', code: 0, signal: null } } }).verdict.failure,
    ).toMatchObject({
      kind: 'protocol',
      mayHaveActed: true,
    });
  });

  it('says that a turn that failed after a tool may have acted', () => {
    const tool = line({ type: 'item.started', item: { id: 'item_1', type: 'command_execution', command: 'x' } });
    expect(play(opened + tool + failed('429 Too Many Requests')).verdict.failure?.mayHaveActed).toBe(true);
  });

  it('survives whatever is printed, and calls none of it done', SPREAD, () => {
    const types = ['thread.started', 'turn.started', 'item.started', 'item.completed', 'error', 'turn.failed', 'x'];
    const items = ['agent_message', 'command_execution', 'mcp_tool_call', 'file_change', 'todo_list', 'x'];
    const item = fc.record(
      {
        id: fc.anything(),
        type: fc.constantFrom(...items),
        text: fc.anything(),
        status: fc.anything(),
        changes: fc.anything(),
        error: fc.anything(),
      },
      { requiredKeys: ['type'] },
    );
    const event = fc.record(
      { type: fc.constantFrom(...types), item, thread_id: fc.anything(), message: fc.anything(), error: fc.anything() },
      { requiredKeys: ['type'] },
    );
    const printed = fc.oneof(
      event.map((value) => JSON.stringify(value)),
      fc.json(),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(printed, { maxLength: 20 }), fc.integer({ min: 0, max: 3 }), (lines, code) => {
        const facts = { ending: { type: 'exited', code, signal: null } as const };
        expect(play(lines.join('\n'), { facts }).verdict.failure).toBeDefined();
      }),
      { numRuns: spread(500, 2000) },
    );
  });
});
