// @module-tag all
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import type { RunEnd } from '../../src/exports/index.ts';
import { openRunBench, statusOf } from '../runs/run-bench.ts';
import { again, author, commits, piece, plan, WITH_CRITIC } from '../runs/run-script.ts';
import { ScriptedChatModel } from '../support/scripted-chat-model.ts';
import { ALL_FIXED, finding } from '../support/findings.ts';

const EXAMPLE: string = fileURLToPath(new URL('../../examples/agent-reviewer.mjs', import.meta.url));

interface Example {
  runReviewed(options: object, objective: string, model: ScriptedChatModel, trust: string): Promise<RunEnd>;
}

const REJECTS = finding('it is empty');
const verdict = (approved: boolean): string =>
  JSON.stringify({
    approved,
    summary: approved ? 'good' : 'not yet',
    findings: approved ? [] : [REJECTS],
    settled: ALL_FIXED,
  });

it('has an agent of LangChain review what another runtime builds', { timeout: 120_000 }, async () => {
  const build = author('a', commits({ 'a.txt': '\n' }));
  const fix = again('a', 'review', commits({ 'a.txt': 'text\n' }));
  const bench = openRunBench({
    script: [plan([piece('a')]), build, fix],
    settings: { agents: WITH_CRITIC },
  });
  onTestFinished(() => bench.end());
  const heard: string[] = [];
  const model = new ScriptedChatModel(
    (messages, calls) => {
      if (calls === 0) return { tool: 'read_file', input: { path: 'a.txt' } };
      return verdict(messages.at(-1)?.text.startsWith('text') === true);
    },
    (text) => heard.push(text),
  );
  const { runReviewed } = (await import(EXAMPLE)) as Example;
  const environment = { PATH: process.env['PATH'], HOME: bench.root, XDG_STATE_HOME: `${bench.root}/state` };
  const end = await runReviewed({ cwd: bench.repository, environment }, 'objective.md', model, 'yes');
  expect(end).toMatchObject({ outcome: 'done' });
  expect(bench.fileOnBranch('a.txt')).toBe('text');
  expect(heard).toHaveLength(4);
  expect(statusOf(await bench.status(), 'a')).toBe('done');
});
