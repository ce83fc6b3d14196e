// @module-tag all
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunStatus } from '../../src/view/status.ts';
import { FAKE_AGY, installFakeAgy } from '../support/antigravity-harness.ts';
import type { Finished } from '../support/engine.ts';
import { mailOf } from '../support/mail-of.ts';
import { openRunBench, turnsOf, type RunBench } from './run-bench.ts';
import { again, author, commits, objective, piece, plan, verdict } from './run-script.ts';

const agent = (name: string, role: string, access = 'edit') => ({ name, role, access, runtime: 'antigravity' });
const KEY = { GEMINI_API_KEY: 'key-of-the-fake' };

/** An emulated `agy` in every part: it plans, edits, commits, sends mail, reviews, and is resumed. */
describe('a whole run on antigravity', { timeout: 300_000 }, () => {
  let bench: RunBench;
  let ended: Finished;
  let status: RunStatus;
  let report: string;

  beforeAll(async () => {
    bench = openRunBench({ script: [], objective: objective({ criteria: ['a is good (run: `grep -q good a.txt`)'] }) });
    const mail = { to: ['planner'], text: 'a.txt is on its way' };
    const escape = { write: { path: '../escape.txt', text: 'x' } };
    const bin = join(bench.root, 'bin');
    mkdirSync(bin);
    const program = installFakeAgy(bin, {
      turns: [
        plan([piece('a')]),
        again('a', 'review', commits({ 'a.txt': 'good\n' }, 'Make a better'), 2),
        verdict('a', ['a.txt is too plain'], 1),
        verdict('a', [], 2),
        author('a', [
          escape,
          { mcp: 'squad', tool: 'send', arguments: mail },
          ...commits({ 'a.txt': 'plain\n' }, 'Add a'),
        ]),
      ],
    });
    bench.settings({
      agents: [
        agent('planner', 'planner', 'read-only'),
        agent('builder-1', 'builder'),
        agent('reviewer-1', 'reviewer', 'read-only'),
      ],
      runtimes: { antigravity: { command: program, config: { read: [FAKE_AGY] } } },
    });
    ended = await bench.run(['run', 'objective.md', '--yes', '--json'], KEY);
    status = JSON.parse((await bench.run(['status', '--json'], KEY)).stdout) as RunStatus;
    report = (await bench.run(['report'], KEY)).stdout;
  }, 300_000);
  afterAll(() => bench.end());

  it('delivers and verifies its work', () => {
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    expect(status).toMatchObject({ headline: 'DONE, all work is delivered and verified', exitCode: 0 });
    expect(bench.fileOnBranch('a.txt')).toBe('good');
  });

  it('resumes the builder and the reviewer in their sessions', () => {
    expect(turnsOf(ended, 'a').map(({ outcome }) => outcome)).toEqual(Array(4).fill('completed'));
    const sessions = ended.lines.filter((line) => line['type'] === 'session-announced' && line['task'] === 'a');
    expect(sessions.map(({ resumed }) => resumed)).toEqual([false, false, true, true]);
    expect(new Set(sessions.map(({ id }) => id)).size).toBe(2);
  });

  it('lets its agents send mail out of their cage, and nothing else', () => {
    expect(mailOf(bench, String(ended.lines[0]?.['runId'])).messages.join('\n')).toContain('→ planner');
    const folders = readdirSync(join(bench.root, 'state', 'squad'), { recursive: true, encoding: 'utf8' });
    expect(folders.filter((name) => name.endsWith('escape.txt'))).toEqual([]);
  });

  it('says that it is experimental, at its start and in its report', () => {
    const said = 'antigravity is experimental';
    const warnings = ended.lines.filter(({ type }) => type === 'warning').map(({ text }) => String(text));
    expect(warnings.join('\n')).toContain(said);
    expect(report).toContain(said);
  });

  it('is in doctor where its program is, as what it is', async () => {
    const at = { PATH: `${join(bench.root, 'bin')}:${process.env['PATH']}`, ...KEY };
    const said = JSON.parse((await bench.run(['doctor', '--json'], at)).stdout) as {
      checks: { name: string; found: string }[];
    };
    const own = said.checks.find(({ name }) => name === 'antigravity');
    expect(own).toMatchObject({
      ok: true,
      found: expect.stringMatching(/^experimental; 1\.3\.2 .*, login ok, sandbox os$/),
    });
  });
});
