import { describe, expect, it } from 'vitest';
import { compose } from '../../../src/engine/compose.ts';
import { readReload } from '../../../src/squad/preflight/reload.ts';
import { git } from '../../support/git.ts';
import { tokenSamples } from '../../security/tokens.ts';
import { OBJECTIVE, openBench, type Bench } from './support.ts';

const TOKEN = tokenSamples()['github token']?.token ?? '';
const KNOWN = 'c4n4ry-known-1';
const LET_THROUGH = 'c4n4ry-let-through';
const RUNTIMES = 'runtimes: { claude: { env: [PLAIN] } }\n';

function benchWith(files: Readonly<Record<string, string>>): Bench {
  const bench = openBench();
  for (const [name, text] of Object.entries(files)) bench.write(name, text);
  return bench;
}

function hostOf(bench: Bench) {
  const host = bench.host();
  const environment = { ...host.environment, MY_TOKEN: KNOWN, PLAIN: LET_THROUGH };
  return { ...host, environment };
}

const run = async (bench: Bench) => bench.run({ yes: true }, { host: hostOf(bench) });
const refusal = async (bench: Bench, name?: string) =>
  bench.refusal({ yes: true, ...(name === undefined ? {} : { name }) }, { host: hostOf(bench) });

describe('a secret in a text', () => {
  it('is not in what is stored of the objective and the instructions, and a warning says so', async () => {
    const bench = benchWith({
      'objective.md': `${OBJECTIVE}\n## Context\n\n${KNOWN} ${LET_THROUGH}\n${TOKEN}\n`,
      'role.md': `Use ${TOKEN}.\n`,
      'squad.yaml': `${RUNTIMES}agents:\n  - { name: bob, role: builder, runtime: claude, instructions: role.md }\n  - { name: pia, role: planner, runtime: claude }\n  - { name: rex, role: reviewer, runtime: claude }\n`,
    });
    const { definition, warnings } = await run(bench);
    const stored = JSON.stringify(definition);
    for (const secret of [KNOWN, LET_THROUGH, TOKEN]) expect(stored).not.toContain(secret);
    expect(definition.objective.text).toContain('[redacted] [redacted]\n[redacted]\n');
    expect(definition.objective.context).toContain('[redacted]');
    expect(definition.agents[0]?.instructions).toContain('Use [redacted].');
    expect(warnings.filter(({ about }) => about === 'secret').map(({ text }) => text)).toEqual([
      expect.stringContaining('objective.md'),
      expect.stringContaining('the instructions of bob'),
    ]);
  });

  it('in the title is not in the name of the run', async () => {
    const { definition } = await run(
      benchWith({ 'objective.md': OBJECTIVE.replace('Let people log in', `Use ${TOKEN}`) }),
    );
    expect(definition.name).toBe('use-redacted');
  });

  it('nothing is said of a file without one', async () => {
    const { warnings } = await run(openBench());
    expect(warnings.filter(({ about }) => about === 'secret')).toEqual([]);
  });
});

it('a secret in commands that are read again is refused as well', async () => {
  const bench = openBench();
  const { definition } = await run(bench);
  bench.write('squad.yaml', `${RUNTIMES}verify: [{ run: "echo ${LET_THROUGH}" }]\n`);
  const host = hostOf(bench);
  const reload = readReload({ ...compose(host), host }, definition, definition.limits, {
    ...{ repository: { root: '/r', commonDirectory: '/r/.git' }, yes: true },
  });
  await expect(reload).rejects.toThrow(/verify\[0\]\.run holds a secret/);
});

describe('a secret in what has to stay as it is', () => {
  it.each([
    [
      'a criterion’s command',
      { 'objective.md': OBJECTIVE.replace('form is there', `form (run: \`curl -H ${TOKEN}\`)`) },
      /^objective\.md:9: the command holds a secret/m,
    ],
    [
      'setup',
      { 'squad.yaml': `version: 1\nsetup: [{ run: "npm ci --token ${KNOWN}" }]\n` },
      /^squad\.yaml:2: setup\[0\]\.run holds a secret/m,
    ],
    [
      'verify',
      { 'squad.yaml': `${RUNTIMES}verify:\n  - run: echo ${LET_THROUGH}\n` },
      /^squad\.yaml:2: verify\[0\]\.run holds/m,
    ],
    [
      'a model',
      { 'squad.yaml': `agents: [{ name: a, role: builder, runtime: claude, model: ${TOKEN} }]\n` },
      /agents\[0\]\.model holds/,
    ],
    [
      'a runtime’s configuration',
      { 'squad.yaml': `runtimes: { codex: { config: { key: ${TOKEN} } } }\n` },
      /runtimes\.codex\.config\.key holds/,
    ],
  ])('is refused, and not repeated: %s', async (_what, files, expected) => {
    const error = await refusal(benchWith(files));
    expect(error.code).toBe('bad-input');
    expect(error.message).toMatch(expected);
    for (const secret of [KNOWN, LET_THROUGH, TOKEN]) expect(error.message + (error.next ?? '')).not.toContain(secret);
  });

  it('is refused as the name of the run', async () => {
    expect((await refusal(openBench(), KNOWN)).message).toMatch(/^--name holds a secret/);
  });

  it('is refused in the name of the branch', async () => {
    const bench = openBench();
    git(bench.repository, 'switch', '--quiet', '--create', `fix/${KNOWN}`);
    expect((await refusal(bench)).message).toContain('branch that you are on holds a secret');
  });

  it('a local database with its usual password is none', async () => {
    const url = 'postgres://postgres:postgres@localhost:5432/test';
    const { definition } = await run(
      benchWith({ 'squad.yaml': `verify: [{ run: "DATABASE_URL=${url} npm test" }]\n` }),
    );
    expect(definition.verify[0]?.run).toContain(url);
  });
});
