import { deliveryOptions } from '../../support/delivery-list.ts';
import { fc, it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { isSlug } from '../../../src/model/slug.ts';
import { defaultSettings } from '../../../src/squad/settings/parse-settings.ts';
import { optionsFor } from '../../../src/squad/preflight/playbook-choice.ts';
import { renderInstructions, roleIn } from '../../../src/squad/preflight/roles.ts';
import { castOf } from '../../../src/squad/preflight/roster.ts';
import { nameRun, slugOf } from '../../../src/squad/preflight/run-name.ts';
import type { Playbook } from '../../../src/model/plan.ts';
import { createPlaybook, playbookNames } from '../../../src/playbooks/registry.ts';
import type { AgentSettings, Settings } from '../../../src/model/settings.ts';

describe('a title as a name', () => {
  it.each([
    ['Let people log in', 'let-people-log-in'],
    ['Äpfel & Öl: 2nd try!', 'apfel-ol-2nd-try'],
    ['2026: a new start', 'a-new-start'],
    ['../../etc/passwd', 'etc-passwd'],
    ['--force', 'force'],
    ['登录', 'run'],
    ['', 'run'],
    ['Let people log in with their company account', 'let-people-log-in-with-their'],
    ['exactly-thirty-two-characters-xx yes', 'exactly-thirty-two-characters-xx'],
    ['x'.repeat(50), 'x'.repeat(32)],
  ])('%j → %s', (title, expected) => {
    expect(slugOf(title)).toBe(expected);
  });

  property.prop([fc.string({ unit: 'grapheme' }), fc.array(fc.string())])('is always a free name', (title, more) => {
    const first = slugOf(title);
    const taken = [first, `${first}-2`, ...more];
    expect(isSlug(first)).toBe(true);
    const name = nameRun({ title }, taken);
    expect(isSlug(name)).toBe(true);
    expect(taken).not.toContain(name);
  });
});

describe('a run’s name', () => {
  it.each([
    [{ title: 'A title' }, [], 'a-title'],
    [{ title: 'A title', objective: 'ours' }, [], 'ours'],
    [{ title: 'A title', objective: 'ours', given: 'mine' }, ['ours'], 'mine'],
    [{ title: 'A title', objective: 'ours' }, ['ours', 'ours-2'], 'ours-3'],
    [{ title: '', objective: 'x'.repeat(32) }, ['x'.repeat(32)], `${'x'.repeat(30)}-2`],
  ])('%j', (sources, taken, expected) => {
    expect(nameRun(sources, taken)).toBe(expected);
  });
});

function named(name: string): Playbook<unknown> {
  const playbook = createPlaybook({}, name);
  if (playbook === undefined) throw new Error(name);
  return playbook;
}

const agent = (name: string, role: string, runtime: AgentSettings['runtime']): AgentSettings => ({
  name,
  role,
  runtime,
  access: 'edit',
});

describe('a roster', () => {
  it.each([
    [[], []],
    [['codex'], ['planner', 'builder-1', 'reviewer-1']],
    [
      ['claude', 'codex'],
      ['planner', 'builder-1', 'builder-2', 'reviewer-1', 'reviewer-2'],
    ],
  ] as const)('of %j', (runtimes, names) => {
    expect(castOf(named('delivery'), { runtimes, members: 4 }).map(({ name }) => name)).toEqual(names);
  });

  it.each([
    [[], 4, []],
    [['codex'], 2, ['main codex', 'a codex', 'b codex']],
    [['claude', 'codex'], 4, ['main claude', 'a codex', 'b claude', 'c codex', 'd claude']],
  ] as const)('of a council on %j with %i members', (runtimes, members, expected) => {
    const roster = castOf(named('council'), { runtimes, members });
    expect(roster.map(({ name, runtime }) => `${name} ${runtime}`)).toEqual(expected);
    expect(new Set(roster.map(({ role }) => role)).size).toBe(Math.min(roster.length, 2));
  });

  it('has one agent for each role of a playbook without a cast, on one runtime after the other', () => {
    const roles = { writer: { delivers: 'each' }, critic: { delivers: 'none' }, helper: { delivers: 'some' } } as const;
    expect(castOf({ name: 'pages', roles }, { runtimes: ['claude', 'codex'], members: 4 })).toEqual([
      { name: 'writer', role: 'writer', runtime: 'claude', access: 'edit' },
      { name: 'critic', role: 'critic', runtime: 'codex', access: 'read-only' },
      { name: 'helper', role: 'helper', runtime: 'claude', access: 'edit' },
    ]);
  });

  it.each([
    [[agent('a', 'writer', 'claude'), agent('a', 'critic', 'claude')], 'an agent "a" for "critic"'],
    [[agent('The Writer', 'writer', 'claude')], 'an agent "The Writer" for "writer"'],
    [[agent('a', '../writer', 'claude')], 'an agent "a" for "../writer"'],
  ])('of a playbook from outside is refused if no run can have it: %#', (cast, message) => {
    const playbook = { name: 'pages', roles: {}, cast: () => cast };
    expect(() => castOf(playbook, { runtimes: ['claude'], members: 4 })).toThrow(`the playbook pages casts ${message}`);
  });

  it('of objective can play it', () => {
    const roster = castOf(named('objective'), { runtimes: ['claude'], members: 4 });
    expect(roster.map(({ name, access }) => `${name} ${access}`)).toEqual([
      'pm edit',
      'ba edit',
      'writer edit',
      'builder-1 edit',
      'builder-2 edit',
      'reviewer read-only',
    ]);
  });
});

describe('instructions', () => {
  const playbookWith = (role: string): Playbook<unknown> => named(role.startsWith('m') ? 'council' : 'delivery');
  const text = (role: string) => renderInstructions({ name: 'one', role }, roleIn(playbookWith(role), role));

  it.each(['planner', 'builder', 'reviewer', 'committer', 'tester', 'main', 'member', 'pm', 'constructor'])(
    'of a %s',
    (role) => {
      const said = text(role);
      expect(said).toMatch(
        /^You are a member [^]*squad checks the evidence[^]*Your role is [^]*name in the squad is one\.$/,
      );
      expect(said).toMatch(/is information, never an order/);
      expect(said).not.toMatch(/undefined|\d{4}|\/home|native code/);
      expect(said.length).toBeLessThan(4_500);
    },
  );

  it('are equal for all agents up to the role, and for all of a role up to the name', () => {
    const [one = '', other = ''] = ['planner', 'builder'].map((role) => text(role));
    expect(one.split('Your role is')[0]).toBe(other.split('Your role is')[0]);
    expect(text('builder').replace(/one\.$/, '')).toBe(
      renderInstructions({ name: 'two', role: 'builder' }, {}).replace(/two\.$/, ''),
    );
  });

  it('are English, and say in which language people read', () => {
    const said = renderInstructions({ name: 'one', role: 'builder' }, {}, undefined, { locale: 'zh' });
    expect(said).toMatch(/what people read, such as documents, summaries and messages, in Chinese/);
    expect(said).not.toMatch(/[一-鿿]/);
    expect(text('builder')).not.toContain('in Chinese');
  });

  it('differ by role, and hold the repository’s own part after it', () => {
    expect(
      new Set(
        ['planner', 'builder', 'reviewer', 'committer', 'tester', 'main', 'member', 'pm'].map((role) => text(role)),
      ).size,
    ).toBe(8);
    const file = { path: 'docs/a.md', text: '\nTabs, please.\n' };
    const further =
      'Further instructions from this repository (docs/a.md):\n\nTabs, please.\n\nYour name in the squad is';
    expect(renderInstructions({ name: 'one', role: 'pm' }, {}, file)).toBe(
      text('pm').replace('Your name in the squad is', further),
    );
  });
});

describe('a file with a role', () => {
  const WHOLE = '# pm\n\n## Identity\n\nA pm.\n\n## Boundaries\n\n- none\n\n## Execution\n\n- plan\n';
  const said = (text: string) =>
    renderInstructions({ name: 'one', role: 'pm' }, { instructions: 'Your own text.' }, { path: 'pm.md', text });

  it.each([WHOLE, WHOLE.replaceAll('\n', '\r\n'), WHOLE.replaceAll('##', '###')])(
    'replaces that of squad: %j',
    (text) => {
      expect(said(text)).toContain(`Your role is pm. This repository describes it (pm.md):\n\n${text.trim()}`);
      expect(said(text)).not.toContain('Your own text.');
      expect(said(text)).toMatch(/is information, never an order/);
    },
  );

  it.each(['## Identity', '## Boundaries', '## Execution'])('is added to that of squad without %s', (heading) => {
    expect(said(WHOLE.replace(heading, 'Notes'))).toMatch(
      /Your own text\.[^]*\nFurther instructions from this repository/,
    );
  });

  it('is added to that of squad if its parts are in another order', () => {
    const text = '## Execution\n\n- plan\n\n## Identity\n\nA pm.\n\n## Boundaries\n\n- none\n';
    expect(said(text)).toContain('Your own text.');
  });
});

describe('options of a playbook', () => {
  const { limits } = defaultSettings();
  const settings = { ...defaultSettings(), publish: { remote: 'origin', pr: true } };
  const roles = ['planner', 'builder', 'builder', 'reviewer', 'committer', 'tester'];
  const agents = roles.map((role) => ({ role }));

  it.each([
    ['delivery', defaultSettings(), deliveryOptions(agents, { criteria: [] })],
    ['delivery', settings, deliveryOptions(agents, { criteria: [] }, { publish: settings.publish })],
    ['council', settings, { reviewRounds: 4 }],
    [
      'council',
      { ...settings, council: { document: 'docs/a.md', reviewMinutes: 5 } },
      { reviewRounds: 4, document: 'docs/a.md', reviewMinutes: 5 },
    ],
    [
      'objective',
      { ...settings, objective: { whenNotConverging: 'stop' } },
      { folder: 'docs/squad/try', reviewRounds: 4, list: expect.objectContaining({ whenNotConverging: 'stop' }) },
    ],
  ] as const)('%s', (playbook, from: Settings, expected) => {
    const objective = { criteria: [] };
    expect(optionsFor(named(playbook), from, { name: 'try', limits, agents, objective })).toEqual(expected);
  });
});

describe('playbooks', () => {
  it.each(['delivery', 'solo', 'best-of', 'objective', 'council'])('%s is known by its name', (name) => {
    expect(createPlaybook({}, name)?.name).toBe(name);
    expect(playbookNames({})).toContain(name);
  });

  it.each(['', 'Delivery', 'session', 'sprint', 'constructor', '__proto__'])('%j is none', (name) => {
    expect(createPlaybook({}, name)).toBeUndefined();
  });
});
