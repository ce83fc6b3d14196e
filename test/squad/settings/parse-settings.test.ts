import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { settingsSchema, settingsSchemaFor, type Settings } from '../../../src/model/settings.ts';
import { defaultSettings, parseSettings } from '../../../src/squad/settings/parse-settings.ts';
import { KNOWN_NAMES } from '../../support/known-names.ts';

function settings(text: string): Settings {
  const result = parseSettings(text, 'squad.yaml', KNOWN_NAMES);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return settingsSchemaFor(KNOWN_NAMES).parse(result.value);
}

function problems(text: string): string[] {
  const result = parseSettings(text, 'squad.yaml', KNOWN_NAMES);
  return result.ok ? [] : result.problems.map(({ line, column, message }) => `${line}:${column ?? ''} ${message}`);
}

describe('squad.yaml', () => {
  it('may be empty, and then says what holds without it', () => {
    expect(defaultSettings()).toEqual({
      version: 1,
      baseline: 'report',
      folders: 'reuse',
      sparse: [],
      repositories: [],
      env: [],
      copy: [],
      keep: {},
      protect: [],
      review: { looks: 'reported' },
      checks: 'now',
      models: {},
      runtimes: {},
      limits: {
        minutes: 480,
        usd: 20,
        turns: 200,
        parallel: 6,
        reviewRounds: 4,
        retries: 2,
        idleMinutes: 10,
        turnMinutes: 60,
        firstToolSeconds: 120,
        freeDisk: 2,
        unreplicated: 10,
        walls: ['retry', 'workspace-reset', 'fail'],
      },
      setup: [],
      strict: false,
      serve: { limits: {} },
      verify: [],
      team: { members: 4, windowName: 'team-{session}-{role}' },
      mail: { locale: 'en', ttlMinutes: 1440 },
    });
    for (const text of ['', '\n# nothing yet\n', '---\n', 'limits:\nagents:\n', '\ufeffversion: 1\r\n']) {
      expect(settings(text)).toEqual(defaultSettings());
    }
  });

  it('is documented with an example that is read as it says', () => {
    const document = readFileSync(new URL('../../../docs/settings.md', import.meta.url), 'utf8');
    const example = /```yaml\n([^]*?)```/.exec(document)?.[1] ?? '';
    expect(settings(example)).toEqual({
      ...defaultSettings(),
      sparse: ['packages/web'],
      playbook: 'delivery',
      env: ['DATABASE_URL'],
      copy: ['.env', 'config/*.local'],
      keep: { output: '30d', refs: '90d', runs: 'all', paths: ['node_modules'] },
      protect: ['tests/**'],
      review: { looks: 'required' },
      checks: 'base',
      notify: 'notify-send squad "$SQUAD_TEXT"',
      agents: [
        { name: 'planner', role: 'planner', runtime: 'claude', access: 'read-only' },
        {
          name: 'builder-1',
          role: 'builder',
          runtime: 'claude',
          model: 'sonnet',
          access: 'edit',
          instructions: 'docs/agents/builder.md',
          allow: ['Bash(npm test:*)'],
          limits: { usd: 5, turns: 40, parallel: 2, turnMinutes: 30 },
        },
        { name: 'builder-2', role: 'builder', runtime: 'codex', access: 'edit' },
      ],
      models: { planner: 'opus' },
      runtimes: {
        claude: { command: 'claude', env: ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'], fallback: 'codex' },
        codex: { command: 'codex', env: ['CODEX_API_KEY'], config: { model_provider: 'mine' } },
      },
      limits: { ...defaultSettings().limits, tokens: 5_000_000, task: { usd: 4, turns: 30 } },
      setup: [{ run: 'npm ci', minutes: 10, reuse: 'node_modules', when: ['package.json', 'package-lock.json'] }],
      verify: [{ run: 'npm test', minutes: 10 }],
      schedules: [
        {
          name: 'nightly',
          cron: '0 2 * * *',
          timezone: 'Europe/Berlin',
          objective: 'nightly.md',
          skipIf: 'unchanged',
        },
      ],
      serve: {
        timezone: 'Europe/Berlin',
        limits: { usdPerDay: 50, turnsPerDay: 500, runsPerDay: 20, parallelRuns: 2, parallelTurns: 6 },
      },
      plan: 'ask',
      publish: { remote: 'origin', base: 'main', pr: false },
      tracing: { to: 'otlp', endpoint: 'http://localhost:4318/v1/traces', content: false },
    });
    const documented = [...document.matchAll(/`(\w+)`/g)].map((match) => match[1]);
    for (const key of [
      ...Object.keys(settingsSchemaFor(KNOWN_NAMES).shape),
      ...Object.keys(settingsSchema.shape.limits.unwrap().shape),
    ]) {
      expect(documented).toContain(key);
    }
  });

  it('keeps a playbook that is a mapping as it is', () => {
    const { playbook } = settings('playbook:\n  stages: [{ id: A, by: [builder], brief: Do it., makes: code }]\n');
    expect(playbook).toEqual({ stages: [{ id: 'A', by: ['builder'], brief: 'Do it.', makes: 'code' }] });
  });

  it('reads YAML 1.2: no is a word, and so is half past twelve', () => {
    expect(
      settings('runtimes: { codex: { config: { a: no, b: 12:30, c: 010, d: true } } }').runtimes.codex?.config,
    ).toEqual({
      a: 'no',
      b: '12:30',
      c: 10,
      d: true,
    });
  });

  it('takes the name of a sink for its mapping, and says which there are', () => {
    expect(settings('tracing: langsmith').tracing).toEqual({ to: 'langsmith', content: false });
    const wrong = parseSettings('version: 1\ntracing: jaeger\n', 'squad.yaml', KNOWN_NAMES);
    const message = 'tracing: “jaeger” names no sink; there are langsmith and otlp';
    expect(wrong).toMatchObject({ ok: false, problems: [{ line: 2, message }] });
  });

  it('fills in what publish leaves out, and pushes nothing without it', () => {
    expect(settings('publish: {}').publish).toEqual({ remote: 'origin', pr: false });
    expect(settings('').publish).toBeUndefined();
  });
});

const AGENT = 'agents: [{ name: a, role: b, runtime: claude';
const SLUG = 'needs lower-case letters, digits and dashes, starting with a letter, at most 32 characters';
const HIDDEN =
  'the command holds invisible characters; it is shown before it runs, so everything in it must be visible';

describe('what squad.yaml refuses', () => {
  it.each<[string, string[]]>([
    ['version: 1\nlimts: {}', ['2:1 unknown key “limts”; did you mean “limits”?']],
    ['limits: { paralel: 3 }', ['1:11 unknown key “paralel” in limits; did you mean “parallel”?']],
    ['limits: { Minutes: 3 }', ['1:11 unknown key “Minutes” in limits; did you mean “minutes”?']],
    [
      'council: { document: ../a.md, reviewHours: 1 }',
      [
        '1:22 council.document: “../a.md” needs a path inside the repository, from its root, without “..”, backslash or colon',
        '1:31 unknown key “reviewHours” in council; known keys: document, reviewMinutes, assignMinutes',
      ],
    ],
    ['mail: { color: x }', ['1:9 unknown key “color” in mail; known keys: locale, ttlMinutes, routes']],
    [
      `${AGENT}, powers: [x] }]`,
      [
        '1:47 unknown key “powers” in agents[0]; known keys: name, role, runtime, model, access, commits, instructions, allow, limits, effort, network, deny, skills, mcp, hooks, env, home, ask',
      ],
    ],
    ['runtimes: { cluade: {} }', ['1:13 unknown key “cluade” in runtimes; did you mean “claude”?']],
    [
      'runtimes: { claude: { args: [] } }',
      ['1:23 unknown key “args” in runtimes.claude; known keys: command, env, fallback, config'],
    ],
    ['setup: [{ run: a, minute: 3 }]', ['1:19 unknown key “minute” in setup[0]; did you mean “minutes”?']],
    ['version: 2', ['1:10 version must be 1, not 2']],
    ['limits: { minutes: -1 }', ['1:20 limits.minutes must be more than 0']],
    ['limits: { retries: -1 }', ['1:20 limits.retries must be at least 0']],
    ['limits: { turns: 1.5 }', ['1:18 limits.turns must be a whole number, not 1.5']],
    ['limits: { usd: "20" }', ['1:16 limits.usd must be a number, not “20”']],
    ['limits: { usd: }', ['1:16 limits.usd must be a number, not empty']],
    ['limits: { minutes: 99999 }', ['1:20 limits.minutes may have at most 20160']],
    ['limits: { usd: .inf }', ['1:16 a finite number is needed here']],
    ['limits: { task: { turn: 3 } }', ['1:19 unknown key “turn” in limits.task; did you mean “turns”?']],
    [
      'limits: { task: { rounds: 3, retries: 1 } }',
      [
        '1:19 unknown key “rounds” in limits.task: set limits.reviewRounds, which holds for each task',
        '1:30 unknown key “retries” in limits.task: set limits.retries, which holds for each task',
      ],
    ],
    [
      'serve: { timezone: Asia/Seul }',
      ['1:20 serve.timezone: “Asia/Seul” is no time zone, such as Europe/Berlin or UTC'],
    ],
    ['serve: { limits: { usdPerDay: 0 } }', ['1:31 serve.limits.usdPerDay must be more than 0']],
    ['serve: { limits: { runsPerDay: 1.5 } }', ['1:32 serve.limits.runsPerDay must be a whole number, not 1.5']],
    ['serve: { limits: { usdPerDy: 5 } }', ['1:20 unknown key “usdPerDy” in serve.limits; did you mean “usdPerDay”?']],
    ['limits: { task: { usd: 0 } }', ['1:24 limits.task.usd must be more than 0']],
    [
      `${AGENT}, limits: { tokns: 5, minutes: 0 } }]`,
      [
        '1:57 unknown key “tokns” in agents[0].limits; did you mean “tokens”?',
        '1:76 agents[0].limits.minutes must be more than 0',
      ],
    ],
    ['limits: 3', ['1:9 limits must be a mapping, not 3']],
    ['agents: []', ['1:9 agents is empty; leave the key out instead']],
    ['agents: [{ name: a }]', ['1:10 agents[0].role is missing', '1:10 agents[0].runtime is missing']],
    [
      'agents:\n  - { name: A, role: ../b, runtime: claude }',
      [`2:13 agents[0].name: “A” ${SLUG}`, `2:22 agents[0].role: “../b” ${SLUG}`],
    ],
    [
      'agents: [{ name: a, role: b, runtime: claud }]',
      ['1:39 agents[0].runtime must be claude, codex, antigravity or scripted, not “claud”; did you mean “claude”?'],
    ],
    [
      'agents: [{ name: a, role: b, runtime: gemini }]',
      ['1:39 agents[0].runtime must be claude, codex, antigravity or scripted, not “gemini”'],
    ],
    [`${AGENT}, access: write }]`, ['1:55 agents[0].access must be read-only, edit or full, not “write”']],
    [
      `${AGENT}, model: --yolo }]`,
      ['1:54 agents[0].model: “--yolo” needs a model’s name: no spaces, starting with a letter or digit'],
    ],
    [
      'agents:\n  - { name: a, role: b, runtime: claude }\n  - { name: c, role: b, runtime: claude }\n  - { name: a, role: b, runtime: codex }',
      ['4:13 agents[2].name: “a” is the name of agents[0] already; each agent needs its own'],
    ],
    [
      'runtimes:\n  claude:\n    fallback: claude',
      ['3:15 runtimes.claude.fallback: a runtime cannot stand in for itself; name another one or leave it out'],
    ],
    [
      'runtimes: { claude: { fallback: codx } }',
      [
        '1:33 runtimes.claude.fallback must be claude, codex, antigravity or scripted, not “codx”; did you mean “codex”?',
      ],
    ],
    ['runtimes: { claude: { env: { KEY: secret } } }', ['1:28 runtimes.claude.env must be a list, not a mapping']],
    [
      'runtimes: { claude: { env: [KEY=secret] } }',
      ['1:29 runtimes.claude.env[0] needs the name of a variable, without its value'],
    ],
    ['setup: npm ci', ['1:8 setup must be a list, not “npm ci”']],
    ['setup: [npm ci]', ['1:9 setup[0] must be a mapping, not “npm ci”']],
    ['verify: [{ minutes: 3 }]', ['1:10 verify[0].run is missing']],
    ['verify: [{ run: " " }]', ['1:17 verify[0].run: “” the command is empty']],
    ['verify: [{ run: "ls \\u202e" }]', [`1:17 verify[0].run: “ls \u202e” ${HIDDEN}`]],
    ['verify: [{ run: a, minutes: 0 }]', ['1:29 verify[0].minutes must be more than 0']],
    [
      'publish: { remote: "--upload-pack=x" }',
      ['1:20 publish.remote: “--upload-pack=x” is not a plain name that git takes'],
    ],
    ['publish: { base: "a..b" }', ['1:18 publish.base: “a..b” is not a plain name that git takes']],
    ['publish: { pr: yes }', ['1:16 publish.pr must be true or false, not “yes”']],
    [
      'team: { windowName: "{agent}" }',
      ['1:21 team.windowName: “{agent}” may hold the placeholders {session} and {role}, and no other'],
    ],
    ['playbook: [a]', ['1:11 playbook: a list is neither the name of a playbook nor a mapping that defines one']],
    ['- a', ['1: must contain settings by name: “key: value”']],
    ['just words', ['1: must contain settings by name: “key: value”']],
    ['usd: 1\nusd: 2', ['2:1 duplicate key “usd”']],
    ['limits: { usd: 1, usd: 2 }', ['1:19 duplicate key “usd”']],
    ['__proto__: { polluted: true }', ['1:1 the key “__proto__” is not allowed']],
    ['playbook:\n  __proto__: {}', ['2:3 the key “__proto__” is not allowed']],
    ['? [a]\n: b', ['1:3 a name is needed before the colon']],
    ['version: &a 1\nlimits: *a', ['2:9 an alias (“*…”) is not supported; write the value out']],
    ['version: !!int 1\nplaybook: !js/function x', ['2:11 a tag (“!…”) is not supported']],
    ['playbook: { a: !!binary aGk= }', ['1:16 a tag (“!…”) is not supported']],
    ['%YAML 1.1\n---\nversion: 1', ['1: a “%” directive is not supported']],
    ['version: 1\n---\nversion: 1', ['2:1 a second document starts here; only one is read']],
    ['limits:\n\tusd: 1', ['2:1 indented by a tab; YAML takes spaces only']],
    ['version: 1\nteam: "\n', ['3:1 is not YAML: Missing closing "quote']],
    ['version: 1\nx: \0', ['2: contains a control character; is it a text file?']],
    ['playbook: { a: "\\0" }', ['1:16 the text contains a control character']],
    ['playbook: { a: "\\ud800" }', ['1:16 the text contains a control character']],
    [`playbook: ${'['.repeat(60)}${']'.repeat(60)}`, ['1:43 nested too deeply']],
    ['['.repeat(60_000), [expect.stringMatching(/nested too deeply$/)]],
    [`#${'x'.repeat(270_000)}`, ['1: larger than 256 KiB; only settings belong in this file']],
  ])('%j', (text, expected) => {
    expect(problems(text)).toEqual(expected);
  });

  it.each(['/etc/passwd', '../x.md', 'a/../b', './a', 'a//b', 'a/', 'C:x', 'a\\b', ''])(
    'instructions at %j',
    (path) => {
      expect(problems(`${AGENT}, instructions: ${JSON.stringify(path)} }]`)).toEqual([
        `1:61 agents[0].instructions: “${path}” needs a path inside the repository, from its root, without “..”, backslash or colon`,
      ]);
    },
  );

  it('tells everything at once, in the order of the file', () => {
    const found = problems(
      'x: 1\nagents: [{ name: a, role: b, runtime: c }]\nlimits: { usd: 0 }\nruntimes: { codex: { fallback: codex } }',
    );
    expect(found.map((text) => text.split(':')[0])).toEqual(['1', '2', '3', '4']);
  });

  it('shows how it would be right', () => {
    const unknown = parseSettings('toString: 1', 'squad.yaml', KNOWN_NAMES);
    expect(unknown.ok ? '' : unknown.problems[0]?.example).toBe('version: 1\nlimits: { minutes: 480 }');
    const result = parseSettings('setup: npm ci', 'squad.yaml', KNOWN_NAMES);
    expect(result.ok ? '' : result.problems[0]?.example).toBe('setup:\n  - { run: "npm ci", minutes: 10 }');
  });
});
