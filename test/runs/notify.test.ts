// @module-tag all
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';
import { ALL } from '../support/lane.ts';

const SAY = 'printf "%s|%s|%s\\n" "$SQUAD_EVENT" "$SQUAD_RUN" "$SQUAD_TEXT" >> "$HOME/notices"';
const PLAN = plan([piece('a')]);
const LOCKED_OUT = author('a', [{ fail: { kind: 'auth', message: 'log in first' } }]);

describe('notify of squad.yaml', { timeout: 300_000 }, () => {
  it('is run when the run needs a person and when it ends, in each engine once', async ({ onTestFinished }) => {
    const bench = openRunBench({ script: [PLAN, LOCKED_OUT], settings: { notify: SAY } });
    onTestFinished(() => bench.end());
    const notices = (): string[] => readFileSync(join(bench.root, 'notices'), 'utf8').trim().split('\n');
    expect((await bench.runAll()).code).toBe(3);
    expect(notices()).toEqual([expect.stringMatching(/^question\|make-things\|squad asks: .*log in/)]);
    bench.rescript([PLAN, author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL]);
    expect((await bench.run(['answer', 'try again'])).code).toBe(0);
    expect((await bench.start(['resume', '--json']).finished).code).toBe(0);
    expect(notices().slice(1)).toEqual(['done|make-things|make-things: DONE, all work is delivered and verified']);
  });

  it('does not end the run if it fails', ALL, async ({ onTestFinished }) => {
    const script = [PLAN, author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL];
    const bench = openRunBench({ script, settings: { notify: 'exit 7' } });
    onTestFinished(() => bench.end());
    const { code, lines } = await bench.runAll();
    expect(code).toBe(0);
    const text = expect.stringContaining('the command of `notify` failed: it exited with 7') as string;
    expect(lines).toContainEqual(expect.objectContaining({ type: 'warning', text }));
    expect(lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done' });
  });
});
