// @module-tag all
import { describe, expect, it } from 'vitest';
import { ALL } from '../support/lane.ts';
import { openRunBench, startsOf, turnsOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, type Entry } from './run-script.ts';

const HANGS = [{ write: { path: 'half.txt', text: 'half\n' } }, { hang: true }];
/** The same session continues, and its prompt has the note. */
const CONTINUES: Entry = { when: 'use tabs', steps: commits({ 'a.txt': 'a\n' }) };
const SCRIPT = [plan([piece('a')]), CONTINUES, author('a', HANGS), APPROVE_ALL];

function benchFor({ onTestFinished }: { onTestFinished: (end: () => void) => void }): RunBench {
  const bench = openRunBench({ script: SCRIPT });
  onTestFinished(() => bench.end());
  return bench;
}

async function promptOf(bench: RunBench, attempt: string): Promise<string> {
  const { lines } = await bench.run(['show', attempt, '--json']);
  return (lines[0] as { turns: [{ prompt: string }] }).turns[0].prompt;
}

const count = (text: string, words: string): number => text.split(words).length - 1;

describe.concurrent('squad tell', { timeout: 120_000 }, () => {
  it('interrupts a turn, whose session continues with the note and with the one before', async (test) => {
    const bench = benchFor(test);
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'tool-ended' && task === 'a');
    const waits = await bench.run(['tell', 'builder-1', 'name it a']);
    expect([waits.code, waits.stdout]).toEqual([0, 'make-things: builder-1 reads the note in its next turn\n']);
    expect((await bench.run(['status'])).stdout).toContain('builder-1: name it a (by ');
    expect((await bench.run(['tell', 'builder-1', '--now', 'use tabs', '--json'])).lines).toMatchObject([
      { verb: 'tell', driven: true, heard: true },
    ]);
    const ended = await engine.finished;
    expect(ended.code, ended.stderr).toBe(0);
    expect(turnsOf(ended, 'a')).toMatchObject([{ outcome: 'cancelled' }, { outcome: 'completed' }, {}]);
    expect(startsOf(ended).filter(({ task }) => task === 'a')).toMatchObject([{}, { agent: 'builder-1' }, {}]);
    const prompt = await promptOf(bench, 'a-2');
    expect([count(prompt, 'use tabs'), count(prompt, 'name it a')]).toEqual([1, 1]);
    expect(prompt).toContain('was cut short');
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('half.txt')]).toEqual(['a', 'half']);
    const [, said] = ended.lines.filter(({ type }) => type === 'intervened');
    expect(said).toMatchObject({ verb: 'tell', on: 'agent/builder-1', text: 'use tabs' });
    expect((await bench.run(['log'])).stdout).toMatch(/operator +tell agent\/builder-1 “use tabs”, by /);
    expect((await bench.run(['show'])).stdout).toMatch(/Notes\n.* to builder-1: name it a\n.* to builder-1: use tabs/);
    expect(await bench.report()).toMatch(/\| tell \| agent builder-1 \| use tabs \(at once\) \|/);
    const over = await bench.run(['tell', 'builder-1', 'more']);
    expect([over.code, over.stderr]).toEqual([2, expect.stringContaining('the run has finished')]);
  });

  it('waits in the ledger while no engine lives, and refuses what reaches no one', ALL, async (test) => {
    const bench = benchFor(test);
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'tool-ended' && task === 'a');
    engine.child.kill('SIGKILL');
    await engine.finished;
    const noted = await bench.run(['tell', 'builder-1', '--now', 'use tabs']);
    expect([noted.code, noted.stdout]).toEqual([0, expect.stringContaining('Next: squad resume make-things')]);
    const refused: [args: string[], why: string][] = [
      [['builder-9', 'x'], 'there is no agent builder-9'],
      [['builder-1', ' '], 'tell: text: it is empty'],
      [['builder-1', 'x'.repeat(100_000)], 'put more into a file of the repository'],
    ];
    for (const [args, why] of refused) {
      const { code, stderr } = await bench.run(['tell', ...args]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
    }
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(count(await promptOf(bench, 'a-2'), 'use tabs')).toBe(1);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
  });
});
