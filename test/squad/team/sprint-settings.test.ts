import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openWorkspace } from '../../../src/squad/open-workspace.ts';
import { readSprintSettings } from '../../../src/squad/team/sprint-settings.ts';
import { readTeamSettings } from '../../../src/squad/team/team-settings.ts';
import { createRepository } from '../../support/git.ts';
import { testHost } from '../../support/test-host.ts';

/** `own`: the user's file for all repositories. */
async function roomWith(settings: string | undefined, own?: string) {
  const root = mkdtempSync(join(tmpdir(), 'squad-settings-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const repository = createRepository(join(root, 'repository'));
  if (settings !== undefined) writeFileSync(join(repository, 'squad.yaml'), settings);
  const host = testHost(root, { workingDirectory: repository });
  if (own !== undefined) {
    mkdirSync(join(host.configHome, 'squad'), { recursive: true });
    writeFileSync(join(host.configHome, 'squad/config.yaml'), own, { mode: 0o600 });
  }
  return openWorkspace({ host });
}

describe('the settings of sprints, read alone', () => {
  it.each<[string, string | undefined, string | undefined]>([
    ['no file', undefined, undefined],
    ['a file without them', 'version: 1\nlimits: { usd: 3 }\n', undefined],
    ['some of them', 'version: 1\nsprint: { folder: team, branch: line, slots: "0 9 * * 1" }\n', undefined],
    ['a file in JSON', '{"version":1,"sprint":{"timezone":"UTC","start":"person"}}', undefined],
    ['another part in the user’s own file', 'sprint: { folder: team }\n', 'sprint: { timezone: Europe/Berlin }\n'],
    ['the same key in both', 'sprint: { timezone: UTC }\n', 'sprint: { timezone: Europe/Berlin, branch: own }\n'],
    ['an own file without them', 'sprint: { timezone: UTC }\n', 'limits: { usd: 3 }\n'],
  ])('are those of all settings with %s', async (_, settings, own) => {
    const workspace = await roomWith(settings, own);
    const { policy: _policy, commitPolicy: _commits, ...all } = await readTeamSettings(workspace);
    expect(await readSprintSettings(workspace)).toEqual(all);
  });

  it.each([
    ['sprint: { timezone: Europe/Berln }\n', 'squad.yaml:1', 'is no time zone'],
    ['version: 1\nsprint:\n  maxTodo: 3\n', 'squad.yaml:3', 'did you mean “maxTodos”?'],
  ])('are refused as they are with all settings: %s', async (settings, place, problem) => {
    const workspace = await roomWith(settings);
    const refused = async (read: Promise<unknown>): Promise<unknown> => read.catch((error: unknown) => error);
    const alone = await refused(readSprintSettings(workspace));
    expect(alone).toMatchObject({ code: 'bad-input', message: expect.stringContaining(place) });
    expect(alone).toMatchObject({ message: expect.stringContaining(problem) });
    expect(alone).toEqual(await refused(readTeamSettings(workspace)));
  });

  it('are there beside a section that is wrong, which is none of their business', async () => {
    const workspace = await roomWith('limits: { usd: lots }\nsprint: { branch: line }\n');
    expect(await readSprintSettings(workspace)).toMatchObject({ branch: 'line' });
  });
});
