import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/text/problem.ts';
import { BUILT_IN_PLAYBOOKS } from '../../../src/model/playbook-name.ts';
import type { Playbook } from '../../../src/model/plan.ts';
import { createPlaybook } from '../../../src/playbooks/registry.ts';
import { readOnlyProblems, rosterProblems } from '../../../src/squad/preflight/staffing.ts';
import { parseSettings } from '../../../src/squad/settings/parse-settings.ts';
import { openBench } from './support.ts';
import { KNOWN_NAMES } from '../../support/known-names.ts';

/** `agents` of a squad.yaml, from `name role access`; the first stands in line 3. */
function settingsOf(playbook: string, agents: readonly string[]) {
  const lines = agents.map((words) => {
    const [name, role, access] = words.split(' ');
    return `  - { name: ${name}, role: ${role}, runtime: claude, access: ${access} }`;
  });
  const text = [...(playbook === '' ? [] : [`playbook: ${playbook}`]), 'agents:', ...lines, ''].join('\n');
  const parsed = parseSettings(text, 'squad.yaml', KNOWN_NAMES);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return { settings: parsed.value, text };
}

function named(name: string): Playbook<unknown> {
  const playbook = createPlaybook({}, name);
  if (playbook === undefined) throw new Error(name);
  return playbook;
}

const said = (problems: readonly Problem[]) => problems.map(({ line, message }) => `${line}: ${message}`);
const MAY_ONLY_READ = 'and may change nothing (access: read-only)';

const source = (text: string) => ({ file: 'squad.yaml', text });

describe('an agent that has to change files and may not', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['delivery', ['p planner read-only', 'b builder edit', 'r reviewer read-only', 't tester read-only'], []],
    ['delivery', ['p planner edit', 'b builder read-only'], [`4: b is to work as builder, ${MAY_ONLY_READ}`]],
    [
      'delivery',
      ['b builder edit', 'b-2 builder read-only', 'd docs read-only', 'c committer read-only'],
      ['b-2 is to work as builder', 'd is to work as docs', 'c is to work as committer'].map(
        (text, index) => `${index + 4}: ${text}, ${MAY_ONLY_READ}`,
      ),
    ],
    [
      'objective',
      ['p pm read-only', 'a ba edit', 'b builder edit', 'r reviewer read-only'],
      [`3: p is to work as pm, ${MAY_ONLY_READ}`],
    ],
    ['council', ['m main read-only', 'a member edit'], [`3: m is to work as main, ${MAY_ONLY_READ}`]],
    ['council', ['m main edit', 'a member edit', 'b member read-only'], []],
    [
      'council',
      ['m main edit', 'a member read-only', 'b member read-only'],
      [`4: a is to work as member, ${MAY_ONLY_READ}`, `5: b is to work as member, ${MAY_ONLY_READ}`],
    ],
  ])('%s: %j', (playbook, agents, expected) => {
    const { settings, text } = settingsOf(playbook, agents);
    expect(said(readOnlyProblems(named(playbook), settings.agents ?? [], source(text)))).toEqual(expected);
  });

  it('is known of every playbook that can be played', () => {
    for (const playbook of BUILT_IN_PLAYBOOKS) {
      const roles = ['builder', 'main', 'member'].map((role) => `${role}-1 ${role} read-only`);
      const { settings, text } = settingsOf(playbook, roles);
      expect(readOnlyProblems(named(playbook), settings.agents ?? [], source(text)), playbook).not.toEqual([]);
    }
  });

  it('is found in the line of its name, however the file is written', () => {
    const text = 'agents:\n- role: builder\n  name: "b-1"\n  access: read-only\n- name: b\n  role: builder\n';
    const agent = { name: 'b-1', role: 'builder', runtime: 'claude', access: 'read-only' } as const;
    expect(said(readOnlyProblems(named('delivery'), [agent], source(text)))).toEqual([
      `3: b-1 is to work as builder, ${MAY_ONLY_READ}`,
    ]);
    expect(said(readOnlyProblems(named('delivery'), [agent], source('agents: *a\n')))[0]).toMatch(/^1: /);
  });
});

describe('what the settings alone tell about a roster', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['delivery', ['p planner read-only'], ['2: delivery needs at least one agent that builds; add one to agents']],
    [
      'objective',
      ['a ba edit', 'b builder edit'],
      [
        '2: objective needs an agent with the role pm; add it to agents: - { name: pm, role: pm, runtime: claude, access: edit }',
        '2: objective needs an agent with the role reviewer; add it to agents: - { name: reviewer, role: reviewer, runtime: claude, access: read-only }',
      ],
    ],
    ['council', ['m main edit'], ['2: council needs at least one agent with the role member']],
    ['council', ['m main edit', 'a member edit'], []],
    ['delivery', ['b builder read-only'], [`3: b is to work as builder, ${MAY_ONLY_READ}`]],
  ])('%s: %j', (playbook, agents, expected) => {
    const { settings, text } = settingsOf(playbook, agents);
    expect(said(rosterProblems({}, settings, source(text)))).toEqual(expected);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['any playbook', ['m main edit', 'a member edit'], []],
    ['none', ['p planner edit'], ['1: delivery needs at least one agent that builds; add one to agents']],
  ])('looks at every playbook where the file names none, and finds %s', (_, agents, expected) => {
    const { settings, text } = settingsOf('', agents);
    expect(said(rosterProblems({}, settings, source(text)))).toEqual(expected);
  });

  it('looks at the list that the file has', () => {
    const list = '{ stages: [{ id: A, by: [builder], brief: Do it., makes: code }] }';
    const { settings, text } = settingsOf(list, ['b builder read-only']);
    expect(said(rosterProblems({}, settings, source(text)))).toEqual([`3: b is to work as builder, ${MAY_ONLY_READ}`]);
    const good = settingsOf(list, ['b builder edit']);
    expect(rosterProblems({}, good.settings, source(good.text))).toEqual([]);
  });

  it('is nothing where the roster is made from what is found', () => {
    const { settings } = settingsOf('delivery', ['b builder edit']);
    const { agents: _agents, ...rest } = settings;
    expect(rosterProblems({}, rest, source(''))).toEqual([]);
  });
});

describe('preflight', () => {
  it('refuses a read-only builder before it probes a runtime or makes a trace, with line and next step', async () => {
    const bench = openBench();
    bench.write('squad.yaml', settingsOf('delivery', ['p planner read-only', 'b builder read-only']).text);
    const before = bench.traces();
    const refusal = await bench.refusal();
    expect(refusal).toMatchObject({ code: 'bad-input', exitCode: 65 });
    expect(refusal.message).toContain(`squad.yaml:4: b is to work as builder, ${MAY_ONLY_READ}`);
    expect(refusal.next).toBe(
      'Give b `access: edit` in squad.yaml, or another role. `squad doctor` checks the roster too.',
    );
    expect(bench.probed).toEqual([]);
    expect(bench.traces()).toEqual(before);
  });
});
