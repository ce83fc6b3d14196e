// @module-tag all
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it, onTestFinished, vi } from 'vitest';
import { checkNewRun } from '../../../src/squad/new-run.ts';
import { sourceIn } from '../../../src/squad/folder-runs.ts';
import { openWorkspace } from '../../../src/squad/open-workspace.ts';
import { openRunBench, type RunBench } from '../../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../../runs/run-script.ts';
import { CLI_ENTRY } from '../../support/cli-entry.ts';
import { git } from '../../support/git.ts';
import { stateOf } from '../../support/state.ts';
import { testHost } from '../../support/test-host.ts';

const RUN = 'make-things';
const agents = ['planner', 'builder', 'reviewer'].map((name) => ({ name, role: name, runtime: 'scripted' }));

/** The client of the SDK, and a server in a process of its own, as an assistant starts it. */
async function connect(bench: RunBench, flags: readonly string[]) {
  const client = new Client({ name: 'test', version: '1' });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: bench.root,
    XDG_STATE_HOME: join(bench.root, 'state'),
    USER: 'ada',
  };
  const args = [CLI_ENTRY, 'mcp-server', ...flags];
  const transport = new StdioClientTransport({ command: process.execPath, args, cwd: bench.repository, env });
  await client.connect(transport);
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: given });
    const [{ text } = { text: '' }] = content as { text: string }[];
    return { isError, text, found: structuredContent as Record<string, unknown> | undefined };
  };
  const pid = transport.pid ?? 0;
  const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return { client, call, children, kill: () => process.kill(pid, 'SIGKILL') };
}

type Call = Awaited<ReturnType<typeof connect>>['call'];

async function until(call: Call, fits: (found: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
  for (;;) {
    const { found = {}, text } = await call('run_status', { run: RUN, wait_seconds: 20 });
    if (fits(found)) return found;
    if (found['over'] === true) throw new Error(text);
  }
}

/** As a person at a terminal. */
async function agree(bench: RunBench): Promise<void> {
  const host = testHost(bench.root, { workingDirectory: bench.repository, configHome: join(bench.root, '.config') });
  const workspace = await openWorkspace({ host });
  await checkNewRun(workspace, sourceIn(workspace, 'objective.md'), { trust: async () => true });
}

it('starts a run, asks for its plan, and brings back and merges its work', { timeout: 180_000 }, async (test) => {
  const script = [plan([piece('one')]), author('one', commits({ 'one.txt': 'first\n' })), APPROVE_ALL];
  const bench = openRunBench({ script, settings: { agents, verify: [{ run: 'test -s one.txt' }] } });
  test.onTestFinished(() => bench.end());
  const { client, call } = await connect(bench, ['--max-turns', '9']);
  const begin = { objective: 'objective.md', ask_plan: true };

  const refused = await call('start_run', begin);
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('verify: test -s one.txt') });
  expect(refused.text).toMatch(/Next: Only a person can agree to this, once: .*`squad run objective\.md --detach`/);
  await agree(bench);
  expect(await call('start_run', begin)).toMatchObject({ isError: false, found: { run: RUN } });

  const asked = await until(call, ({ questions }) => (questions as unknown[]).length > 0);
  expect(asked['questions']).toMatchObject([{ asks_about_plan: true }]);
  const planned = await call('show_plan', { run: RUN });
  expect(planned.text).toContain(`Plan of ${RUN}: 1 task`);
  const approved = await call('answer_question', { run: RUN, answer: 'approve' });
  expect(approved).toMatchObject({ isError: true, text: expect.stringContaining(`squad answer --run ${RUN}`) });

  const trusted = await connect(bench, ['--allow', 'approve', '--allow', 'merge']);
  await client.close();
  expect(await trusted.call('answer_question', { answer: 'approve' })).toMatchObject({ found: { continues: true } });
  const ended = await until(trusted.call, ({ over }) => over === true);
  expect(ended).toMatchObject({ state: 'done', tasks: [{}, { id: 'one', status: 'done' }] });
  const diff = await trusted.call('run_diff');
  expect(diff).toMatchObject({ found: { files: [{ path: 'one.txt' }], next_offset: null } });
  expect(diff.text).toContain('+first');
  expect(await trusted.call('merge_run', { run: RUN })).toMatchObject({
    found: { branch: 'main', how: 'fast-forward' },
  });
  expect(git(bench.repository, 'show', 'HEAD:one.txt')).toBe('first');
  const answers = bench.ledger();
  const commands = answers.events({ types: ['operator-command'] }).map(({ data }) => JSON.stringify(data));
  answers.close();
  expect(commands).toEqual([expect.stringContaining('ada through squad mcp-server')]);
  await trusted.client.close();
});

it.each([
  ['before it has an engine', false],
  ['before it has the run', true],
])(
  'loses nothing where it is killed in start_run %s, and starts no run twice',
  { timeout: 180_000 },
  async (_, hasEngine) => {
    const script = [plan([piece('one')]), author('one', commits({ 'one.txt': 'first\n' })), APPROVE_ALL];
    const bench = openRunBench({ script, settings: { agents } });
    onTestFinished(() => bench.end());
    await agree(bench);
    const begin = { objective: 'objective.md' };
    const killed = await connect(bench, []);
    const answer = killed.call('start_run', begin).catch(() => 'cut');
    const runs = join(stateOf(bench.repository), 'runs');
    const early = () => (existsSync(runs) ? readdirSync(runs).filter((name) => /\.\d+\.log$/.test(name)) : []);
    const isStarted = () => early().length === 1 && killed.children() !== '';
    if (hasEngine) await vi.waitFor(() => expect(isStarted()).toBe(true), { timeout: 60_000, interval: 1 });
    killed.kill();
    expect(await answer).toBe('cut');

    const { call, client } = await connect(bench, []);
    onTestFinished(async () => client.close());
    if (hasEngine) {
      const has = { found: { runs: [{ run: RUN }] } };
      await vi.waitFor(async () => expect(await call('list_runs')).toMatchObject(has), 60_000);
      expect(await call('start_run', begin)).toMatchObject({ isError: true });
    } else {
      expect((await call('list_runs')).found?.['runs'] ?? []).toEqual([]);
      expect(await call('start_run', begin)).toMatchObject({ found: { run: RUN } });
    }
    expect(await until(call, ({ over }) => over === true)).toMatchObject({ state: 'done' });
    expect(bench.fileOnBranch('one.txt')).toBe('first');
    const ledger = bench.ledger();
    const [run, ...others] = ledger.runs();
    ledger.close();
    expect(others).toEqual([]);

    // The next start puts its output where people look for it.
    expect(await call('start_run', { ...begin, name: 'more' })).toMatchObject({ found: { run: 'more' } });
    expect([early(), existsSync(join(runs, run?.id ?? '', 'engine.log'))]).toEqual([[], true]);
    await call('stop_run', { run: 'more' });
  },
);
