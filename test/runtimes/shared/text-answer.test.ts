import { describe, expect, it } from 'vitest';
import { structuredAnswer } from '../../../src/runtimes/shared/text-answer.ts';

const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const RIGHT = { structured: { a: 'x' } };

describe('the structured answer in a message', () => {
  it.each<[string, string]>([
    ['alone', '{"a": "x"}'],
    ['after prose', 'Here it is: {"a": "x"}'],
    ['before prose', '{"a": "x"}\nDone.'],
    ['in a block', 'Done.\n```json\n{"a": "x"}\n```\nBye {you}.'],
    ['in the last block that fits', '```\n{"a": 1}\n```\n```json\n{"a": "x"}\n```\n```\nls\n```'],
  ])('is found %s', async (_where, text) => {
    expect(await structuredAnswer(SCHEMA, text)).toEqual(RIGHT);
  });

  it('is not larger than a line, nor deeper than can be written', async () => {
    const list = { type: 'array' };
    const large = JSON.stringify(Array.from({ length: 40_000 }, () => 'word'));
    expect(await structuredAnswer(list, large)).toEqual({ problem: 'the answer is larger than 131072 bytes' });
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(await structuredAnswer(list, deep)).toEqual({ problem: expect.stringContaining('cannot be checked') });
  });

  it.each<[string, string, string]>([
    ['prose', 'I am done.', 'gave no structured answer'],
    ['nothing', '', 'gave no structured answer'],
    ['another type', '{"a": 1}', '`a` is 1; it must be text'],
    ['half of it', '{"a": "x"', 'gave no structured answer'],
    ['what is nested too deeply', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, 'the answer'],
    ['an open block of many lines', `\`\`\`${'\n'.repeat(250_000)}`, 'gave no structured answer'],
    ['many openings', '```json\n'.repeat(40_000), 'gave no structured answer'],
    ['many brackets', '{['.repeat(120_000), 'gave no structured answer'],
  ])('is not %s', async (_what, text, problem) => {
    expect(await structuredAnswer(SCHEMA, text)).toEqual({ problem: expect.stringContaining(problem) });
  });
});
