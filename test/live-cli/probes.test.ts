import { afterEach, describe, expect, it } from 'vitest';
import type { RuntimeBench } from '../../src/testing/runtime-scenarios.ts';
import { LIVE_AGENTS } from './acp-agents.ts';
import { openAcpBench } from './acp-live-harness.ts';
import { CLAUDE_BINARY, openClaudeBench } from './claude-harness.ts';
import { CODEX_BINARY, openCodexBench } from './codex-harness.ts';

let bench: RuntimeBench | undefined;
afterEach(() => bench?.close());

const RUNTIMES: readonly { name: string; binary: string | undefined; open: () => Promise<RuntimeBench> }[] = [
  { name: 'claude', binary: CLAUDE_BINARY, open: () => openClaudeBench([]) },
  { name: 'codex', binary: CODEX_BINARY, open: () => openCodexBench([]) },
  ...LIVE_AGENTS.map((agent) => ({
    name: `acp/${agent.name}`,
    binary: agent.binary,
    open: () => openAcpBench(agent, []),
  })),
];

describe('a probe of the real program', () => {
  it.for(RUNTIMES)(
    '$name: its version, a login and what confines it',
    async ({ name, binary, open }, { task, skip }) => {
      if (binary === undefined) skip(`${name} is not installed`);
      bench = await open();
      const { ok, version, login, sandbox, problems } = await bench.runtime().probe();
      expect(problems).toEqual([]);
      expect({ ok, login }).toEqual({ ok: true, login: 'ok' });
      expect(version).toMatch(/^\d+\.\d+\.\d+/);
      // `npm run runtimes` takes it from the report.
      Object.assign(task.meta, { probe: { runtime: name, version, sandbox } });
    },
  );
});
