import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TurnEvent } from '../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';
import { CODEX_BINARY, commands, NO_BINARY, openCodexBench, type CodexBench } from './codex-harness.ts';

let bench: CodexBench | undefined;
afterEach(async () => {
  await bench?.close();
  bench = undefined;
});

async function run(on: CodexBench, changes: Partial<TurnRequest> = {}) {
  bench = on;
  const events: TurnEvent[] = [];
  const directory = await on.directory();
  const request: TurnRequest = {
    turnId: `hermetic-${process.pid}-${Date.now()}`,
    workspace: on.workspace,
    prompt: 'Please go on.',
    instructions: 'You are a tester.',
    access: { level: 'edit' },
    mcp: [],
    limits: DEFAULT_TURN_LIMITS,
    ...on.request,
    ...changes,
  };
  const turn = on.runtime().start(request, {
    directory,
    onSpawned: () => Promise.resolve(),
    onEvent: (event) => events.push(event),
  });
  return { result: await turn.result, events, directory };
}

/** What a user's own CODEX_HOME may hold that starts programs or loosens the sandbox. */
function plantHome(home: string, marks: string): void {
  mkdirSync(join(home, 'rules'), { recursive: true });
  const hook = [{ hooks: [{ type: 'command', command: `touch ${join(marks, 'home-hook')}` }] }];
  const server = `command = "touch"\nargs = ["${join(marks, 'home-mcp')}"]`;
  writeFileSync(
    join(home, 'config.toml'),
    [
      `notify = ["touch", "${join(marks, 'home-notify')}"]`,
      'sandbox_mode = "danger-full-access"',
      `[mcp_servers.evil]\n${server}`,
    ].join('\n'),
  );
  writeFileSync(join(home, 'hooks.json'), JSON.stringify({ hooks: { SessionStart: hook, Stop: hook } }));
  writeFileSync(join(home, 'rules', 'default.rules'), 'prefix_rule(pattern=["touch"], decision="allow")\n');
  writeFileSync(join(home, 'auth.json'), '{"OPENAI_API_KEY":"canary-login"}');
}

describe.skipIf(CODEX_BINARY === undefined)(
  `a codex turn is hermetic${CODEX_BINARY === undefined ? ` (not run: ${NO_BINARY})` : ''}`,
  () => {
    it('runs nothing that the repository or the user’s own home plants, and uses that home for its login', async () => {
      const on = await openCodexBench(commands(['touch ~/written-outside; cat ~/.codex/auth.json; true']), {
        keyless: true,
      });
      const home = join(on.parts.home, '.codex');
      plantHome(home, on.parts.marks);
      const { result, events } = await run(on);
      expect(result.outcome).toBe('completed');
      expect(result.session?.home).toBe(home);
      expect(await on.planted()).toEqual([]);
      expect(existsSync(join(on.parts.home, 'written-outside'))).toBe(false);
      expect(JSON.stringify(events)).not.toContain('canary-login');
      expect(existsSync(join(on.parts.stateDirectory, 'codex-home'))).toBe(false);
      expect(readFileSync(join(home, 'auth.json'), 'utf8')).toContain('canary-login');
    });

    it('uses a private home with a key, and leaves the user’s own alone', async () => {
      const on = await openCodexBench([{ type: 'text', text: 'hello' }]);
      const { result } = await run(on);
      expect(result.session?.home).toBe(join(on.parts.stateDirectory, 'codex-home'));
      expect(readdirSync(on.parts.home)).toEqual([]);
      expect(on.requests[0]?.headers['authorization']).toBe('Bearer key-of-the-fake');
    });

    it('shows AGENTS.md to the model as data, and CLAUDE.md where there is no other', async () => {
      const on = await openCodexBench([{ type: 'text', text: 'hello' }]);
      writeFileSync(join(on.workspace.path, 'AGENTS.md'), 'from-agents-md');
      writeFileSync(join(on.workspace.path, 'CLAUDE.md'), 'from-claude-md');
      await run(on);
      expect(on.requests[0]?.said('user')).toContain('from-agents-md');
      expect(on.received()).not.toContain('from-claude-md');
      rmSync(join(on.workspace.path, 'AGENTS.md'));
      await run(on);
      expect(on.requests.at(-1)?.said('user')).toContain('from-claude-md');
    });

    it('gives the instructions to the model byte for byte', async () => {
      const on = await openCodexBench([{ type: 'text', text: 'hello' }]);
      const instructions = `a "quote" 'single' \\ back\nnew line\ttab \u007F del \u0001 = [x] {y} # ünï 🙂 \u2028 $(id) -c x=1`;
      await run(on, { instructions });
      expect(on.requests[0]?.said('developer')).toContain(instructions);
    });

    it('keeps the key from the shell, gives it the marker, and the tools of the host’s PATH', async () => {
      const on = await openCodexBench(commands(['env']));
      const { events } = await run(on, { turnId: 'the-marker' });
      const output = events.flatMap((event) => (event.type === 'tool-ended' ? [event.output ?? ''] : [])).join('\n');
      expect(output).not.toContain('key-of-the-fake');
      expect(output).toContain('SQUAD_TURN_ID=the-marker');
      expect(output).toContain(process.env['PATH']);
    });

    it('shows signs of life on stderr while the model generates', async () => {
      const pieces = Array.from({ length: 6 }, (_, index) => `piece ${index} `);
      const on = await openCodexBench([{ type: 'slow-text', pieces, pauseMs: 600 }]);
      // Shorter than the generation, longer than its pauses: without signs of life the turn would be called stalled.
      const { result } = await run(on, { limits: { ...DEFAULT_TURN_LIMITS, idleMs: 2000 } });
      expect(result.outcome).toBe('completed');
      expect(result.text).toContain('piece 5');
    });

    it('hands secrets of MCP servers over by environment: to a stdio server as variables, over HTTP as headers', async () => {
      const seen: unknown[] = [];
      const server = createServer((incoming, response) => {
        seen.push(incoming.headers.authorization);
        response.writeHead(404).end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const on = await openCodexBench([{ type: 'text', text: 'hello' }]);
      const out = join(on.parts.root, 'mcp-env');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
      const env = { DESK_TOKEN: 'desk-secret', PATH: '/usr/bin:/bin' };
      const { directory } = await run(on, {
        turnId: 'mcp-marker',
        mcp: [
          { name: 'web', transport: { type: 'http', url, headers: { Authorization: 'Bearer web-secret' } } },
          { name: 'desk', transport: { type: 'stdio', command: '/bin/sh', args: ['-c', `env > ${out}`], env } },
        ],
      });
      server.close();
      expect(seen).toContain('Bearer web-secret');
      const received = readFileSync(out, 'utf8');
      expect(received).toMatch(/^DESK_TOKEN=desk-secret$/m);
      expect(received).toMatch(/^PATH=\/usr\/bin:\/bin$/m);
      expect(received).toMatch(/^SQUAD_TURN_ID=mcp-marker$/m);
      expect(received).not.toContain('key-of-the-fake');
      expect(readdirSync(directory)).toContain('stdout');
    });
  },
);
