import { describe, expect, it } from 'vitest';
import type { FailureKind } from '../../../src/model/failure.ts';
import type { SessionRef } from '../../../src/model/session-ref.ts';
import { instructionsHash } from '../../../src/runtimes/shared/session.ts';
import { capture, ended, makeRequest, NOW, replay } from './support.ts';

const schema = { outputSchema: { type: 'object' } };
const required = (name: string) => ({
  mcp: [{ name, required: true, transport: { type: 'http' as const, url: 'http://127.0.0.1:1', headers: {} } }],
});

function session(id: string, costUsd?: number): { session: SessionRef } {
  const counters = {
    inputTokens: 150,
    cachedInputTokens: 50,
    outputTokens: 42,
    ...(costUsd === undefined ? {} : { costUsd }),
  };
  const ref = { runtime: 'claude', id, home: '/h', workspace: '/somewhere/tree', counters };
  return { session: { ...ref, instructionsHash: instructionsHash('You are a builder.') } };
}

describe('recorded turns that completed', () => {
  it.each([
    ['text', 'Hello from the fake model.'],
    ['asp1', 'I can see 1 user message(s) and 2 message(s) in all.'],
    ['write-accept', 'Done: wrote the file.'],
    ['mcp-http', 'Mail sent.'],
    ['recommended-1', 'Mail sent.'],
    ['longtool', 'Done: ran the command.'],
    ['bgbash-disabled', 'Started it in the background.'],
    ['agent', 'Saw the sub-agent end.'],
    ['partial', 'It is done now.'],
    ['foreground-agent', 'main done'],
  ])('%s', (name, text) => {
    const { verdict, terminal } = replay(`${name}.jsonl`, ended());
    expect(verdict.failure).toBeUndefined();
    expect(verdict.text).toBe(text);
    expect(verdict.sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(verdict.counters?.inputTokens).toBeGreaterThan(0);
    expect(terminal).toBe(true);
  });

  it.each(['schema', 'recommended-2'])('%s, with a structured answer', (name) => {
    const { verdict } = replay(`${name}.jsonl`, ended(), makeRequest(schema));
    expect(verdict).toMatchObject({ structured: { verdict: 'approve', score: 7 } });
    expect(verdict.failure).toBeUndefined();
  });

  it.each(['write-default', 'mcp-noallow', 'deny'])('%s, whose refused tools are listed (pitfall 3)', (name) => {
    const { verdict, reports } = replay(`${name}.jsonl`, ended());
    expect(verdict.failure).toBeUndefined();
    expect(verdict.denials).toHaveLength(1);
    expect(verdict.denials[0]?.message).toMatch(/permission/i);
    expect(reports).toContainEqual(expect.objectContaining({ type: 'tool-ended', ok: false, denied: true }));
  });
});

describe('recorded turns that failed', () => {
  const cases: [string, FailureKind, boolean, number?][] = [
    ['err400', 'context-overflow', false, 400],
    ['err403', 'auth', false, 403],
    ['err404', 'model-unavailable', false, 404],
    ['err429', 'rate-limited', false, 429],
    ['err500', 'server-error', false, 500],
    ['err529', 'overloaded', false, 529],
    ['nokey', 'auth', false],
    ['usage-limit', 'quota-exhausted', false, 429],
    ['credit', 'billing', false, 400],
    ['timed-out', 'stalled', false],
    ['refused', 'network', false],
    ['cut', 'network', false],
    ['refusal', 'model-refused', false],
    ['maxtokens', 'output-truncated', false],
    ['maxturns', 'step-limit', true],
    ['budget', 'cost-limit', true],
    ['no-sandbox', 'sandbox-unavailable', false],
    ['slash-command', 'protocol', false],
  ];
  it.each(cases)('%s is %s (pitfall 1)', (name, kind, mayHaveActed, httpStatus) => {
    const { verdict } = replay(`${name}.jsonl`, ended(name === 'slash-command' ? 0 : 1));
    expect(verdict.failure).toMatchObject({ kind, mayHaveActed });
    expect(verdict.failure?.httpStatus).toBe(httpStatus);
    expect(verdict.failure?.message).not.toBe('');
  });

  it('says when a limit resets', () => {
    expect(replay('usage-limit.jsonl', ended(1)).verdict.failure?.retryAt).toBe(1_795_190_000_000);
    expect(replay('err429.jsonl', ended(1)).verdict.failure?.retryAt).toBeGreaterThan(NOW);
  });

  it.each(['SIGINT-text', 'SIGINT-bash'])('%s is cancelled although it exits with 0 (pitfall 2)', (name) => {
    expect(replay(`${name}.jsonl`, ended(0)).verdict.failure?.kind).toBe('cancelled');
  });

  it('ignored schema: prose is no structured answer (pitfall 4)', () => {
    expect(replay('neverschema.jsonl', ended(0), makeRequest(schema)).result.failure?.kind).toBe('bad-output');
    expect(replay('wrongschema.jsonl', ended(1), makeRequest(schema)).verdict.failure).toMatchObject({
      kind: 'bad-output',
      mayHaveActed: false,
    });
  });

  it('a required MCP server that failed ends the turn, an optional one does not (pitfall 12)', () => {
    const bad = replay('mcp-bad.jsonl', ended(0), makeRequest(required('bad')));
    expect(bad.verdict.failure).toMatchObject({ kind: 'mcp-unavailable', setting: 'mcp' });
    expect(replay('mcp-bad.jsonl', ended(0), makeRequest(required('other'))).verdict.failure?.kind).toBe(
      'mcp-unavailable',
    );
    expect(replay('mcp-bad.jsonl', ended(0)).verdict.failure).toBeUndefined();
    expect(replay('mcp-http.jsonl', ended(0), makeRequest(required('squad'))).verdict.failure).toBeUndefined();
  });

  it('killed in the middle of a tool: crashed, and something may have happened (pitfall 15)', () => {
    const killed = ended(137, { ending: { type: 'exited', code: 137, signal: 'SIGKILL' } });
    const { verdict, terminal } = replay('SIGKILL-bash.jsonl', killed);
    expect(verdict.failure).toMatchObject({ kind: 'crashed', mayHaveActed: true });
    expect(verdict.counters).toBeUndefined();
    expect(terminal).toBe(false);
  });

  it('no session: not found, and no new one in its place', () => {
    const id = '99999999-2222-4333-8444-555555555555';
    const { verdict } = replay('resume-unknown.jsonl', ended(1), makeRequest(session(id)));
    expect(verdict.failure).toMatchObject({ kind: 'session-not-found', mayHaveActed: false });
    const other = replay('resume.jsonl', ended(0), makeRequest(session(id)));
    expect(other.result.failure?.kind).toBe('session-not-found');
  });
});

describe('complaints on stderr with an empty stdout (pitfall 16)', () => {
  it.each<[string, FailureKind]>([
    ['sid-dup.err', 'session-busy'],
    ['bypass-root.err', 'setting-unsupported'],
    ['skip-root.err', 'setting-unsupported'],
    ['unkflag.err', 'cli-unsupported'],
  ])('%s is %s', (name, kind) => {
    const { verdict } = replay('empty.jsonl', ended(1, { stderr: capture(name) }));
    expect(verdict.failure).toMatchObject({ kind, mayHaveActed: false });
  });
});

describe('use', () => {
  it('use of a resumed turn is the difference of two readings (pitfall 6)', () => {
    const first = replay('sid.jsonl', ended()).result;
    expect(first.usage).toEqual({ inputTokens: 150, cachedInputTokens: 50, outputTokens: 42, costUsd: 0.0011175 });
    const id = '11111111-2222-4333-8444-555555555555';
    const second = replay('resume.jsonl', ended(), makeRequest(session(id, first.usage?.costUsd)));
    expect(second.result.usage).toMatchObject({ inputTokens: 150, cachedInputTokens: 50, outputTokens: 42 });
    expect(second.result.usage?.costUsd).toBe(0.001117);
    expect(second.verdict.counters).toMatchObject({ inputTokens: 300, outputTokens: 84, costUsd: 0.002235 });
  });

  it('counts sub-agents and requests that were cut short', () => {
    expect(replay('agent.jsonl', ended()).result.usage).toMatchObject({ inputTokens: 600, outputTokens: 168 });
    expect(replay('SIGINT-text.jsonl', ended()).result.usage).toMatchObject({ inputTokens: 150, outputTokens: 10 });
  });

  it('the last of several results is the answer (pitfall 5)', () => {
    const { verdict } = replay('agent.jsonl', ended());
    expect(verdict).toMatchObject({ text: 'Saw the sub-agent end.', steps: 3 });
  });
});

describe('events', () => {
  it('announces a session once', () => {
    const { reports } = replay('agent.jsonl', ended());
    expect(reports.filter(({ type }) => type === 'session-announced')).toHaveLength(1);
    const id = '11111111-2222-4333-8444-555555555555';
    const resumed = replay('resume.jsonl', ended(), makeRequest(session(id))).reports;
    expect(resumed[0]).toMatchObject({ type: 'session-announced', id, resumed: true, model: 'claude-sonnet-4-5' });
  });

  it('streams deltas and closes them with the whole text', () => {
    const { reports } = replay('partial.jsonl', ended());
    const text = reports.filter((report) => report.type === 'text');
    const deltas = text.filter(({ delta }) => delta).map((report) => report.text);
    const whole = text.filter(({ delta }) => !delta).map((report) => report.text);
    expect(deltas.length).toBeGreaterThan(whole.length);
    expect(deltas.join('')).toBe(whole.join(''));
  });

  it('pairs tools with their ends, with kind, server and exit code', () => {
    expect(replay('mcp-http.jsonl', ended()).reports).toContainEqual(
      expect.objectContaining({ type: 'tool-started', kind: 'mcp', server: 'squad', tool: 'mailbox_send' }),
    );
    const { reports } = replay('partial.jsonl', ended());
    const started = reports.find((report) => report.type === 'tool-started');
    expect(started).toMatchObject({ kind: 'execute', tool: 'Bash', input: { command: 'exit 3' } });
    expect(reports.find((report) => report.type === 'tool-ended')).toMatchObject({
      id: started?.id,
      ok: false,
      exitCode: 3,
    });
  });

  it('keeps a long tool open until its end (pitfall 22)', () => {
    const kinds = replay('longtool.jsonl', ended()).reports.map(({ type }) => type);
    expect(kinds).toEqual(['session-announced', 'tool-started', 'tool-ended', 'text']);
  });

  it('names the sub-agent that speaks or acts, and does not take its words for the answer', () => {
    const { reports, verdict } = replay('foreground-agent.jsonl', ended());
    const parent = reports.find((report) => report.type === 'tool-started' && report.kind === 'agent');
    const inner = reports.find((report) => report.type === 'tool-started' && report.kind === 'execute');
    expect(inner).toMatchObject({ agent: parent?.type === 'tool-started' ? parent.id : 'none' });
    expect(verdict.text).toBe('main done');
  });

  it('reports each retry with its kind', () => {
    const { reports } = replay('err429.jsonl', ended(1));
    const retries = reports.filter((report) => report.type === 'retry-scheduled');
    expect(retries).toHaveLength(10);
    expect(retries[0]).toMatchObject({ failure: 'rate-limited', attempt: 1, of: 10, delayMs: 1089 });
    expect(replay('refused.jsonl', ended(1)).reports).toContainEqual(
      expect.objectContaining({ type: 'retry-scheduled', failure: 'network' }),
    );
    expect(replay('err401.jsonl', ended(143)).reports).toContainEqual(
      expect.objectContaining({ type: 'retry-scheduled', failure: 'auth' }),
    );
  });
});
