import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fakeAcpNotes, type FakeAcpScript } from '../support/fake-acp-agent.ts';
import { ALL } from '../support/lane.ts';
import { openRunBench } from './run-bench.ts';
import { APPROVE_ALL, piece, plan } from './run-script.ts';
import '../support/on-disk.ts';

const FAKE = fileURLToPath(new URL('../support/fake-acp-agent.mjs', import.meta.url));
const COMMIT = 'echo one >one.txt && git add -A && git -c user.name=a -c user.email=a@b.test commit -qm "Add one"';

describe('an ACP agent that does not reach its model', { ...ALL, timeout: 180_000 }, () => {
  it('in its first turn: the next one begins a session, and what failed is named', async () => {
    const bench = openRunBench({ script: [plan([piece('one')]), APPROVE_ALL] });
    onTestFinished(() => bench.end());
    const data = { details: 'fetch failed: getaddrinfo ENOTFOUND model.vendor.test' };
    const script: FakeAcpScript = {
      // As Gemini keeps its sessions: one that never had an answer is not there.
      keeps: 'answered',
      unknownSession: { code: -32603, message: 'Internal error' },
      turns: [
        {
          steps: [
            {
              error: { code: 500, message: 'Internal error', data },
              unlessThere: join(bench.root, 'has-failed'),
            },
            { run: COMMIT },
            { say: 'done' },
          ],
        },
      ],
    };
    const scripted = (name: string, role: string) => ({ name, role, runtime: 'scripted' });
    bench.settings({
      runtimes: {
        scripted: { config: { script: `${bench.root}/script-1.json` } },
        acp: { agents: { mine: { command: process.execPath, args: [FAKE, JSON.stringify(script)] } } },
      },
      agents: [
        scripted('planner', 'planner'),
        { name: 'builder-1', role: 'builder', runtime: 'acp/mine', access: 'full' },
        scripted('reviewer-1', 'reviewer'),
      ],
    });
    const { code, lines, stderr } = await bench.run([
      ...['run', 'objective.md', '--yes', '--json', '--allow-full-access'],
    ]);
    expect(code, stderr).toBe(0);
    const says = 'model.vendor.test cannot be reached (its name cannot be resolved): Internal error: fetch failed';
    expect(lines.filter(({ type, outcome }) => type === 'attempt-ended' && outcome === 'failed')).toMatchObject([
      { failure: { kind: 'network', message: expect.stringContaining(says) } },
    ]);
    const asked = fakeAcpNotes(join(bench.root, 'state'), 'received.jsonl').join('\n');
    expect(asked).not.toMatch(/"session\/(?:load|resume)"/);
  });
});
