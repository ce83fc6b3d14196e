import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { CLAUDE_BINARY, openClaudeBench, type ClaudeBench } from './claude-harness.ts';
import { CODEX_BINARY, commands, openCodexBench, type CodexBench } from './codex-harness.ts';
import { runs, says } from './fake-anthropic.ts';

export const CLIS = ['claude', 'codex'] as const;
export const BINARIES = { claude: CLAUDE_BINARY, codex: CODEX_BINARY };

export interface ShellBench {
  readonly bench: ClaudeBench | CodexBench;
  /** Runs each line as one call of the shell tool, all in one turn. */
  run(lines: readonly string[], changes?: Partial<TurnRequest>): Promise<ShellTurn>;
}

interface ShellTurn {
  readonly result: TurnResult;
  /** As the model got them. */
  readonly outputs: readonly string[];
}

/** Either real CLI in a clone, with a model that runs what a test tells it. */
export async function openShellBench(cli: (typeof CLIS)[number]): Promise<ShellBench> {
  const lines: string[] = [];
  const bench =
    cli === 'codex'
      ? await openCodexBench((request) => commands(lines)(request))
      : await openClaudeBench(({ step }) => (step < lines.length ? runs(lines[step] ?? '') : says('done')));
  let turns = 0;
  return {
    bench,
    run: async (scripts, changes = {}) => {
      lines.splice(0, lines.length, ...scripts.map((script) => `{ ${script}\n} 2>&1; true`));
      turns += 1;
      const request: TurnRequest = {
        turnId: `shell-${process.pid}-${turns}-${Date.now()}`,
        workspace: { ...bench.workspace, gitSettings: SETTINGS },
        prompt: 'Go on.',
        instructions: 'You are a member of a squad.',
        access: { level: 'edit' },
        mcp: [],
        ...bench.request,
        limits: { ...DEFAULT_TURN_LIMITS, wallMs: 110_000 },
        ...changes,
      };
      const directory = await bench.directory();
      const result = await bench.runtime().start(request, { directory, onSpawned: () => Promise.resolve() }).result;
      const last = bench.requests.at(-1);
      const outputs = last === undefined ? [] : 'toolOutputs' in last ? last.toolOutputs : last.toolResults;
      return { result, outputs };
    },
  };
}

/** Some of what the engine sets in a turn. */
const SETTINGS = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['user.name', 'Agent'],
  ['user.email', 'agent@example.invalid'],
] as const;
