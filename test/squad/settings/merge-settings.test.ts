import { describe, expect, it } from 'vitest';
import { mergeSettings } from '../../../src/squad/settings/merge-settings.ts';
import { defaultSettings, parseSettings, rawSettings } from '../../../src/squad/settings/parse-settings.ts';
import { KNOWN_NAMES } from '../../support/known-names.ts';

function merged(own: string, repository: string) {
  return mergeSettings(rawSettings(own), rawSettings(repository), KNOWN_NAMES).settings;
}

describe('the settings of a repository over the user’s own', () => {
  it.each([
    ['what only one sets', 'strict: true', 'playbook: objective', { strict: true, playbook: 'objective' }],
    ['a value of both: the repository’s', 'strict: true', 'strict: false', { strict: false }],
    [
      'limits, key by key: the smaller',
      'limits: { usd: 5, turns: 9, task: { usd: 1, turns: 3 } }',
      'limits: { usd: 7, turns: 8, minutes: 481, task: { usd: 0.5, turns: 4 } }',
      { limits: { ...defaultSettings().limits, usd: 5, turns: 8, task: { usd: 0.5, turns: 3 } } },
    ],
    [
      'models, key by key',
      'models: { planner: opus, builder: haiku }',
      'models: { builder: sonnet }',
      { models: { planner: 'opus', builder: 'sonnet' } },
    ],
    [
      'runtimes by name, each whole',
      'runtimes: { claude: { env: [MINE], fallback: codex }, codex: { env: [X] } }',
      'runtimes: { claude: { fallback: scripted } }',
      { runtimes: { claude: { env: [], fallback: 'scripted' }, codex: { env: ['X'] } } },
    ],
    [
      'mail and team, key by key; routes whole',
      'mail: { locale: zh, routes: { a: [b] } }\nteam: { members: 2 }',
      'mail: { routes: { c: [d] } }\nteam: { windowName: x }',
      {
        mail: { locale: 'zh', ttlMinutes: 1440, routes: { c: ['d'] } },
        team: { ...defaultSettings().team, members: 2, windowName: 'x' },
      },
    ],
    [
      'the section of a playbook, key by key',
      'council: { reviewMinutes: 5, assignMinutes: 6 }',
      'council: { assignMinutes: 7 }',
      { council: { reviewMinutes: 5, assignMinutes: 7 } },
    ],
    [
      'lists and publish: the repository’s alone',
      'verify: [{ run: a }, { run: b }]\nsetup: [{ run: s }]\npublish: { remote: mine, pr: true }',
      'verify: [{ run: c }]\npublish: { base: main }',
      {
        verify: [{ run: 'c', minutes: 10 }],
        setup: [{ run: 's', minutes: 10 }],
        publish: { remote: 'origin', base: 'main', pr: false },
      },
    ],
    ['folders: the user’s `new`', 'folders: new', 'folders: reuse', { folders: 'new' }],
    ['folders: the repository’s `new`', 'folders: reuse', 'folders: new', { folders: 'new' }],
    ['plan: the user’s `ask`', 'plan: ask', 'plan: auto', { plan: 'ask' }],
    ['plan: the repository’s `ask`', 'plan: auto', 'plan: ask', { plan: 'ask' }],
    ['a key without a value counts as absent', 'limits: { usd: 5 }', 'limits:', { limits: { usd: 5 } }],
  ])('%s', (_title, own, repository, expected) => {
    expect(merged(own, repository)).toMatchObject(expected);
  });

  it('are the defaults where neither says anything', () => {
    expect(merged('', '')).toEqual(defaultSettings());
  });
});

describe('the user’s own file', () => {
  it.each([
    ['runtimes: { claude: { command: ./bin/claude } }', 'runtimes.claude.command'],
    ['runtimes:\n  scripted: { config: { script: demo.json } }', 'runtimes.scripted.config.script'],
  ])('%s needs an absolute path', (text, path) => {
    const parsed = parseSettings(text, '/home/me/config.yaml', KNOWN_NAMES, 'own');
    const message = `${path}: this file is for all repositories, so it needs an absolute path`;
    expect(parsed).toMatchObject({ ok: false, problems: [{ file: '/home/me/config.yaml', message }] });
    expect(parseSettings(text, 'squad.yaml', KNOWN_NAMES).ok).toBe(true);
  });

  it.each(['runtimes: { claude: { command: claude-next } }', 'runtimes: { claude: { command: /opt/claude } }'])(
    'takes %s',
    (text) => {
      expect(parseSettings(text, 'c', KNOWN_NAMES, 'own').ok).toBe(true);
    },
  );
});
