// @module-tag all
import { expect, it } from 'vitest';
import { openRunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../runs/run-script.ts';

const EXTRA = 'mail assign --to builder-1 --task EXTRA --files b.txt --success-criteria there --deadline 2h'.split(' ');

it.each([
  ['before the mailbox is closed', 'publish.before', 0, /1 assignment of MAIN refused$/],
  ['once the mailbox is closed', 'publish.closed', 65, /^DONE, (?!.*refused)/],
] as const)(
  'work that a person assigns to a run that was killed at its end, %s, is not lost unnamed',
  { timeout: 120_000 },
  async (_when, point, code, headline) => {
    const script = [plan([piece('a')]), APPROVE_ALL, author('a', commits({ 'a.txt': 'a\n' }))];
    const bench = openRunBench({ script });
    try {
      const killed = await bench.runAll([], { SQUAD_FAILPOINTS: `${point}=kill` });
      expect(killed.signal).toBe('SIGKILL');
      const sent = await bench.run(EXTRA);
      expect(sent.code, sent.stderr).toBe(code);
      if (code === 65) expect(sent.stderr).toContain('no agent reads it');
      const ended = await bench.run(['resume', '--json']);
      expect(ended.code, ended.stderr).toBe(0);
      expect((await bench.status()).headline).toMatch(headline);
      const late = await bench.run(EXTRA);
      expect([late.code, late.stderr]).toEqual([2, expect.stringContaining('is finished: no agent reads mail')]);
    } finally {
      bench.end();
    }
  },
);
