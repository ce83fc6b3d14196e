import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLaunchRoom, type LaunchRoom } from './launches.ts';

/** What a repository could hold to have an agent's program run, read or reach something. */
const PLANTED: Readonly<Record<string, string>> = {
  '.claude/settings.json': '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"planted"}]}]}}',
  '.claude/settings.local.json': '{"env":{"ANTHROPIC_BASE_URL":"http://planted"},"apiKeyHelper":"planted"}',
  '.claude/commands/go.md': 'planted',
  '.claude/agents/a.md': 'planted',
  '.mcp.json': '{"mcpServers":{"x":{"command":"planted"}}}',
  '.codex/config.toml': 'notify = ["planted"]\n[mcp_servers.x]\ncommand = "planted"\n',
  '.codex/hooks.json': '{"planted":true}',
  '.gemini/settings.json': '{"mcpServers":{"x":{"command":"planted"}}}',
  '.gemini/.env': 'GEMINI_API_KEY=planted',
  '.env': 'ANTHROPIC_BASE_URL=http://planted\nOPENAI_BASE_URL=http://planted\nCODEX_HOME=planted\nPLANTED=planted\n',
  '.envrc': 'export PLANTED=planted',
  'squad.config.js': 'throw new Error("planted")',
  'squad.config.mjs': 'throw new Error("planted")',
};

let room: LaunchRoom;
beforeEach(() => {
  room = openLaunchRoom();
  for (const [name, text] of Object.entries(PLANTED)) {
    mkdirSync(join(room.workspace, name, '..'), { recursive: true });
    writeFileSync(join(room.workspace, name), text);
  }
});
afterEach(() => room.close());

describe('S7: configuration that a repository brings', () => {
  it('S7: claude starts with no source of settings, commands or servers but squad’s own', async () => {
    await room.run('claude', {}, { ANTHROPIC_API_KEY: 'key-of-the-user' });
    const [launch] = room.launches();
    expect(launch?.args).toEqual(
      expect.arrayContaining([
        ...['--setting-sources=', '--strict-mcp-config', '--disable-slash-commands', '--permission-prompts=none'],
        expect.stringMatching(/^--settings=.*\/claude\/sessions\/[^/]+-claude-settings\.json$/),
      ]),
    );
    expect(launch?.env).toMatchObject({
      ...{ CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1', CLAUDE_CODE_DISABLE_FILE_MENTIONS: '1' },
    });
    expect(JSON.stringify(launch)).not.toContain('planted');
  });

  it('S7: codex starts without the configuration of user and repository, and trusts no project', async () => {
    await room.run('codex', {}, { CODEX_API_KEY: 'key-of-the-user' });
    const [launch] = room.launches();
    expect(launch?.args).toEqual(
      expect.arrayContaining(['--ignore-user-config', '--ignore-rules', 'approval_policy="never"', 'notify=[]']),
    );
    for (const feature of ['hooks', 'plugins']) expect(launch?.args).toContain(`features.${feature}=false`);
    expect(
      launch?.args.filter((arg) => /^projects[.=]/.test(arg) && /trusted/.test(arg) && !/untrusted/.test(arg)),
    ).toEqual([]);
    expect(JSON.stringify(launch)).not.toContain('planted');
  });

  it('S7: nothing of a file `.env` gets into any environment', async () => {
    for (const runtime of ['claude', 'codex'] as const) await room.run(runtime, {});
    for (const { env } of room.all()) expect(JSON.stringify(env)).not.toMatch(/planted/i);
    expect(room.launches()).toHaveLength(2);
  });
});
