import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { turnFile, type SettledTurn } from '../../../../src/view/report/files/turn-file.ts';
import { result, usage } from '../../../substrate/ledger/support.ts';

const TURN: SettledTurn = {
  run: 'tidy',
  name: 'spec-2',
  attempt: {
    ...{ id: 'tidy.abc.spec-2', taskId: 'spec', number: 2, agent: 'ba', runtime: 'scripted' },
    request: JSON.stringify({ prompt: '# Task spec: Say what is built' }),
    claimedAt: Date.UTC(2026, 0, 29, 8),
  },
  settlement: {
    at: Date.UTC(2026, 0, 29, 8, 0, 42),
    result: result({ text: 'Written.', startedAt: Date.UTC(2026, 0, 29, 8, 0, 2), usage: usage(120, 0.5) }),
  },
  role: 'ba',
  stage: 'SPEC',
  title: 'Say what is built',
  isReview: false,
};

function turn(more: Partial<SettledTurn> = {}, ended: Parameters<typeof result>[0] = {}): SettledTurn {
  const settlement = { ...TURN.settlement, result: { ...TURN.settlement.result, ...ended } };
  return { ...TURN, settlement, ...more };
}

function frontOf(text: string): unknown {
  return parse(text.split('---\n')[1] ?? '');
}

describe('the file of a turn', () => {
  it('says who did what when, at what cost, what was asked and what was answered', () => {
    const { path, text } = turnFile(TURN);
    expect(path).toBe('history/2026-01-29T08-00-42-000Z-ba-spec-2.md');
    expect(frontOf(text)).toEqual({
      ...{ run: 'tidy', task: 'spec', attempt: 2, stage: 'SPEC', agent: 'ba', role: 'ba', runtime: 'scripted' },
      ...{ kind: 'work', outcome: 'completed' },
      started: '2026-01-29T08:00:02.000Z',
      ended: '2026-01-29T08:00:42.000Z',
      ...{ input_tokens: 120, cached_input_tokens: 0, output_tokens: 0, cost_usd: 0.5 },
    });
    expect(text).toContain('# `spec-2`: Say what is built\n');
    expect(text).toContain('## Asked\n\n```text\n# Task spec: Say what is built\n```\n');
    expect(text).toContain('All of it: `.squad/turns/tidy.abc.spec-2/prompt`');
    expect(text).toContain('## Answered\n\n```text\nWritten.\n```\n');
    expect(text).toContain('`squad show spec-2 --run tidy`');
  });

  it('leaves out what is not known, and says what failed and was denied', () => {
    const failure = { kind: 'crashed' as const, message: 'it *died*', mayHaveActed: true };
    const ended = { outcome: 'failed' as const, text: '', failure, denials: [{ tool: 'Bash', message: 'no' }] };
    const { text } = turnFile({
      ...turn({ stage: undefined, isReview: true }, ended),
      settlement: { at: 0, result: result(ended) },
    });
    const front = frontOf(text);
    expect(front).toMatchObject({ kind: 'review', outcome: 'failed', failure: 'crashed' });
    expect(front).not.toHaveProperty('stage');
    expect(front).not.toHaveProperty('input_tokens');
    expect(text).toContain(String.raw`It failed (crashed): it \*died\*`);
    expect(text).toContain('Nothing.');
    expect(text).toContain('- Bash: no');
  });

  it('shows a structured answer as it is', () => {
    expect(turnFile(turn({}, { structured: { approved: false } })).text).toContain('{\n  "approved": false\n}');
  });

  it('is bounded, and says what it cut', () => {
    const { text } = turnFile(turn({}, { text: 'x'.repeat(1_000_000) }));
    expect(text.length).toBeLessThan(25_000);
    expect(text).toContain('Cut: 980000 more characters.');
  });

  it('S13: text of others ends no fence, makes no heading and holds nothing that cannot be seen', () => {
    const hostile = '```\n---\n# Fake\n\u001b[2J\u202e\u0000';
    const prompt = JSON.stringify({ prompt: hostile });
    const { path, text } = turnFile({
      ...turn({ title: hostile, role: hostile }, { text: hostile }),
      attempt: { ...TURN.attempt, request: prompt, agent: `../${hostile}`, taskId: hostile },
      name: `${'x'.repeat(300)}/..`,
    });
    expect(path).toMatch(/^history\/[\w.-]+\.md$/);
    expect(path.length).toBeLessThan(140);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u202e]/);
    expect(text.match(/^---$/gm)).toHaveLength(4);
    expect(text.match(/^````text\n```\n---\n# Fake\n[^`]*\n````$/gm)).toHaveLength(2);
    expect(frontOf(text)).toMatchObject({ task: hostile, role: hostile });
  });
});
