import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { itemsToTrust } from '../../../src/squad/preflight/trust.ts';
import type { TrustItem } from '../../../src/squad/preflight/trust-item.ts';
import {
  isRunTrusted,
  isTrusted,
  rememberRun,
  rememberTrust,
  trustStoreOf,
  whileRemembering,
} from '../../../src/squad/preflight/trust-store.ts';
import { parseSettings } from '../../../src/squad/settings/parse-settings.ts';
import { armFailpoints } from '../../../src/substrate/system/failpoint.ts';
import { git } from '../../support/git.ts';
import { NOW, OBJECTIVE, openBench, type Bench } from './support.ts';
import { KNOWN_NAMES } from '../../support/known-names.ts';

const WITH_COMMAND = `${OBJECTIVE}- [ ] It works (run: npm test)\n`;

/** A bench whose objective and settings bring commands along. */
function stranger(): Bench {
  const bench = openBench();
  bench.write('objective.md', WITH_COMMAND);
  bench.write('squad.yaml', 'version: 1\nverify: [{ run: make check }]\n');
  return bench;
}

/** Somebody who answers, and what they were shown. */
function person(answer: boolean) {
  const shown: (readonly TrustItem[])[] = [];
  const confirm = (items: readonly TrustItem[]): Promise<boolean> => {
    shown.push(items);
    return Promise.resolve(answer);
  };
  return { shown, ports: { confirm } };
}

afterEach(() => armFailpoints(''));

describe('what has to be agreed to', () => {
  it('says where each comes from', () => {
    const text = [
      'version: 1',
      'setup: [{ run: npm ci }]',
      'verify: [{ run: npm test }]',
      'notify: tell me',
      'runtimes:',
      '  claude: { command: ./claude, env: [ANTHROPIC_API_KEY, AWS_SECRET, https_proxy] }',
      'agents:',
      '  - { name: a, role: builder, runtime: claude, access: full, allow: ["Bash(curl:*)"] }',
      '  - { name: b, role: builder, runtime: claude }',
      'tracing: { to: otlp, endpoint: "http://a/t", content: true, headers: { key: MY_KEY } }',
    ].join('\n');
    const parsed = parseSettings(text, 'squad.yaml', KNOWN_NAMES);
    if (!parsed.ok) throw new Error(parsed.problems[0]?.message);
    const criteria = [{ text: 't', command: 'true', done: false, line: 12 }];
    const described = { claude: { variables: ['ANTHROPIC_'] } };
    expect(itemsToTrust(parsed.value, { file: 'o.md', criteria }, { file: 'squad.yaml', text }, described)).toEqual([
      { from: 'setup', run: 'npm ci', where: 'squad.yaml:2' },
      { from: 'verify', run: 'npm test', where: 'squad.yaml:3' },
      { from: 'notify', run: 'tell me', where: 'squad.yaml:4' },
      { from: 'criterion', run: 'true', where: 'o.md:12' },
      { from: 'runtime', run: 'claude: ./claude', where: 'squad.yaml:5' },
      { from: 'agent', run: 'a works without any confinement (access: full)', where: 'squad.yaml' },
      { from: 'agent', run: 'a may use Bash(curl:*)', where: 'squad.yaml' },
      { from: 'agent', run: 'claude gets the variable AWS_SECRET', where: 'squad.yaml' },
      {
        from: 'tracing',
        run: 'sends prompts, answers, and what tools were given and gave back to http://a/t',
        where: 'squad.yaml:10',
      },
      { from: 'tracing', run: 'the endpoint of traces gets the variable MY_KEY', where: 'squad.yaml:10' },
    ]);
  });
});

describe('traces', () => {
  const items = (text: string) => {
    const parsed = parseSettings(`version: 1\n${text}`, 'squad.yaml', KNOWN_NAMES);
    if (!parsed.ok) throw new Error(parsed.problems[0]?.message);
    return itemsToTrust(parsed.value, { file: 'o.md', criteria: [] }, { file: 'squad.yaml', text }, {}).map(
      ({ run }) => run,
    );
  };

  it.each([
    ['langsmith', 'sends what happens in runs to the LangSmith of your LANGSMITH_API_KEY'],
    ['otlp', 'sends what happens in runs to your OTEL_EXPORTER_OTLP_ENDPOINT'],
    ['{ to: langsmith, endpoint: "https://b" }', 'sends what happens in runs to https://b'],
  ])('of a repository: %s', (tracing, expected) => expect(items(`tracing: ${tracing}`)).toEqual([expected]));
});

describe('agreement', () => {
  it('is missing where nobody can be asked, and nothing is created', async () => {
    const bench = stranger();
    const before = bench.traces();
    const error = await bench.refusal();
    expect(error).toMatchObject({ code: 'not-trusted', exitCode: 78, next: expect.stringContaining('`--yes`') });
    expect(error.message.split('\n').slice(1)).toEqual([
      'squad.yaml:2: verify: make check',
      'objective.md:10: criterion: npm test',
    ]);
    expect(bench.traces()).toEqual(before);
  });

  it('by --yes is for this run, and remembered nowhere', async () => {
    const bench = stranger();
    const before = bench.traces();
    expect((await bench.run({ yes: true })).definition.trusted).toMatch(/^[0-9a-f]{64}$/);
    expect(bench.traces()).toEqual(before);
    expect((await bench.refusal()).code).toBe('not-trusted');
  });

  it('by a person is asked for once, until a character changes', async () => {
    const bench = stranger();
    const { shown, ports } = person(true);
    const { definition } = await bench.run({}, ports);
    expect(shown).toEqual([
      [
        { from: 'verify', run: 'make check', where: 'squad.yaml:2' },
        { from: 'criterion', run: 'npm test', where: 'objective.md:10' },
      ],
    ]);
    expect(JSON.parse(readFileSync(bench.trustFile(), 'utf8'))).toEqual({
      version: 1,
      trusted: [{ hash: definition.trusted, at: NOW }],
    });
    expect((await bench.run()).definition.trusted).toBe(definition.trusted);
    await bench.run({}, ports);
    expect(shown).toHaveLength(1);
    bench.write('squad.yaml', 'version: 1\nverify: [{ run: make  check }]\n');
    await bench.run({}, ports);
    expect(shown).toHaveLength(2);
  });

  it('holds for one repository: the same words are another program elsewhere', async () => {
    const bench = stranger();
    await bench.run({}, person(true).ports);
    const other = join(bench.root, 'other');
    git(bench.root, 'clone', '-q', bench.repository, other);
    for (const name of ['objective.md', 'squad.yaml']) {
      writeFileSync(join(other, name), readFileSync(join(bench.repository, name)));
    }
    const error = await bench.refusal({}, { host: bench.host({ workingDirectory: other }) });
    expect(error.code).toBe('not-trusted');
  });

  it('refused by a person creates nothing', async () => {
    const bench = stranger();
    const before = bench.traces();
    const { ports } = person(false);
    const error = await bench.refusal({}, ports);
    expect(error).toMatchObject({ code: 'not-trusted', message: expect.stringMatching(/^you did not consent/) });
    expect(bench.traces()).toEqual(before);
  });

  it('is not asked for where there is nothing to agree to', async () => {
    const { shown, ports } = person(false);
    await openBench().run({}, ports);
    expect(shown).toEqual([]);
  });

  it('comes last, when all else is well', async () => {
    const bench = openBench(['scripted']);
    bench.write('objective.md', WITH_COMMAND);
    expect((await bench.refusal()).message).toMatch(/no agent runtime/);
  });

  it('comes before a program of the repository is started, even to look at it', async () => {
    const bench = openBench();
    bench.write('squad.yaml', 'runtimes: { claude: { command: ./claude } }\n');
    expect((await bench.refusal()).message).toMatch(/squad\.yaml:1: runtime: claude: \.\/claude/);
    expect(bench.probed).toEqual([]);
    const { shown, ports } = person(true);
    await bench.run({}, ports);
    expect(shown).toHaveLength(1);
    expect(bench.probed).toContainEqual({
      name: 'claude',
      choice: { binary: join(bench.repository, 'claude'), allowEnvironment: [] },
    });
  });
});

describe('the trust store', () => {
  const entry = { hash: 'a', at: 1 };
  const storeIn = ({ host, repository }: Bench) =>
    trustStoreOf(host(), { root: repository, commonDirectory: join(repository, '.git') });
  const open = () => {
    const bench = openBench();
    storeIn(bench).place();
    return { ...bench, store: storeIn(bench) };
  };
  const place = (path: string, text: string, mode = 0o600) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, mode);
  };

  it('is for its owner alone, and leaves nothing else behind', async () => {
    const { store } = open();
    await rememberTrust(store, entry);
    await rememberTrust(store, { ...entry, at: 2 });
    await rememberTrust(store, { ...entry, hash: 'b' });
    expect(statSync(store.path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(store.path)).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(store.path))).toEqual(['place.json', 'trust.json']);
    expect(JSON.parse(readFileSync(store.path, 'utf8'))).toEqual({
      version: 1,
      trusted: [
        { ...entry, at: 2 },
        { ...entry, hash: 'b' },
      ],
    });
    expect(await isTrusted(store, 'b')).toBe(true);
    expect(await isTrusted(storeIn(openBench()), 'b')).toBe(false);
    expect(await isTrusted(store, 'c')).toBe(false);
  });

  it('is whole when writing it breaks off', async () => {
    const { store } = open();
    await rememberTrust(store, entry);
    armFailpoints('trust.before-rename=throw');
    await expect(rememberTrust(store, { ...entry, hash: 'b' })).rejects.toMatchObject({ code: 'storage-refused' });
    expect(await isTrusted(store, entry.hash)).toBe(true);
    expect(await isTrusted(store, 'b')).toBe(false);
    expect(readdirSync(dirname(store.path))).toEqual(['place.json', 'trust.json']);
  });

  it.each(['', 'nonsense', '{"version":2,"trusted":[]}', '{"version":1,"trusted":[{"hash":"a"}]}'])(
    'is not guessed at, and not overwritten: %j',
    async (text) => {
      const { store } = open();
      place(store.path, text);
      await expect(isTrusted(store, entry.hash)).rejects.toMatchObject({ code: 'bad-input' });
      await expect(rememberTrust(store, entry)).rejects.toMatchObject({ code: 'bad-input' });
      expect(readFileSync(store.path, 'utf8')).toBe(text);
    },
  );

  it.each([0o620, 0o602])('is nobody’s word if others can write it: %o', async (mode) => {
    const { store } = open();
    place(store.path, JSON.stringify({ version: 1, trusted: [entry] }), mode);
    await expect(isTrusted(store, entry.hash)).rejects.toMatchObject({ code: 'wrong-environment' });
  });

  it('keeps the newest thousand', async () => {
    const { store } = open();
    const trusted = Array.from({ length: 1_000 }, (_, index) => ({ ...entry, hash: `old-${index}` }));
    place(store.path, JSON.stringify({ version: 1, trusted }));
    await rememberTrust(store, entry);
    expect(await isTrusted(store, 'old-0')).toBe(false);
    expect(await isTrusted(store, 'old-1')).toBe(true);
    expect(await isTrusted(store, entry.hash)).toBe(true);
  });

  it('keeps the consents of more runs than a thousand, because they may all wait in the queue', async () => {
    const { store } = open();
    const runs = Array.from({ length: 3_000 }, (_, index) => ({ ...entry, run: `run-${index}` }));
    // As an earlier version wrote it.
    place(store.path, JSON.stringify({ version: 1, trusted: [], runs }));
    await rememberRun(store, { ...entry, run: 'newest' });
    for (const run of ['run-0', 'newest']) expect(await isRunTrusted(store, run, entry.hash)).toBe(true);
  });

  it('adds a run as a line, keeps all others, and counts none that was cut short', async () => {
    const { store } = open();
    await rememberRun(store, { ...entry, run: 'one' });
    await rememberTrust(store, { ...entry, hash: 'b' });
    const before = readFileSync(store.path, 'utf8');
    await rememberRun(store, { ...entry, run: 'two' });
    const after = readFileSync(store.path, 'utf8');
    expect(after.startsWith(before)).toBe(true);
    for (let cut = before.length; cut < after.length; cut += 1) {
      place(store.path, after.slice(0, cut));
      expect(await isRunTrusted(store, 'two', entry.hash)).toBe(false);
      expect(await isRunTrusted(store, 'one', entry.hash)).toBe(true);
      expect(await isTrusted(store, 'b')).toBe(true);
    }
    await rememberRun(store, { ...entry, run: 'three' });
    for (const run of ['one', 'three']) expect(await isRunTrusted(store, run, entry.hash)).toBe(true);
    place(store.path, `${after}nonsense\n`);
    await expect(isRunTrusted(store, 'one', entry.hash)).rejects.toMatchObject({ code: 'bad-input' });
    place(store.path, after, 0o620);
    await expect(rememberRun(store, { ...entry, run: 'four' })).rejects.toMatchObject({ code: 'wrong-environment' });
    expect(readFileSync(store.path, 'utf8')).toBe(after);
  });

  it('keeps consents at once while other processes wait, and leaves the errors of the work there alone', async () => {
    const { store } = open();
    const others: Promise<void>[] = [];
    const said = await whileRemembering(store, (remember) => {
      others.push(rememberRun(store, { ...entry, run: 'other' }));
      remember({ ...entry, run: 'one' });
      return readFileSync(store.path, 'utf8');
    });
    expect(said).toContain('"run":"one"');
    await Promise.all(others);
    for (const run of ['one', 'other']) expect(await isRunTrusted(store, run, entry.hash)).toBe(true);
    const fails = whileRemembering(store, () => {
      throw new Error('of the work');
    });
    await expect(fails).rejects.toThrow(/^of the work$/);
  });

  it('does the work all the same where the store cannot be written', async () => {
    const { store } = open();
    armFailpoints('trust.before-rename=throw');
    const work = whileRemembering(store, (remember) => {
      remember({ ...entry, run: 'one' });
      return 'done';
    });
    expect(await work).toBe('done');
    armFailpoints('');
    expect(await isRunTrusted(store, 'one', entry.hash)).toBe(false);
  });

  it('loses no run of many that are added at once', async () => {
    const { store } = open();
    const names = Array.from({ length: 40 }, (_, index) => `run-${index}`);
    await Promise.all(names.map(async (run) => rememberRun(store, { ...entry, run })));
    for (const run of names) expect(await isRunTrusted(store, run, entry.hash)).toBe(true);
  });
});
