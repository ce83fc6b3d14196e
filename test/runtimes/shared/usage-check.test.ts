import { describe, expect, it } from 'vitest';
import type { Usage } from '../../../src/model/usage.ts';
import { checkUsage } from '../../../src/runtimes/shared/conclude-turn.ts';

const TOKENS = { inputTokens: 10, cachedInputTokens: 3, outputTokens: 5 };

describe('what a runtime says of its own use', () => {
  it.each<[string, Usage | undefined]>([
    ['nothing', undefined],
    ['tokens', TOKENS],
    ['tokens and money', { ...TOKENS, reasoningTokens: 0, costUsd: 0 }],
    ['as much as can be', { ...TOKENS, inputTokens: 1e10, costUsd: 1e6 }],
  ])('%s, is believed', (_what, said) => {
    const verdict = { text: 'done', denials: [], ...(said === undefined ? {} : { usage: said, counters: said }) };
    const notices: string[] = [];
    expect(checkUsage(verdict, (notice) => notices.push(notice))).toEqual(verdict);
    expect(notices).toEqual([]);
  });

  it.each<[string, Usage, Usage | undefined]>([
    ['outputTokens -5', { ...TOKENS, outputTokens: -5 }, undefined],
    ['inputTokens NaN', { ...TOKENS, inputTokens: Number.NaN }, undefined],
    ['inputTokens 1000000000000000000', { ...TOKENS, inputTokens: 1e18 }, undefined],
    ['cachedInputTokens 0.5', { ...TOKENS, cachedInputTokens: 0.5 }, undefined],
    ['costUsd -1', { ...TOKENS, costUsd: -1 }, TOKENS],
    ['costUsd Infinity', { ...TOKENS, costUsd: Number.POSITIVE_INFINITY }, TOKENS],
    ['costUsd 1e+300', { ...TOKENS, costUsd: 1e300 }, TOKENS],
  ])('%s, is unknown, and the rest stands', (text, said, known) => {
    const all = { text: 'done', denials: [], sessionId: 's' };
    const kept = known === undefined ? {} : { usage: known, counters: known };
    const notices: string[] = [];
    const verdict = checkUsage({ ...all, usage: said, counters: said }, (notice) => notices.push(notice));
    expect(verdict).toEqual({ ...all, ...kept });
    expect(notices).toEqual([`the use of the turn is unknown: its runtime reported ${text}`]);
  });
});
