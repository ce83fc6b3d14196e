import { describe, expect, it } from 'vitest';
import { limitsSchema } from '../../../src/model/limits.ts';
import type { AgentSettings } from '../../../src/model/settings.ts';
import { createSessionPlaybook, frozenSession } from '../../../src/playbooks/session/index.ts';
import { playbookOfRun } from '../../../src/playbooks/registry.ts';
import { castOf, rosterOf } from '../../../src/squad/preflight/roster.ts';
import { renderInstructions, roleIn } from '../../../src/squad/preflight/roles.ts';
import { DIAMOND } from '../../support/session-folder.ts';
import { sessionFrom } from './support.ts';

const SESSION = sessionFrom(DIAMOND);
const PLAYBOOK = createSessionPlaybook(SESSION);

const agent = (name: string, role: string, more: Partial<AgentSettings> = {}): AgentSettings => ({
  ...{ name, role, runtime: 'codex', access: 'edit' },
  ...more,
});

function cast(agents: readonly AgentSettings[] | undefined, runtimes = ['claude', 'codex']) {
  return rosterOf(PLAYBOOK, agents, () => Promise.resolve(castOf(PLAYBOOK, { runtimes, members: 3 })));
}

const shown = (agents: readonly AgentSettings[]): string[] =>
  agents.map(({ name, role, runtime, access }) => `${name} as ${role} on ${runtime}, ${access}`);

describe('the cast of a session', () => {
  it('is one agent for each role, spread over what was found', async () => {
    expect(shown(await cast(undefined))).toEqual([
      'analyst as analyst on claude, read-only',
      'implementer as implementer on codex, edit',
      'writer as writer on claude, edit',
    ]);
  });

  it.each<[string, readonly AgentSettings[], readonly string[]]>([
    [
      'takes the agents of a role as they are written',
      [agent('ann', 'writer', { access: 'read-only' }), agent('bob', 'writer', { runtime: 'claude' })],
      [
        'ann as writer on codex, read-only',
        'bob as writer on claude, edit',
        'analyst as analyst on claude, read-only',
        'implementer as implementer on codex, edit',
      ],
    ],
    [
      'leaves out agents of other roles',
      [agent('builder-1', 'builder')],
      [
        'analyst as analyst on claude, read-only',
        'implementer as implementer on codex, edit',
        'writer as writer on claude, edit',
      ],
    ],
    [
      'gives a name to one agent only',
      [agent('writer', 'implementer'), agent('analyst-2', 'implementer'), agent('analyst', 'implementer')],
      [
        'writer as implementer on codex, edit',
        'analyst-2 as implementer on codex, edit',
        'analyst as implementer on codex, edit',
        'analyst-3 as analyst on claude, read-only',
        'writer-2 as writer on claude, edit',
      ],
    ],
  ])('%s', async (_what, agents, expected) => {
    expect(shown(await cast(agents))).toEqual(expected);
  });

  it('asks for no runtime where `agents` has all roles', async () => {
    const agents = ['analyst', 'implementer', 'writer'].map((role) => agent(`${role}-1`, role));
    const roster = await rosterOf(PLAYBOOK, agents, () => Promise.reject(new Error('probed')));
    expect(roster).toEqual(agents);
  });

  it('has the role file as its instructions', () => {
    const [analyst] = SESSION.roles;
    const text = renderInstructions(agent('analyst', 'analyst'), roleIn(PLAYBOOK, 'analyst'));
    expect(text).toContain(`Your role is analyst. The session that you work in describes it (roles/analyst.md):`);
    expect(text).toContain(analyst?.text.trim());
    expect(text).not.toContain('The brief of your task says what to do');
  });
});

describe('a run of a session', () => {
  const from = {
    run: 'try',
    section: undefined,
    limits: limitsSchema.parse({}),
    publish: undefined,
    roles: [],
    objective: { criteria: [] },
  };

  it('is played from what it was frozen with', () => {
    const options = PLAYBOOK.options?.(from) ?? {};
    expect(frozenSession(options)).toEqual(SESSION);
    const again = playbookOfRun({}, { playbook: 'session', options });
    expect(again?.options?.(from)).toEqual(options);
    expect(Object.keys(again?.roles ?? {})).toEqual(['analyst', 'implementer', 'writer']);
  });

  it('is none without a session', () => {
    expect(playbookOfRun({}, { playbook: 'session', options: {} })).toBeUndefined();
  });
});
