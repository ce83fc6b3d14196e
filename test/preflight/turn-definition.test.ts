import { describe, expect, it } from 'vitest';
import { mailPolicyOf } from '../../src/engine/mail-policy.ts';
import { factsOf } from '../../src/graph/decisions/run-facts.ts';
import { redactorOf } from '../../src/model/redaction/redactor.ts';
import { createPlaybook, playbookNames, playbookOfRun } from '../../src/playbooks/registry.ts';
import { turnDefinition, type TurnSpec } from '../../src/preflight/turn-definition.ts';

const SECRET = 'hunter2-hunter2';
const redactor = redactorOf({ SOME_TOKEN: SECRET }, []);
const SPEC: TurnSpec = {
  prompt: 'go',
  instructions: 'You are one.',
  runtime: 'scripted',
  access: 'edit',
  env: [],
  config: { script: '/script.json' },
  minutes: 60,
  idleMinutes: 10,
  retries: 2,
};

function defined(more: Partial<TurnSpec> = {}) {
  const repository = { root: '/repository', head: 'abc', branch: 'main' };
  return turnDefinition('turn-1', { ...SPEC, ...more }, repository, redactor, {});
}

function planned(more: Partial<TurnSpec> = {}) {
  const definition = defined(more);
  const playbook = playbookOfRun({}, definition);
  if (playbook === undefined) throw new Error('no playbook');
  const parsed = playbook.parse(factsOf(definition));
  return { definition, playbook, changes: parsed.ok ? playbook.plan(parsed.input) : [] };
}

describe('the run of one turn', () => {
  it('has one task, whose prompt is what was given', () => {
    const { changes } = planned();
    expect(changes).toMatchObject([
      { do: 'add-task', task: { id: 'turn', brief: { text: 'go', verbatim: true }, requires: [], integrate: true } },
    ]);
  });

  it('asks for an answer of the given form', () => {
    const schema = { type: 'object' };
    const { changes, playbook } = planned({ schema });
    expect(changes).toMatchObject([{ task: { output: { schema: 'turn', repairs: 0 } } }]);
    expect(playbook.schemas).toEqual({ turn: schema });
  });

  it('has no mailbox', () => {
    const { definition, playbook } = planned();
    expect(mailPolicyOf(definition, playbook).members.map(({ role }) => role)).toEqual(['person']);
  });

  it('is limited by its own turns alone', () => {
    expect(defined({ retries: 0 }).limits).toMatchObject({ retries: 0, walls: ['fail'], task: { turns: 1 } });
  });

  it('stores no secret', () => {
    const { objective, agents } = defined({ prompt: `use ${SECRET}`, instructions: `never say ${SECRET}` });
    expect([objective.text, agents[0]?.instructions]).toEqual(['use [redacted]', 'never say [redacted]']);
    expect(() => defined({ config: { key: [SECRET] } })).toThrow('--config key[0] holds a secret');
  });

  it.each([
    [{ minutes: 1e20 }, 'limits.turnMinutes'],
    [{ env: ['A=b'] }, 'runtimes.scripted.env.0'],
  ])('refuses %j', (more, where) => {
    expect(() => defined(more)).toThrow(`the turn's request cannot be used: ${where}`);
  });

  it('is no playbook that somebody can choose', () => {
    expect(playbookNames({})).not.toContain('turn');
    expect(createPlaybook({}, 'turn')).toBeUndefined();
  });
});
