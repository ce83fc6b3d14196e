import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROGRAMS } from '../../src/model/programs.ts';
import type { ProgramsHere } from '../../src/squad/preflight/programs-here.ts';
import { readSettings } from '../../src/squad/preflight/read-settings.ts';
import { rememberTrust, trustStoreOf } from '../../src/squad/preflight/trust-store.ts';
import { itemsToTrust } from '../../src/squad/preflight/trust.ts';
import { trustHash } from '../../src/squad/preflight/trust-hash.ts';
import { compose } from '../../src/engine/compose.ts';
import { program } from '../security/poison.ts';
import { testHost } from '../support/test-host.ts';
import { commandRoom } from './room.ts';

const SETTINGS = `version: 1
agents:
  - name: builder-1
    role: builder
    runtime: claude
    mcp: [{ name: desk, command: npx, args: [-y, a-server] }]
    hooks: [{ on: turn-ended, run: ./hook.sh }]
runtimes:
  claude: { command: ./claude }
verify: [{ run: npm test }]
notify: say done
publish: { remote: origin, pr: true }
`;

async function listed(room: ReturnType<typeof commandRoom>): Promise<ProgramsHere> {
  const { code, stdout, stderr } = await room.run(['doctor', '--trust', '--json']);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as ProgramsHere;
}

describe('doctor --trust', () => {
  it('lists what squad starts everywhere where the repository names nothing', async () => {
    const { consent, programs, repository } = await listed(commandRoom());
    expect(consent).toBe('not needed');
    expect(repository).toMatch(/^\//);
    expect(programs.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['git-checkout', 'git-store', 'turn-wrapper', 'pager']),
    );
    expect(programs.filter((one) => one.from !== null)).toEqual([]);
    for (const { kind, reads } of programs) expect(reads).toBe(PROGRAMS[kind].reads);
    expect(programs.find(({ kind }) => kind === 'git-checkout')?.path).toMatch(/^\/.*\/git$/);
  });

  it('lists what its settings name, with file and line, and starts none of it', async () => {
    const room = commandRoom();
    writeFileSync(join(room.repository, 'squad.yaml'), SETTINGS);
    program(room.repository, 'claude', room.root);
    const { consent, programs } = await listed(room);
    expect(consent).toBe('missing');
    const named = programs.filter((one) => one.from !== null);
    expect(named.map(({ kind, run, from, confinement }) => [kind, run, from, confinement])).toEqual([
      ['check', 'npm test', 'squad.yaml:10', 'none'],
      ['notify', 'say done', 'squad.yaml:11', 'none'],
      ['git-publish', 'git push origin', 'squad.yaml:12', 'settings'],
      ['git-login', 'ssh, or a credential helper', 'squad.yaml:12', 'none'],
      ['gh', 'gh', 'squad.yaml:12', 'settings'],
      ['mcp-server', 'npx -y a-server', 'squad.yaml:2', 'none'],
      ['hook', './hook.sh', 'squad.yaml:2', 'none'],
      ['agent', 'claude', 'squad.yaml:8', 'none'],
    ]);
    expect(named.every((one) => one.consent === 'missing')).toBe(true);
    expect(named.at(-1)).toMatchObject({
      path: join(room.repository, 'claude'),
      confinedBy: 'not known before you agree to it',
    });
    expect(readdirSync(room.root).filter((name) => name.startsWith('mark-'))).toEqual([]);
    const text = await room.run(['doctor', '--trust']);
    expect(text.stdout).toContain('check  npm test  (squad.yaml:10, squad will ask you)');
    expect(text.stdout).toContain('not agreed to');
  });

  it('says that there is consent to exactly these settings, and that the person’s own need none', async () => {
    const room = commandRoom();
    writeFileSync(join(room.repository, 'squad.yaml'), 'version: 1\nverify: [{ run: npm test }]\n');
    const host = testHost(room.root, { workingDirectory: room.repository, configHome: join(room.root, '.config') });
    const read = await readSettings(room.repository, compose(host), host);
    const items = itemsToTrust(read.settings, { file: '', criteria: [] }, read.repository, {});
    const hash = trustHash(items.map(({ from, run }) => `${from}: ${run}`));
    const place = { root: room.repository, commonDirectory: join(room.repository, '.git') };
    await rememberTrust(trustStoreOf(host, place), { hash, at: 1 });
    expect((await listed(room)).programs.find(({ kind }) => kind === 'check')).toMatchObject({ consent: 'stored' });
    mkdirSync(join(room.root, '.config', 'squad'), { recursive: true });
    writeFileSync(join(room.root, '.config', 'squad', 'config.yaml'), 'version: 1\nnotify: say done\n', {
      mode: 0o600,
    });
    expect((await listed(room)).programs.find(({ kind }) => kind === 'notify')).toMatchObject({ consent: 'own' });
  });

  it('says so outside of a repository', async () => {
    const room = commandRoom();
    rmSync(join(room.repository, '.git'), { recursive: true });
    expect(await room.run(['doctor', '--trust'])).toMatchObject({ code: 78 });
  });
});
