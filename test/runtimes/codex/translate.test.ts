import { describe, expect, it } from 'vitest';
import { capture, play, THREAD } from './support.ts';

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const opened = line({ type: 'thread.started', thread_id: THREAD }) + line({ type: 'turn.started' });
const done = line({ type: 'turn.completed', usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 2 } });
const say = (text: string, id = 'item_9') =>
  line({ type: 'item.completed', item: { id, type: 'agent_message', text } });

describe('codex events', () => {
  it('report a shell command from its start to its end (bash-ww)', () => {
    const { reports, verdict } = play(capture('bash-ww.jsonl'));
    expect(reports).toEqual([
      { type: 'session-announced', id: '01a1f87f-a480-7233-aaf5-23c30aa54b7e', resumed: false, mcp: [] },
      { type: 'text', text: 'I will run a command.', delta: false },
      {
        type: 'tool-started',
        id: 'item_1',
        tool: 'shell',
        kind: 'execute',
        input: { command: "/bin/bash -lc 'touch made-by-codex && ls'" },
      },
      { type: 'tool-ended', id: 'item_1', ok: true, denied: false, output: 'made-by-codex\n', exitCode: 0 },
      { type: 'text', text: 'Done: ran the command.', delta: false },
    ]);
    expect(verdict).toMatchObject({ text: 'Done: ran the command.', steps: 1 });
    expect(verdict.failure).toBeUndefined();
  });

  it('report MCP calls by server and tool (mcp-approve, mcp-http, recommended-1)', () => {
    for (const name of ['mcp-approve.jsonl', 'mcp-http.jsonl', 'recommended-1.jsonl']) {
      const { reports, verdict } = play(capture(name));
      expect(reports).toContainEqual(expect.objectContaining({ tool: 'mailbox_send', server: 'squad', kind: 'mcp' }));
      expect(reports).toContainEqual(expect.objectContaining({ type: 'tool-ended', ok: true, denied: false }));
      expect(verdict.denials).toEqual([]);
    }
  });

  it('list an MCP call that nobody approved as a denial (mcp-noann)', () => {
    const { reports, verdict } = play(capture('mcp-noann.jsonl'));
    const message = 'MCP tool call requires approval, but approval policy is never';
    expect(reports).toContainEqual({ type: 'tool-ended', id: 'item_0', ok: false, denied: true, output: message });
    expect(verdict.denials).toEqual([{ tool: 'mailbox_send', message }]);
    expect(verdict.failure).toBeUndefined();
  });

  it('call a required MCP server connected, and an optional one unknown', () => {
    const transport = { type: 'stdio' as const, command: '/x', args: [], env: {} };
    const mcp = [
      { name: 'desk', required: true, transport },
      { name: 'web', transport },
    ];
    const [announced] = play(opened, { request: { mcp } }).reports;
    expect(announced).toMatchObject({
      mcp: [
        { name: 'desk', status: 'connected' },
        { name: 'web', status: 'unknown' },
      ],
    });
  });

  it('report changed files with their patch', () => {
    const changes = [{ path: '/w/a.txt', kind: 'add' }];
    const item = { id: 'item_0', type: 'file_change', changes, status: 'completed' };
    const { reports, verdict } = play(opened + line({ type: 'item.completed', item }) + say('ok') + done);
    expect(reports.slice(1)).toEqual([
      { type: 'tool-started', id: 'item_0', tool: 'apply_patch', kind: 'edit', input: { changes } },
      { type: 'tool-ended', id: 'item_0', ok: true, denied: false },
      { type: 'files-changed', changes },
      { type: 'text', text: 'ok', delta: false },
    ]);
    expect(verdict.failure).toBeUndefined();
  });

  it('list a declined patch as a denial and no changed file', () => {
    const item = { id: 'item_0', type: 'file_change', changes: [{ path: '/x', kind: 'add' }], status: 'declined' };
    const { reports, verdict } = play(opened + line({ type: 'item.completed', item }) + say('ok') + done);
    expect(reports.map((report) => report.type)).not.toContain('files-changed');
    expect(verdict.denials).toEqual([{ tool: 'apply_patch' }]);
  });

  it('report thinking, plans, notices, searches and sub-agents', () => {
    const items = [
      { type: 'reasoning', text: 'hm' },
      { type: 'todo_list', items: [{ text: 'one', completed: true }, { text: 'two' }] },
      { type: 'error', message: 'careful' },
      { type: 'web_search', query: 'q' },
      { type: 'collab_tool_call', tool: 'spawn_agent', status: 'completed' },
    ].map((item, index) => line({ type: 'item.completed', item: { id: `item_${index}`, ...item } }));
    const { reports } = play(opened + items.join(''));
    expect(reports.slice(1)).toMatchObject([
      { type: 'thinking', text: 'hm' },
      { type: 'notice', text: 'plan:\n[x] one\n[ ] two' },
      { type: 'notice', text: 'careful' },
      { type: 'tool-started', kind: 'fetch', input: { query: 'q' } },
      { type: 'tool-ended' },
      { type: 'tool-started', kind: 'agent', tool: 'spawn_agent' },
      { type: 'tool-ended', ok: true },
    ]);
  });

  it('say each text once after a cut stream, and call the reconnect a retry (nocomplete)', () => {
    const { reports } = play(capture('nocomplete.jsonl'));
    expect(reports.filter((report) => report.type === 'text')).toHaveLength(1);
    expect(reports.filter((report) => report.type === 'retry-scheduled')).toMatchObject([
      { failure: 'network', attempt: 1, of: 1 },
    ]);
  });

  it('complete after a reconnect that worked', () => {
    const cut = line({ type: 'error', message: 'Reconnecting... 2/5 (stream disconnected before completion: x)' });
    const { verdict } = play(opened + say('half') + cut + say('half') + done);
    expect(verdict.failure).toBeUndefined();
    expect(verdict.text).toBe('half');
  });

  it('know the wait for the network, which has no count', () => {
    const { reports } = play(opened + line({ type: 'error', message: 'Reconnecting... waiting for network' }));
    expect(reports.at(-1)).toEqual({
      type: 'retry-scheduled',
      failure: 'network',
      message: 'Reconnecting... waiting for network',
    });
  });

  it('keep a long tool open until it ends (longtool)', () => {
    const lines = capture('longtool.jsonl').split('\n');
    expect(play(lines.slice(0, 4).join('\n')).state.tools.open.size).toBe(1);
    expect(play(lines.join('\n')).state.tools.open.size).toBe(0);
  });

  it('cut output to 4 KiB, and close a tool whose end was too long to be read', () => {
    const item = {
      id: 'item_1',
      type: 'command_execution',
      command: 'x',
      aggregated_output: '',
      status: 'in_progress',
    };
    const ended = { ...item, aggregated_output: 'ü'.repeat(500_000), exit_code: 0, status: 'completed' };
    const start = opened + line({ type: 'item.started', item });
    const end = line({ type: 'item.completed', item: ended });
    for (const output of [start + end, start + end.slice(0, 65_536)]) {
      const report = play(output).reports.at(-1);
      expect(report?.type).toBe('tool-ended');
      expect(Buffer.byteLength(report?.type === 'tool-ended' ? (report.output ?? '') : '')).toBeLessThanOrEqual(4096);
      expect(play(output).state.tools.open.size).toBe(0);
    }
  });

  it('ignore what they do not know', () => {
    const strange = ['not json', '[]', 'null', '{"type":"new.thing"}', '{"type":"item.completed","item":{"type":"x"}}'];
    expect(play(strange.join('\n')).reports).toEqual([]);
  });
});

describe('codex usage', () => {
  it('is a reading of the whole thread, with cached input taken out (r1, r2)', () => {
    expect(play(capture('r1.jsonl')).verdict.counters).toEqual({
      inputTokens: 150,
      cachedInputTokens: 50,
      outputTokens: 42,
      reasoningTokens: 7,
    });
    expect(play(capture('r2.jsonl')).verdict.counters).toMatchObject({ inputTokens: 300, cachedInputTokens: 100 });
    expect(play(capture('r1.jsonl')).verdict.usage).toBeUndefined();
  });

  it('is unknown, not zero, where codex does not say it', () => {
    expect(play(opened + say('x') + line({ type: 'turn.completed' })).verdict.counters).toBeUndefined();
  });
});
