import { afterEach, describe, expect, it } from 'vitest';
import { ALL } from '../support/lane.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

let bench: RunBench;
afterEach(() => bench.end());

describe('a stall and a usage limit', { timeout: 60_000 }, () => {
  it('have a line when they happen and when they are over, in terminal, log and report', ALL, async () => {
    bench = openRunBench({
      settings: { limits: { firstToolSeconds: 2 } },
      script: [
        plan([piece('a'), piece('b', { needs: ['a'] })]),
        author('a', [{ sleep: 3_000 }, ...commits({ 'a.txt': 'a' }), { sleep: 1_500 }]),
        author(
          'b',
          [{ say: 'I begin.' }, { fail: { kind: 'rate-limited', message: 'too many requests', retryIn: 2_000 } }],
          { turn: 1 },
        ),
        APPROVE_ALL,
        { turn: 2, steps: commits({ 'b.txt': 'b' }) },
      ],
    });
    const { code, stdout, stderr } = await bench.run([
      'run',
      'objective.md',
      '--yes',
      '--plain',
      '--runtime',
      'scripted',
    ]);
    expect(code, stdout + stderr).toBe(0);
    const lines = [
      /stall\s+a-1 builder-1: no tool for 2 s/,
      /works\s+a-1 builder-1: its tool came after \d(\.\d)? s/,
      /account\s+scripted: usage limit until \d\d:\d\d/,
      /account\s+scripted: works again/,
    ];
    for (const face of [stdout, (await bench.run(['log'])).stdout]) {
      const at = lines.map((line) => face.search(line));
      expect(at, face).toEqual(at.toSorted((one, other) => one - other));
      expect(
        at.every((one) => one >= 0),
        face,
      ).toBe(true);
    }
    const report = await bench.report();
    const section = report.slice(report.indexOf('## Stalls and usage limits'));
    for (const text of ['no tool for 2 s', 'its tool came after', 'usage limit until', 'works again']) {
      expect(section).toContain(text);
    }
  });
});
