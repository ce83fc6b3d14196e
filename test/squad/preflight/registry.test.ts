import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compose, type Additions, type RuntimeFactory } from '../../../src/engine/compose.ts';
import { factsOf } from '../../../src/rules/run-facts.ts';
import { isSquadError } from '../../../src/model/errors.ts';
import type { Playbook } from '../../../src/model/plan.ts';
import { BUILT_IN_PLAYBOOKS } from '../../../src/model/playbook-name.ts';
import type { RuntimeDescription } from '../../../src/model/runtime-description.ts';
import { runDefinitionSchema } from '../../../src/model/run.ts';
import { createPlaybook, settingsSections } from '../../../src/playbooks/registry.ts';
import { plainJson } from '../../../src/text/json.ts';
import { KNOWN_RUNTIMES } from '../../../src/model/runtime-name.ts';
import { testHost } from '../../support/test-host.ts';
import { openBench } from './support.ts';

const runtime =
  (name: string, description: RuntimeDescription = {}): RuntimeFactory =>
  () => ({
    portVersion: 1,
    name,
    description,
    probe: () => Promise.resolve({ ok: true, login: 'ok', sandbox: 'none', problems: [] }),
    start: () => {
      throw new Error('no turn may start');
    },
    attach: () => {
      throw new Error('no turn may start');
    },
  });

function playbook(name: string, more: Partial<Playbook<null>> = {}): () => Playbook<null> {
  return () => ({
    name,
    roles: {
      writer: { delivers: 'each', instructions: 'Your role is writer: write pages.' },
      critic: { delivers: 'none', judges: true },
    },
    parse: () => ({ ok: true, input: null }),
    plan: () => [],
    advance: () => [],
    tools: () => [],
    ...more,
  });
}

const SECTION = {
  schema: z.strictObject({ folder: z.string(), pages: z.int().max(9).default(3) }),
  example: 'pages: { folder: docs, pages: 3 }',
};
const PAGES = playbook('pages', {
  settings: SECTION,
  options: ({ section, limits }) => plainJson({ section: section ?? null, rounds: limits.reviewRounds }),
});

function composed(additions: Additions) {
  const { runtimes, describe: say, playbooks } = compose(testHost('/nowhere'), additions);
  return { runtimes, describe: say, playbooks };
}

function refusalOf(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (isSquadError(error)) return { code: error.code, message: error.message, next: error.next };
    throw error;
  }
  return undefined;
}

describe('a name that an application registers', () => {
  it.each<[string, Additions, string]>([
    ['a runtime of squad', { runtimes: { codex: runtime('codex') } }, 'the runtime codex is part of squad'],
    ['the engine’s own runtime', { runtimes: { check: runtime('check') } }, 'the runtime check is part of squad'],
    ['no name of a runtime', { runtimes: { 'My One': runtime('My One') } }, '"My One" cannot name a runtime'],
    ['a playbook of squad', { playbooks: { council: playbook('council') } }, 'the playbook council is part of squad'],
    ['no name of a playbook', { playbooks: { '../pages': PAGES } }, '"../pages" cannot name a playbook'],
  ])('is refused if it is %s', (_about, additions, message) => {
    const refusal = refusalOf(() => compose(testHost('/nowhere'), additions));
    expect(refusal).toMatchObject({ code: 'bad-input', message: expect.stringContaining(message) });
    expect(refusal?.next).toMatch(/\.$/);
  });

  it('has to be the name that the runtime or playbook has itself', () => {
    const { runtime: make } = compose(testHost('/nowhere'), { runtimes: { mine: runtime('yours') } });
    expect(refusalOf(() => make('mine'))?.message).toBe('the runtime registered as mine calls itself yours');
    const own = { pages: playbook('papers') };
    expect(refusalOf(() => createPlaybook(own, 'pages'))?.message).toBe(
      'the playbook registered as pages calls itself papers',
    );
  });

  it('is no key of squad.yaml if the playbook has settings', () => {
    const limits = playbook('limits', { settings: SECTION });
    expect(refusalOf(() => settingsSections({ limits }))).toMatchObject({ code: 'bad-input' });
    expect(Object.keys(settingsSections({ pages: PAGES }))).toEqual(['council', 'objective', 'sprint', 'pages']);
  });

  it.each(BUILT_IN_PLAYBOOKS)('is %s, whose section of squad.yaml is its own', (name) => {
    expect(settingsSections({})[name]).toBe(createPlaybook({}, name)?.settings);
  });

  it('is found with those of squad, and any other is not', () => {
    const {
      runtimes,
      runtime: make,
      transcript,
    } = compose(testHost('/nowhere'), { runtimes: { mine: runtime('mine') } });
    expect(Object.keys(runtimes)).toEqual(['mine', ...KNOWN_RUNTIMES]);
    expect(make('mine').name).toBe('mine');
    expect([transcript('mine'), transcript('nobody'), transcript('constructor')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(transcript('codex')).toBeInstanceOf(Function);
    expect(refusalOf(() => make('min'))).toEqual({
      code: 'usage',
      message: 'no runtime is called min; did you mean mine?',
      next: `Use one of these: mine, ${KNOWN_RUNTIMES.join(', ')}.`,
    });
  });
});

describe('preflight with a runtime and a playbook from outside', () => {
  const ports = composed({ runtimes: { mine: runtime('mine') }, playbooks: { pages: PAGES } });

  it('casts the playbook’s roles, with its instructions, options and judges', async () => {
    const bench = openBench(['mine', 'codex']);
    bench.write('squad.yaml', 'playbook: pages\npages: { folder: docs }\n');
    const { definition } = await bench.run({}, ports);
    expect(definition).toMatchObject({
      playbook: 'pages',
      options: { section: { folder: 'docs', pages: 3 }, rounds: 4 },
      judges: ['reviewer', 'critic'],
      agents: [
        { name: 'writer', runtime: 'mine', access: { level: 'edit' } },
        { name: 'critic', runtime: 'codex', access: { level: 'read-only' } },
      ],
    });
    expect(definition.agents[0]?.instructions).toContain('Your role is writer: write pages.');
    expect(runDefinitionSchema.parse(JSON.parse(JSON.stringify(definition)))).toEqual(definition);
    expect(factsOf(definition).judges).toEqual(['reviewer', 'critic']);
  });

  it.each([
    [
      'pages: { folder: docs, page: 3 }',
      /squad\.yaml:1:\d+: unknown key “page” in pages; did you mean “pages”\?[^]*pages: \{ folder: docs, pages: 3 \}/,
    ],
    ['page: { folder: docs }', /unknown key “page”; did you mean “pages”\?/],
    [
      'agents: [{ name: a, role: writer, runtime: mins }]',
      /agents\[0\]\.runtime must be mine, claude, codex, .+, not “mins”; did you mean “mine”\?/,
    ],
    ['runtimes: { mime: {} }', /unknown key “mime” in runtimes; did you mean “mine”\?/],
    ['runtimes: { mine: { fallback: coda } }', /runtimes\.mine\.fallback must be mine, claude, codex, /],
    [
      'playbook: page',
      /no playbook is called “page”; did you mean “pages”\? available: delivery, solo, best-of, objective, council, pages/,
    ],
    [
      'playbook: pages\nagents: [{ name: a, role: writer, runtime: mine, access: read-only }]',
      /squad\.yaml:2: a is to work as writer, and may change nothing/,
    ],
  ])('refuses %j', async (text, message) => {
    const bench = openBench(['mine']);
    bench.write('squad.yaml', text);
    const refusal = await bench.refusal({}, ports);
    expect(refusal).toMatchObject({ code: 'bad-input', message: expect.stringMatching(message) });
  });

  it('treats the runtime by what it says of itself, and keeps that with the run', async () => {
    const own = { login: 'mine login', reportsCost: false };
    const told = composed({
      runtimes: {
        mine: runtime('mine', { ...own, variables: ['MINE_'], configFiles: { rules: 'Write the rules.' } }),
        toy: runtime('toy', { onlyByName: true }),
      },
    });
    const bench = openBench(['mine', 'toy', 'scripted']);
    bench.write('rules.txt', '');
    bench.write('squad.yaml', 'runtimes:\n  mine: { env: [MINE_KEY], config: { rules: ./rules.txt } }\n');
    const { definition, warnings } = await bench.run({ yes: true }, told);
    expect(new Set(definition.agents.map((agent) => agent.runtime))).toEqual(new Set(['mine']));
    expect(definition.runtimes['mine']?.config).toEqual({ rules: join(bench.repository, 'rules.txt') });
    expect(definition.described).toMatchObject({ mine: own, toy: { onlyByName: true }, codex: { reportsCost: false } });
    expect(warnings.map(({ text }) => text).join()).toContain('mine does not report cost');

    bench.write('squad.yaml', 'runtimes:\n  mine: { env: [MINE_KEY, HIS_KEY], config: { other: 1 } }\n');
    const untold = await bench.refusal({}, told);
    expect(untold.message).toContain('mine gets the variable HIS_KEY');
    expect(untold.message).not.toContain('MINE_KEY');
    expect(await bench.refusal({ yes: true }, told)).toMatchObject({
      code: 'bad-input',
      message: expect.stringMatching(/squad\.yaml:1: runtimes\.mine\.config\.rules is missing/),
      next: 'Write the rules.',
    });
  });

  it('refuses an unknown runtime of the caller before it reads anything', async () => {
    const bench = openBench();
    bench.write('squad.yaml', 'version: 9\n');
    expect(await bench.refusal({ runtime: 'kodex' }, ports)).toMatchObject({
      code: 'usage',
      message: 'no runtime is called kodex; did you mean codex?',
    });
  });

  it('takes the playbook of the caller only where no file names one', async () => {
    const bench = openBench();
    const chosen = async () => (await bench.run({ otherwise: 'council' }, ports)).definition.playbook;
    expect(await chosen()).toBe('council');
    bench.write('squad.yaml', 'playbook: delivery\n');
    expect(await chosen()).toBe('delivery');
  });
});

describe('an agent of the Agent Client Protocol', () => {
  it('is made by its whole name, and once settings say how it starts where squad does not know it', () => {
    const composition = compose(testHost('/nowhere'));
    expect(composition.runtime('acp/gemini').name).toBe('acp/gemini');
    expect(composition.runtime('acp/mine', { binary: '/bin/mine' }).name).toBe('acp/mine');
    expect(composition.describe('acp/mine')).toMatchObject({ onlyByName: true, reportsCost: false });
    expect(() => composition.runtime('acp/gemni')).toThrow('no runtime is called acp/gemni; did you mean acp/gemini?');
    expect(() => compose(testHost('/nowhere'), { runtimes: { acp: () => composition.runtime('claude') } })).toThrow(
      'the runtime acp is part of squad',
    );
  });
});
