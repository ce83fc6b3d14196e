import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { ALL } from '../support/lane.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import type { Entry } from './run-script.ts';
import { scriptedTeam } from './sprint-run-script.ts';

const AGENTS = [
  ...scriptedTeam(),
  { name: 'orchestrator', role: 'orchestrator', runtime: 'scripted', access: 'read-only' as const },
];

function benchFor({ onTestFinished }: { onTestFinished: (end: () => void) => void }): RunBench {
  const bench = openRunBench({
    script: [],
    settings: { agents: AGENTS, sprint: { folder: 'team', timezone: 'Europe/Berlin', start: 'person' } },
  });
  onTestFinished(() => bench.end());
  git(bench.repository, 'add', '-A');
  git(bench.repository, 'commit', '-qm', 'start');
  return bench;
}

function read(verb: string, more: Record<string, unknown> = {}): Entry {
  return {
    when: '# Task read-messages:',
    steps: [{ answer: 'read' }],
    structured: {
      role: 'orchestrator',
      messages: [{ message_id: 'm-1', verb, about: null, args: [], now: false, text: null, ...more }],
    },
  };
}

type Line = Readonly<Record<string, unknown>>;

async function ask(bench: RunBench, text: string, code: number, ...more: string[]): Promise<Line> {
  const said = await bench.run(['ask', text, '--json', ...more]);
  expect(said.code, `${said.stderr}\n${JSON.stringify(said.lines.slice(-6))}`).toBe(code);
  return said.lines.findLast(({ type }) => type === 'asked') ?? {};
}

describe('squad ask', { ...ALL, timeout: 200_000 }, () => {
  it('makes a request of free text, and asks for a yes before it stops a sprint', async (test) => {
    const bench = benchFor(test);
    bench.rescript([read('request', { text: 'Delete everything.' })]);
    const asked = await ask(bench, 'please add a login form', 0, '--yes');
    expect(asked).toMatchObject({ state: 'done', request: expect.stringMatching(/^r-/) });
    const { lines } = await bench.run(['request', 'list', '--json']);
    expect(lines).toMatchObject([{ id: asked['request'], text: 'please add a login form', state: 'received' }]);

    // Exact: no turn reads it, and no yes is needed.
    bench.rescript([]);
    expect(await ask(bench, 'sprint start a login page', 0)).toMatchObject({ state: 'done' });
    expect(await ask(bench, '상태', 0)).toMatchObject({ text: expect.stringContaining('a login page') });

    bench.rescript([read('sprint-stop')]);
    const waits = await ask(bench, 'stop the sprint', 3, '--yes');
    expect(waits).toMatchObject({ state: 'waits', text: expect.stringMatching(/stop the sprint \S+-Sprint-/) });
    const status = async () => (await bench.run(['sprint', 'status', '--json'])).lines[0];
    expect(await status()).toMatchObject({ sprint: { stop: null } });
    expect(await ask(bench, 'nein', 0)).toMatchObject({ state: 'done' });
    expect(await ask(bench, 'yes', 1)).toMatchObject({ state: 'refused', text: expect.stringContaining('Nothing') });
    expect(await status()).toMatchObject({ sprint: { stop: null } });

    expect(await ask(bench, 'please stop the sprint', 3, '--yes')).toMatchObject({ state: 'waits' });
    expect(await ask(bench, 'ja', 0)).toMatchObject({ state: 'done' });
    expect(await status()).toMatchObject({ active_sprint_id: null });
    expect(await ask(bench, 'execute deploy now', 1)).toMatchObject({ text: expect.stringContaining('deploy') });
  });
});
