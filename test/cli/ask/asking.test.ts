// @module-tag all
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Asking } from '../../../src/cli/ask/asking.ts';
import type { Prompts } from '../../../src/cli/ask/prompts.ts';
import { createOutput } from '../../../src/cli/output.ts';
import type { RunEnd } from '../../../src/view/running-run.ts';
import { createSquad } from '../../../src/squad/squad.ts';
import { openRunBench, type RunBench } from '../../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan } from '../../runs/run-script.ts';
import { collect } from '../../support/in-process.ts';
import { testHost } from '../../support/test-host.ts';
import { ALL } from '../../support/lane.ts';

/** A run in this process whose questions a person with these prompts answers. `wait`: the prompt stays open. */
async function attended(
  bench: RunBench,
  answers: readonly (string | undefined)[],
  atPrompt: () => Promise<unknown> = async () => 0,
) {
  const host = testHost(bench.root, { workingDirectory: bench.repository, configHome: join(bench.root, '.config') });
  const [stdout, stderr] = [collect(), collect()];
  const output = createOutput(stdout.stream, stderr.stream, { text: (text) => text, json: (value) => value });
  const left = [...answers];
  const prompt = async (signal: AbortSignal): Promise<string | undefined> => {
    const given = left.shift();
    const done = atPrompt();
    if (given !== 'wait') return given;
    await Promise.all([done, new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))]);
    return undefined;
  };
  const prompts: Prompts = {
    choose: async (_, choices, signal) => {
      const given = await prompt(signal);
      return choices.find(({ value }) => value === given)?.value;
    },
    write: async (_, signal) => prompt(signal),
  };
  const asking = new Asking({
    ...{ host, output, prompts },
    away: async (work) => work(),
  });
  const squad = createSquad({ cwd: bench.repository, environment: host.environment });
  const onEvent = asking.hear.bind(asking);
  const options = { runtime: 'scripted', trust: 'yes', plan: 'ask', onEvent, attended: asking.attended } as const;
  const running = await squad.run({ text: objective() }, options);
  const end: RunEnd = await running.done;
  await asking.close();
  return { end, said: stderr.text(), left };
}

const SCRIPT = [
  plan([piece('b')], 'asks for a change'),
  plan([piece('a')]),
  ...['a', 'b'].map((id) => author(id, commits({ [`${id}.txt`]: `${id}\n` }))),
  APPROVE_ALL,
];

function benchFor({ onTestFinished }: { onTestFinished(end: () => void): void }): RunBench {
  const bench = openRunBench({ script: SCRIPT });
  onTestFinished(() => bench.end());
  return bench;
}

describe('a run whose questions are asked at the terminal', { timeout: 120_000 }, () => {
  it('goes on in the same process after each answer', async (test) => {
    const bench = benchFor(test);
    const { end, said, left } = await attended(bench, ['change', 'call it b', 'approve']);
    expect(end).toMatchObject({ outcome: 'done' });
    expect([left, bench.fileOnBranch('b.txt')]).toEqual([[], 'b']);
    expect(said).toContain('Plan of make-things: 1 task');
  });

  it('waits with exit 3 once the person puts off all that it waits for, and is resumed', ALL, async (test) => {
    const bench = benchFor(test);
    const { end } = await attended(bench, [undefined]);
    expect(end).toMatchObject({ outcome: 'waiting', exitCode: 3, questions: [{ id: 'plan-1' }] });
    await bench.run(['answer', 'approve']);
    expect(await bench.run(['resume', '--json'])).toMatchObject({ code: 0 });
  });

  it('closes the prompt when the question is answered elsewhere', ALL, async (test) => {
    const bench = benchFor(test);
    const elsewhere = async () => bench.run(['answer', 'plan-1', 'approve']);
    const { end, said } = await attended(bench, ['wait'], elsewhere);
    expect(end).toMatchObject({ outcome: 'done' });
    expect(said).toContain('plan-1 was answered elsewhere.');
  });

  it('closes the prompt when the run is stopped elsewhere', ALL, async (test) => {
    const bench = benchFor(test);
    const { end, said } = await attended(bench, ['wait'], async () => bench.run(['stop']));
    expect(end).toMatchObject({ outcome: 'stopped' });
    expect(said).toContain('The run has ended meanwhile.');
  });

  it('asks an agent’s and the engine’s own questions, too', async (test) => {
    const bench = benchFor(test);
    bench.rescript([plan([piece('a')]), author('a', [{ fail: { kind: 'auth', message: 'log in first' } }])]);
    const { end, said } = await attended(bench, ['approve', 'give up']);
    expect(said).toContain('log in first');
    expect(end).toMatchObject({ outcome: 'failed' });
  });
});
