import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../../src/model/turn-request.ts';
import { createScriptedAdapter } from '../../../src/runtimes/scripted/index.ts';

const PLAYER = fileURLToPath(new URL('../../../src/runtimes/scripted/player.mjs', import.meta.url));

const request: TurnRequest = {
  turnId: 'turn-1',
  workspace: { path: '/w' },
  prompt: 'go',
  instructions: '',
  access: { level: 'edit' },
  mcp: [],
  limits: DEFAULT_TURN_LIMITS,
};

async function refusalOf(config: Record<string, unknown>) {
  const adapter = createScriptedAdapter({
    binary: '/node',
    environment: {},
    allowEnvironment: [],
    stateDirectory: '/state',
    userHome: '/home/me',
    platform: 'linux',
    architecture: 'x64',
    isRoot: false,
    config,
  });
  const made = adapter.command(request, await adapter.lookUp(request, '/turns/1'));
  return made.type === 'refusal' ? made.failure : undefined;
}

it.each([
  ['no script', {}, 'runtimes.scripted.config.script'],
  ['a script that is not named by its absolute path', { script: 'play.json' }, 'runtimes.scripted.config.script'],
  ['a key that means nothing', { script: '/play.json', model: 'x' }, 'runtimes.scripted.config.model'],
])('%s is refused by name', async (_, config, setting) => {
  expect(await refusalOf(config)).toMatchObject({ kind: 'setting-unsupported', setting });
  expect(await refusalOf({ script: '/play.json' })).toBeUndefined();
});

it.each([
  ['is not there', undefined, /no such file/],
  ['is no JSON', '{', /JSON/],
  ['has no turns', '{}', /turns/],
])('a script that %s is a bad request, said in one line', (_, text, message) => {
  const root = mkdtempSync(join(tmpdir(), 'squad-script-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const script = join(root, 'play.json');
  if (text !== undefined) writeFileSync(script, text);
  const options = JSON.stringify({ script, home: root, session: 's', resume: false });
  const { stdout, stderr, status } = spawnSync(process.execPath, [PLAYER, options], { input: 'go', encoding: 'utf8' });
  expect(JSON.parse(stdout)).toMatchObject({
    type: 'error',
    kind: 'bad-request',
    message: expect.stringMatching(message),
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 1 });
});
