import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/text/json.ts';
import { createCouncilPlaybook } from '../../src/playbooks/council/index.ts';
import { mailPolicyOf } from '../../src/engine/turn-mail.ts';
import { mailPolicySchema } from '../../src/model/mail/policy.ts';
import { MAIL_VERBS, type MailVerb } from '../../src/model/mail/kind.ts';
import type { BoundAgent } from '../../src/model/run.ts';
import { refuseLostRoutes } from '../../src/squad/preflight/roster.ts';

const COUNCIL = {
  tools: (role: string): readonly MailVerb[] => (role === 'main' ? ['assign'] : ['report']),
};
const OPEN = { ...COUNCIL, routes: () => 'everybody' as const };

function agents(...named: readonly [string, string][]): BoundAgent[] {
  return named.map(([name, role]) => ({
    name,
    role,
    runtime: 'scripted',
    access: { level: 'edit' },
    instructions: '',
    account: 'scripted',
  }));
}

const mail = { locale: 'en', ttlMinutes: 1.5 } as const;
const options = {};
const TEAM = agents(['main', 'main'], ['a', 'member'], ['b', 'member']);

function routes(policy: ReturnType<typeof mailPolicyOf>): Record<string, readonly string[]> {
  return Object.fromEntries(policy.members.map(({ address, writesTo }) => [address, writesTo]));
}

describe('who may write to whom', () => {
  it('is members and MAIN, and nobody else, unless somebody says so', () => {
    const policy = mailPolicyOf({ agents: TEAM, mail, options }, COUNCIL);
    expect(mailPolicySchema.parse(policy)).toEqual(policy);
    expect(routes(policy)).toEqual({ MAIN: ['main', 'A', 'member', 'B'], A: ['MAIN'], B: ['MAIN'] });
    expect(policy.members.map(({ verbs }) => verbs)).toEqual([['assign'], ['report'], ['report']]);
    expect(policy.ttlMs).toBe(90_000);
  });

  it('is everybody where the playbook says so', () => {
    expect(routes(mailPolicyOf({ agents: TEAM, mail, options }, OPEN))['A']).toEqual(['MAIN', 'main', 'member', 'B']);
  });

  it.each<[string, Record<string, string[]>, Record<string, string[]>]>([
    ['of an agent', { a: ['B'] }, { A: ['MAIN', 'B'], B: ['MAIN'] }],
    ['of an address', { A: ['B'] }, { A: ['MAIN', 'B'], B: ['MAIN'] }],
    ['of a role', { member: ['member'] }, { A: ['MAIN', 'member'], B: ['MAIN', 'member'] }],
    ['of an agent before its role', { member: ['member'], b: [] }, { A: ['MAIN', 'member'], B: ['MAIN'] }],
  ])('is what the settings say %s, in place of the playbook', (_title, own, expected) => {
    const policy = mailPolicyOf({ agents: TEAM, mail: { ...mail, routes: own }, options }, COUNCIL);
    expect(routes(policy)).toMatchObject(expected);
  });

  it('bounds assignments as the council’s settings say, and no others', () => {
    const longest = (playbook: Parameters<typeof mailPolicyOf>[1], own: Json) =>
      mailPolicyOf({ agents: TEAM, mail, options: own }, playbook).assignMs;
    expect(longest(createCouncilPlaybook(), { assignMinutes: 0.5 })).toBe(30_000);
    expect(longest(createCouncilPlaybook(), {})).toBe(240 * 60_000);
    expect(longest(OPEN, {})).toBeUndefined();
  });

  it('has a person as MAIN, who may say all, where no agent is', () => {
    const policy = mailPolicyOf({ agents: agents(['builder-1', 'builder']), mail, options }, COUNCIL);
    expect(policy.members[0]).toEqual({
      address: 'MAIN',
      agent: null,
      role: 'person',
      verbs: [...MAIL_VERBS],
      writesTo: ['MAIN', 'builder-1', 'builder'],
    });
  });
});

const SOURCE = { file: 'squad.yaml', text: 'version: 1\n\nmail: {}\n' };

describe('routes that lead nowhere', () => {
  it.each([
    ['from nobody', { nobody: ['a'] }, 'mail.routes.nobody: no agent or role is called nobody'],
    ['to nobody', { a: ['B', 'c'] }, 'mail.routes.a: no agent or role is called c'],
  ])('%s are refused', (_title, own, message) => {
    expect(() => refuseLostRoutes({ agents: TEAM, mail: { ...mail, routes: own } }, SOURCE)).toThrow(
      `squad.yaml:3: ${message}`,
    );
  });

  it('others are not, whatever their capitals', () => {
    expect(() =>
      refuseLostRoutes({ agents: TEAM, mail: { ...mail, routes: { A: ['b', 'main', 'MEMBER'] } } }, SOURCE),
    ).not.toThrow();
    expect(() => refuseLostRoutes({ agents: TEAM, mail }, SOURCE)).not.toThrow();
  });
});
