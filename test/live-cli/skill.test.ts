import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sourceIn } from '../../src/squad/folder-runs.ts';
import { checkNewRun } from '../../src/squad/new-run.ts';
import { openWorkspace } from '../../src/squad/open-workspace.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { createRepository, git } from '../support/git.ts';
import { testHost } from '../support/test-host.ts';
import { CLAUDE_BINARY, NO_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { startFakeAnthropic } from './fake-anthropic.ts';
import { startFakeOpenai } from './fake-openai.ts';
import { planned, reviewed, scriptModel, type Act, type Asked, type ScriptedTurn } from './turn-scripts.ts';

const WANTED = 'Use squad to write a program that greets people by name.';
const OBJECTIVE = 'write a program that greets people by name';
const RUN = 'write-a-program-that-greets';
const MOST_STEPS = 40;

const shell = (command: string): Act => ({ act: 'shell', command });
const tool = (name: string, given: Record<string, unknown>): Act => ({
  act: 'mail',
  server: 'squad',
  tool: name,
  arguments: given,
});
const say = (text: string): Act => ({ act: 'say', text });

const GREET = { id: 'greet', title: 'Write the program', brief: 'Write greet.sh.', acceptance: ['greet.sh is there'] };

/** What the team does: one task, which one agent builds and another one approves. */
const TEAM: readonly ScriptedTurn[] = [
  {
    name: 'plan',
    when: /Split this objective/,
    acts: [planned('One small program.', [GREET], { criteria: [] })],
  },
  { name: 'review', when: /# Review of task greet:/, acts: [shell('cat greet.sh'), reviewed()] },
  {
    name: 'build',
    when: /# Task greet:/,
    acts: [
      { act: 'write', path: 'greet.sh', text: 'echo "Hello, $1."\n' },
      shell('git add -A && git commit -q -m "Greet"'),
      say('greet.sh greets.'),
    ],
  },
];

/** An assistant that does what the skill says, step by step, by what it sees. */
function assistant(when: RegExp, next: (asked: Asked) => Act): ScriptedTurn {
  return { name: 'assistant', when, acts: Array.from({ length: MOST_STEPS }, () => next) };
}

function byCommands({ outputs }: Asked): Act {
  const all = outputs.join('\n');
  if (outputs.length === 0) return shell(`squad run "${OBJECTIVE}" --detach --json`);
  if (!/"outcome":"\w/.test(all)) return shell(`squad status ${RUN} --wait 50s --json`);
  return /^\+echo/m.test(all) ? say(`It is done:\n${outputs.at(-1) ?? ''}`) : shell(`squad diff ${RUN} --no-pager`);
}

function byTools({ outputs }: Asked): Act {
  const all = outputs.join('\n');
  if (outputs.length === 0) return tool('start_run', { objective: OBJECTIVE });
  if (!/"over":true|^It is over|run_diff with run/m.test(all))
    return tool('run_status', { run: RUN, wait_seconds: 50 });
  return all.includes('+echo') ? say(`It is done:\n${outputs.at(-1) ?? ''}`) : tool('run_diff', { run: RUN });
}

/** A repository with the skill, squad on the PATH, a person who agreed to it, and one model behind all. */
async function openRoom(turns: readonly ScriptedTurn[]) {
  const model = scriptModel([...turns, ...TEAM]);
  const anthropic = await startFakeAnthropic(model.anthropic);
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-skill-')));
  onTestFinished(async () => {
    await anthropic.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  const names = ['planner', 'builder', 'reviewer'];
  const settings = {
    version: 1,
    agents: names.map((name) => ({ name, role: name, runtime: 'claude' })),
    runtimes: { claude: { command: CLAUDE_BINARY, env: ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'] } },
  };
  const repository = createRepository(join(root, 'greeting'), { 'squad.yaml': JSON.stringify(settings) });
  const bin = join(root, 'bin');
  mkdirSync(bin);
  const launcher = `#!/bin/sh\nexec '${process.execPath}' '${CLI_ENTRY}' "$@"\n`;
  writeFileSync(join(bin, 'squad'), launcher, { mode: 0o755 });
  const environment = {
    HOME: root,
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    XDG_STATE_HOME: join(root, 'state'),
    XDG_CONFIG_HOME: join(root, 'config'),
    ANTHROPIC_API_KEY: 'key-of-the-fake',
    ANTHROPIC_BASE_URL: anthropic.url,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    IS_SANDBOX: '1',
  };
  const run = async (program: string, args: readonly string[], more: Record<string, string> = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = spawn(program, args, {
        cwd: repository,
        env: { ...environment, ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let said = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
      child.once('error', reject);
      child.once('close', () => resolve(said));
    });
  const host = testHost(root, { environment, workingDirectory: repository });
  const workspace = await openWorkspace({ host });
  const source = sourceIn(workspace, { text: OBJECTIVE });
  await checkNewRun(workspace, source, { trust: async () => true });
  expect(await run('squad', ['init', '--skill'])).toMatch(
    /^wrote .*\.claude\/skills\/squad\/SKILL\.md\nwrote .*\.agents\/skills/,
  );
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '-m', 'skill');
  return { root, model, anthropic, run };
}

const LEFT_OUT = CLAUDE_BINARY === undefined || CODEX_BINARY === undefined ? NO_BINARY : undefined;

describe.skipIf(LEFT_OUT !== undefined)(
  `an assistant${LEFT_OUT === undefined ? '' : ` (not run: ${LEFT_OUT})`}`,
  () => {
    it(
      'that is the real claude starts a run by the skill, and brings back its diff',
      { timeout: 200_000 },
      async () => {
        const begins: ScriptedTurn = {
          name: 'begin',
          when: /Use squad to write/,
          acts: [{ act: 'own', tool: 'Skill', arguments: { skill: 'squad' } }],
        };
        const { model, anthropic, run } = await openRoom([assistant(/# Give work to squad/, byCommands), begins]);
        const said = await run(CLAUDE_BINARY ?? '', ['-p', WANTED, '--allowedTools', 'Bash(squad *)', 'Skill']);
        expect(model.strange).toEqual([]);
        expect(said).toMatch(/^It is done:[^]*^\+echo "Hello, \$1\."$/m);
        expect(anthropic.requests[0]?.raw).toContain('- squad: Give a larger piece of work to a team of coding agents');
        // The team has the repository with the skill, and none of it is for them.
        const team = anthropic.requests.filter(({ system }) => system.includes('Your name in the squad is'));
        expect(team.length).toBeGreaterThan(3);
        expect(team.filter(({ raw }) => raw.includes('Give a larger piece of work'))).toEqual([]);
      },
    );

    it('that is the real claude does so by the tools of the server, too', { timeout: 200_000 }, async () => {
      const { model, run, root } = await openRoom([assistant(/Use squad to write/, byTools)]);
      const servers = join(root, 'servers.json');
      writeFileSync(
        servers,
        JSON.stringify({ mcpServers: { squad: { command: 'squad', args: ['mcp-server', '--max-turns', '9'] } } }),
      );
      const said = await run(CLAUDE_BINARY ?? '', [
        '-p',
        WANTED,
        '--mcp-config',
        servers,
        '--allowedTools',
        'mcp__squad',
      ]);
      expect(model.strange).toEqual([]);
      expect(said).toMatch(/^It is done:[^]*\+echo/m);
    });

    it('that is the real codex is shown the skill, and its path', { timeout: 100_000 }, async () => {
      const openai = await startFakeOpenai([{ type: 'text', text: 'I see.' }]);
      onTestFinished(async () => openai.close());
      const { run } = await openRoom([]);
      const provider = `{name="fake",base_url="${openai.baseUrl}",wire_api="responses",env_key="FAKE_KEY"}`;
      const config = ['-c', 'model_provider="fake"', '-c', `model_providers.fake=${provider}`, '-m', PLAIN_MODEL];
      const said = await run(CODEX_BINARY ?? '', ['exec', ...config, WANTED], { FAKE_KEY: 'key-of-the-fake' });
      expect(said).toContain('I see.');
      const request = JSON.stringify(openai.requests[0]?.body);
      expect(request).toContain('Give a larger piece of work to a team of coding agents');
      // It names the folder of all skills once, and each file by it.
      expect(request).toMatch(/greeting\/\.agents\/skills[^/]/);
      expect(request).toMatch(/\/squad\/SKILL\.md/);
    });
  },
);
