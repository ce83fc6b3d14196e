import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseSettings } from '../../src/squad/settings/parse-settings.ts';
import { installChaosAgent } from '../support/chaos-agent.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import type { EngineRoom } from '../support/engine.ts';
import { KNOWN_NAMES } from '../support/known-names.ts';
import { eventually, NO_TMUX, openTmuxRoom } from '../support/tmux.ts';
import { roomForTest } from './room.ts';
import { ALL } from '../support/lane.ts';

const TESTED = JSON.stringify({ scripts: { test: 'vitest run' } });

/** `squad init` at a real terminal. `agents`: with stand-ins for the runtimes' programs on PATH, which only say what they are. */
function openTerminal(room: EngineRoom, more = '') {
  const tmux = openTmuxRoom();
  onTestFinished(() => tmux.close());
  const { folder } = installChaosAgent(join(room.root, 'agents'), {});
  const keys = 'ANTHROPIC_API_KEY=none CODEX_API_KEY=none';
  const environment = `HOME=${room.root} XDG_CONFIG_HOME=${room.root}/config PATH=${folder}:$PATH ${keys}`;
  const line = `${environment} ${process.execPath} ${CLI_ENTRY} init ${more}; echo "ended with $?"; sleep 600`;
  tmux.tmux('in', '-f', '/dev/null', 'new-session', '-d', '-x', '120', '-y', '40', '-c', room.repository, line);
  const seen = async (text: string) =>
    eventually(text, () => (tmux.screen('in', '').includes(text) ? true : undefined), 60);
  return { seen, press: (...keys: string[]) => tmux.tmux('in', 'send-keys', ...keys) };
}

/** Whether a run would start without a question. */
function consentIn({ root, repository }: EngineRoom): unknown {
  const env = { PATH: process.env['PATH'], HOME: root, XDG_CONFIG_HOME: `${root}/config` };
  const args = [CLI_ENTRY, 'doctor', '--trust', '--json'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: repository, env, encoding: 'utf8' });
  return (JSON.parse(stdout) as { readonly consent: unknown }).consent;
}

const settingsIn = ({ repository }: EngineRoom) => {
  const parsed = parseSettings(readFileSync(join(repository, 'squad.yaml'), 'utf8'), 'squad.yaml', KNOWN_NAMES);
  return parsed.ok ? parsed.value : parsed.problems;
};

describe.skipIf(NO_TMUX !== undefined)('squad init at a terminal', { timeout: 180_000 }, () => {
  it('asks for runtimes, the test and the budget, and writes the answers', ALL, async () => {
    const room = roomForTest();
    writeFileSync(join(room.repository, 'package.json'), TESTED);
    const { seen, press } = openTerminal(room);
    await seen('Which runtimes may agents use?');
    await seen('codex');
    press('Down', 'Space', 'Enter');
    await seen('Which command tests this repository?');
    await seen('npm test');
    press('-l', ' -- --run');
    press('Enter');
    await seen('How much may a run cost at most, in USD?');
    press('BSpace', 'BSpace', 'Enter');
    await seen('Write an amount above 0');
    press('7', 'Enter');
    await seen('ended with 0');
    expect(settingsIn(room)).toMatchObject({
      limits: { usd: 7 },
      verify: [{ run: 'npm test -- --run' }],
      agents: [{ runtime: 'claude' }, { runtime: 'claude' }, { runtime: 'claude' }],
    });
    expect(existsSync(join(room.repository, 'objective.md'))).toBe(true);
    expect(consentIn(room)).toBe('stored');
    const text = readFileSync(join(room.repository, 'squad.yaml'), 'utf8');
    writeFileSync(join(room.repository, 'squad.yaml'), text.replace('npm test -- --run', 'npm test -- --ran'));
    expect(consentIn(room)).toBe('missing');
  });

  it.each([
    ['y', 'stored'],
    ['n', 'missing'],
  ])('asks about what was no answer, such as npm ci: %s', ALL, async (answer, consent) => {
    const room = roomForTest();
    writeFileSync(join(room.repository, 'package.json'), TESTED);
    writeFileSync(join(room.repository, 'package-lock.json'), '{"lockfileVersion":3}');
    const { seen, press } = openTerminal(room);
    await seen('Which runtimes may agents use?');
    press('Enter');
    await seen('Which command tests this repository?');
    press('Enter');
    await seen('How much may a run cost at most, in USD?');
    press('Enter');
    await seen('setup: npm ci');
    await seen('Allow exactly this, now and in later runs?');
    press(answer, 'Enter');
    await seen('ended with 0');
    await seen('Next: ');
    expect(consentIn(room)).toBe(consent);
  });

  it('writes nothing after Ctrl-C', async () => {
    const room = roomForTest();
    const { seen, press } = openTerminal(room);
    await seen('Which runtimes');
    press('C-c');
    await seen('ended with 130');
    expect(['squad.yaml', 'objective.md'].filter((name) => existsSync(join(room.repository, name)))).toEqual([]);
  });

  it('asks nothing with --yes, nor where squad.yaml is there', ALL, async () => {
    const room = roomForTest();
    writeFileSync(join(room.repository, 'package.json'), TESTED);
    const { seen } = openTerminal(room, '--yes');
    await seen('ended with 0');
    expect(settingsIn(room)).toMatchObject({ limits: { usd: 20 }, verify: [{ run: 'npm test' }] });
    const again = openTerminal(room);
    await again.seen('ended with 0');
    await again.seen('changed)');
  });
});
