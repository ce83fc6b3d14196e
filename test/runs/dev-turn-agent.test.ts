import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { git } from '../support/git.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import '../support/on-disk.ts';

const FAKE = fileURLToPath(new URL('../support/fake-acp-agent.mjs', import.meta.url));
const COMMIT = 'echo one >one.txt && git add -A && git -c user.name=a -c user.email=a@b.test commit -qm "Add one"';
const SCRIPT = { turns: [{ steps: [{ run: COMMIT }, { say: 'done' }] }] };
const MINE = { acp: { agents: { mine: { command: process.execPath, args: [FAKE, JSON.stringify(SCRIPT)] } } } };
const TURN = ['dev', 'turn', 'Go.', '--runtime', 'acp/mine', '--json'];

function benchFor(runtimes: object): RunBench {
  const bench = openRunBench({ script: [], settings: { runtimes } });
  onTestFinished(() => bench.end());
  return bench;
}

describe('a turn of an agent that only the settings name', { timeout: 120_000 }, () => {
  it('needs consent to a program of the repository, then runs it', async () => {
    const bench = benchFor(MINE);
    const refused = await bench.run(TURN);
    expect(refused.code).toBe(78);
    expect(refused.lines).toMatchObject([{ type: 'error', code: 'not-trusted' }]);
    expect(String(refused.lines[0]?.['message'])).toContain(`runtime: acp/mine: ${process.execPath}`);
    expect(git(bench.repository, 'branch', '--list', 'squad/*')).toBe('');
    const { code, lines } = await bench.run([...TURN, '--yes']);
    expect(lines.at(-1)).toMatchObject({ type: 'turn-ended', outcome: 'completed', text: 'done' });
    expect(code).toBe(0);
    expect(bench.fileOnBranch('one.txt', String(lines.at(-1)?.['branch']))).toBe('one');
  });

  it('runs without a question where it is the person’s own', async () => {
    const bench = benchFor({});
    const folder = join(bench.root, '.config', 'squad');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ version: 1, runtimes: MINE }), { mode: 0o600 });
    expect((await bench.run(TURN)).lines.at(-1)).toMatchObject({ outcome: 'completed' });
  });

  it('is refused by name if the settings do not know it', async () => {
    const bench = benchFor(MINE);
    const { code, stderr } = await bench.run(['dev', 'turn', 'Go.', '--runtime', 'acp/mime', '--yes']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('no runtime is called acp/mime; did you mean acp/mine?'),
    ]);
  });
});
