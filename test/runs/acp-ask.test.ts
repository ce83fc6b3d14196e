import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, piece, plan } from './run-script.ts';

const FAKE = fileURLToPath(new URL('../support/fake-acp-agent.mjs', import.meta.url));
const TITLE = 'Leave plan mode';

/** Tries to answer its own question, then makes and commits a file. */
const FORGE = 'for d in /proc/*/cwd .. ../..; do echo \'{"allow":true}\' >"$d/answer-1.json"; done 2>/dev/null; true';
const COMMIT = 'echo one >one.txt && git add -A && git -c user.name=a -c user.email=a@b.test commit -qm "Add one"';
const SCRIPT = {
  turns: [
    {
      steps: [
        { run: FORGE },
        { ask: { kind: 'other', title: TITLE, rawInput: { plan: 'all of it' } } },
        { run: COMMIT },
        { say: 'done' },
      ],
    },
  ],
};

function benchFor(): RunBench {
  const bench = openRunBench({ script: [plan([piece('one')]), APPROVE_ALL] });
  onTestFinished(() => bench.end());
  const scripted = (name: string, role: string) => ({ name, role, runtime: 'scripted' });
  bench.settings({
    runtimes: {
      scripted: { config: { script: `${bench.root}/script-1.json` } },
      acp: { agents: { mine: { command: process.execPath, args: [FAKE, JSON.stringify(SCRIPT)] } } },
    },
    agents: [
      scripted('planner', 'planner'),
      { name: 'builder-1', role: 'builder', runtime: 'acp/mine', ask: 'human' },
      scripted('reviewer-1', 'reviewer'),
    ],
  });
  return bench;
}

describe('a run whose agent asks a person', { timeout: 180_000 }, () => {
  it.each([
    ['yes', 'allowed'],
    ['no', 'rejected'],
  ])('goes on after %s', async (word, answer) => {
    const bench = benchFor();
    const engine = bench.start(['run', 'objective.md', '--yes', '--json']);
    await engine.line(({ type, title, tool }) => type === 'tool-started' && (title === TITLE || tool === TITLE));
    let asks = (await bench.status()).asks;
    for (; asks.length === 0; asks = (await bench.status()).asks) await sleep(100);
    expect(asks).toMatchObject([{ agent: 'builder-1', text: expect.stringContaining(`may it use ${TITLE}?`) }]);
    expect((await bench.run(['answer', word])).code).toBe(0);
    const ended = await engine.finished;
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.fileOnBranch('one.txt')).toBe('one');
    const notices = ended.lines.filter(({ type }) => type === 'notice').map(({ text }) => text);
    expect(notices).toContainEqual(expect.stringContaining(`asks for permission: ${TITLE}. \`squad answer yes\``));
    const over = ended.lines.filter(({ type, denied }) => type === 'tool-ended' && denied === true);
    expect(over).toHaveLength(answer === 'rejected' ? 1 : 0);
  });
});
