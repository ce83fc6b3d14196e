import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../src/model/failure.ts';
import type { Content } from '../../../src/model/content.ts';
import type { TurnRequest } from '../../../src/model/turn-request.ts';
import type { PreflightPorts } from '../../../src/squad/preflight/preflight.ts';
import type { TrustItem } from '../../../src/squad/preflight/trust-item.ts';
import { openBench, type Bench } from './support.ts';
import { ALL } from '../../support/lane.ts';

const SKILL = '---\nname: review\ndescription: How to review.\n---\nLook twice.\n';

function write(bench: Bench, path: string, text: string | Buffer, mode = 0o644): void {
  const file = join(bench.repository, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode });
}

/** squad.yaml with one agent, whose fields begin on line 6. */
function settings(bench: Bench, ...fields: string[]): void {
  const agent = ['  - name: ann', '    role: builder', '    runtime: claude', ...fields.map((field) => `    ${field}`)];
  bench.write('squad.yaml', `version: 1\nagents:\n${agent.join('\n')}\n`);
}

function texts(contents: readonly Content[]): Record<string, string> {
  const files = contents.flatMap((content) => content.files);
  return Object.fromEntries(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString('utf8')]));
}

describe('what is bound', () => {
  it('is the content of skills and of the files that commands name, by its hash', async () => {
    const bench = openBench();
    write(bench, 'docs/skills/review/SKILL.md', SKILL);
    write(bench, 'docs/skills/review/scripts/look.sh', '#!/bin/sh\n', 0o755);
    symlinkSync('look.sh', join(bench.repository, 'docs/skills/review/scripts/again.sh'));
    write(bench, 'tools/desk.mjs', 'export {};\n');
    write(bench, 'check.sh', 'true\n', 0o755);
    settings(
      bench,
      'skills: [docs/skills/review]',
      'mcp: [{ name: desk, command: node, args: [tools/desk.mjs, tools] }]',
      'hooks: [{ on: turn-ended, run: "./check.sh x.txt" }]',
      'effort: high',
      'network: true',
      'deny: ["Bash(rm:*)"]',
    );
    const { definition, contents } = await bench.run({ yes: true });
    const [agent] = definition.agents;
    expect(agent).toMatchObject({
      access: { level: 'edit', network: true },
      effort: 'high',
      deny: ['Bash(rm:*)'],
      skills: [{ name: 'review', from: 'docs/skills/review', hash: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      mcp: [{ name: 'desk', command: 'node', args: ['tools/desk.mjs', 'tools'] }],
      hooks: [{ on: 'turn-ended', run: './check.sh x.txt' }],
      files: [{ path: 'tools/desk.mjs' }, { path: 'check.sh' }],
    });
    expect(texts(contents)).toEqual({
      'review/SKILL.md': SKILL,
      'review/scripts/look.sh': '#!/bin/sh\n',
      'review/scripts/again.sh': '#!/bin/sh\n',
      'desk.mjs': 'export {};\n',
      'check.sh': 'true\n',
    });
    const named = [...(agent?.skills ?? []), ...(agent?.files ?? [])].map(({ hash }) => hash);
    expect(contents.map(({ hash }) => hash)).toEqual(named);
    expect(contents.flatMap(({ files }) => files).filter(({ executable }) => executable)).toHaveLength(3);
  });

  it('has another hash for another byte, name or mode, and the same for the same', async () => {
    const bench = openBench();
    settings(bench, 'skills: [review]');
    const hash = async () => (await bench.run()).contents[0]?.hash;
    write(bench, 'review/SKILL.md', SKILL);
    write(bench, 'review/a.sh', 'x');
    const first = await hash();
    expect(await hash()).toBe(first);
    write(bench, 'review/a.sh', 'y');
    const second = await hash();
    write(bench, 'review/b.sh', 'y');
    const third = await hash();
    expect(new Set([first, second, third]).size).toBe(3);
  });

  it('has no secret: agents read what replaces it, and a warning says so', async () => {
    const bench = openBench();
    write(bench, 'review/SKILL.md', `${SKILL}The key is hunter2hunter2.\n`);
    settings(bench, 'skills: [review]');
    const host = bench.host({
      environment: { PATH: process.env['PATH'], HOME: process.env['HOME'], DESK_TOKEN: 'hunter2hunter2' },
    });
    const { contents, warnings } = await bench.run({}, { host });
    expect(texts(contents)['review/SKILL.md']).toContain('The key is [redacted].');
    expect(warnings.map(({ text }) => text).join()).toContain('squad found a secret in review/SKILL.md');
  });
});

describe('what is refused before a run exists', () => {
  const at = (line: number, text: string) => `squad.yaml:${line}: ann: ${text}`;
  const skill = (bench: Bench) => settings(bench, 'skills: [review]');
  it.each<[string, (bench: Bench) => void, string]>([
    ['a skill that is not there', skill, at(6, 'skills[0]: review does not exist')],
    [
      'a skill at home',
      (bench) => settings(bench, 'skills: [~/skills/review]'),
      at(6, 'skills[0]: ~/skills/review does not exist; write the whole path in place of “~”'),
    ],
    [
      'a skill without a SKILL.md',
      (bench) => (skill(bench), write(bench, 'review/readme.md', 'x')),
      at(6, 'skills[0]: review has no SKILL.md'),
    ],
    [
      'a skill that is a file',
      (bench) => (skill(bench), write(bench, 'review', 'x')),
      at(6, 'skills[0]: review is not a folder'),
    ],
    [
      'a skill that no runtime could name',
      (bench) => (settings(bench, 'skills: [My_Skill]'), write(bench, 'My_Skill/SKILL.md', SKILL)),
      at(
        6,
        'skills[0]: My_Skill needs a name of lower-case letters, digits and dashes, which is the name of the skill',
      ),
    ],
    [
      'a skill without front matter',
      (bench) => (skill(bench), write(bench, 'review/SKILL.md', 'Look twice.\n')),
      'review/SKILL.md:1: does not begin with front matter that says what the skill is for',
    ],
    [
      'a skill without a description',
      (bench) => (skill(bench), write(bench, 'review/SKILL.md', '---\nname: review\n---\n')),
      'review/SKILL.md:2:1: description is missing',
    ],
    [
      'a skill with the name of another',
      (bench) => (skill(bench), write(bench, 'review/SKILL.md', SKILL.replace('review', 'reviews'))),
      'review/SKILL.md:2: name: “reviews” is not the name of the folder',
    ],
    [
      'a SKILL.md that is no UTF-8',
      (bench) => (skill(bench), write(bench, 'review/SKILL.md', Buffer.from(`${SKILL}\xff`, 'latin1'))),
      'review/SKILL.md:6: is not UTF-8 text',
    ],
    [
      'a SKILL.md that is too long',
      (bench) => (skill(bench), write(bench, 'review/SKILL.md', SKILL + 'x'.repeat(70_000))),
      'review/SKILL.md:1: is larger than 64 KiB',
    ],
    [
      'a skill with a link that leads out',
      (bench) => {
        skill(bench);
        write(bench, 'review/SKILL.md', SKILL);
        symlinkSync('/etc/passwd', join(bench.repository, 'review/users'));
      },
      at(6, 'skills[0]: review cannot be used: “users” is a link that leads out of the folder'),
    ],
    [
      'a skill with a link to nothing',
      (bench) => {
        skill(bench);
        write(bench, 'review/SKILL.md', SKILL);
        symlinkSync('gone', join(bench.repository, 'review/x'));
      },
      at(6, 'skills[0]: review cannot be used: “x” is a link to nothing'),
    ],
    [
      'a skill that is itself a link out of the repository',
      (bench) => (skill(bench), symlinkSync('/etc', join(bench.repository, 'review'))),
      at(6, 'skills[0]: review is a link to a place outside the repository'),
    ],
    [
      'a skill of too many bytes',
      (bench) => (
        skill(bench),
        write(bench, 'review/SKILL.md', SKILL),
        write(bench, 'review/big', Buffer.alloc(5_300_000))
      ),
      at(6, 'skills[0]: review is larger than 5 MiB'),
    ],
    [
      'a skill of too many files',
      (bench) => {
        skill(bench);
        for (let number = 0; number < 501; number += 1) write(bench, `review/${number}`, '');
      },
      at(6, 'skills[0]: review has more than 500 files'),
    ],
    [
      'a name that is no UTF-8',
      (bench) => {
        skill(bench);
        write(bench, 'review/SKILL.md', SKILL);
        writeFileSync(Buffer.concat([Buffer.from(join(bench.repository, 'review/x')), Buffer.from([0xff])]), '');
      },
      at(6, 'skills[0]: review cannot be used: “x\ufffd” has a name that is not UTF-8'),
    ],
    [
      'a variable that is not set',
      (bench) => settings(bench, 'effort: low', 'env: [NO_SUCH_VARIABLE]'),
      at(7, 'env[0]: the variable NO_SUCH_VARIABLE is not set'),
    ],
    [
      'a variable of a server that is not set',
      (bench) =>
        settings(
          bench,
          'mcp:',
          '  - { name: desk, command: node }',
          '  - { name: web, url: "https://example.org", headers: { A: NO_SUCH_VARIABLE } }',
        ),
      at(8, 'mcp[1].headers.A: the variable NO_SUCH_VARIABLE is not set'),
    ],
    [
      'a server that is not on PATH',
      (bench) => settings(bench, 'mcp: [{ name: desk, command: no-such-program }]'),
      at(6, 'mcp[0].command: no-such-program is not on PATH'),
    ],
    [
      'a server that is no program',
      (bench) => settings(bench, 'mcp: [{ name: desk, command: /etc/passwd }]'),
      at(6, 'mcp[0].command: /etc/passwd is not a program'),
    ],
    [
      'a server of the repository that is not there',
      (bench) => settings(bench, 'mcp: [{ name: desk, command: ./tools/desk }]'),
      at(6, 'mcp[0]: tools/desk is not a file of the repository'),
    ],
    [
      'a hook of the repository that is not there',
      (bench) => settings(bench, 'hooks: [{ on: turn-ended, run: tools/check.sh }]'),
      at(6, 'hooks[0]: tools/check.sh is not a file of the repository'),
    ],
    [
      'a hook’s file that is not there',
      (bench) => settings(bench, 'hooks: [{ on: turn-ended, run: sh "tools/check.sh" }]'),
      at(6, 'hooks[0]: tools/check.sh is not a file of the repository, and the command starts in another folder'),
    ],
    [
      'a hook that goes into a folder of the agent’s',
      (bench) => settings(bench, 'hooks: [{ on: turn-ended, run: "cd tools && sh check.sh" }]'),
      at(6, 'hooks[0].run: it starts in an empty folder and may not change to another one'),
    ],
    [
      'a server that runs what it finds in its folder',
      (bench) => settings(bench, 'mcp: [{ name: desk, command: make, args: [desk] }]'),
      at(6, 'mcp[0].command: `make desk` runs what it finds in its working folder'),
    ],
    [
      'a file of a server that is a link out of the repository',
      (bench) => (
        settings(bench, 'mcp: [{ name: desk, command: cat, args: [./users] }]'),
        symlinkSync('/etc/passwd', join(bench.repository, 'users'))
      ),
      at(6, 'mcp[0]: users is a link to a place outside the repository'),
    ],
    [
      'a server’s argument that holds a secret',
      (bench) =>
        settings(bench, 'mcp: [{ name: desk, command: node, args: ["ghp_0123456789abcdefghijABCDEFGHIJ012345"] }]'),
      'squad.yaml:2: agents[0].mcp[0].args[0] holds a secret',
    ],
  ])('%s', ALL, async (_name, prepare, message) => {
    const bench = openBench();
    prepare(bench);
    const before = bench.traces();
    const error = await bench.refusal({ yes: true });
    expect(error).toMatchObject({ code: 'bad-input' });
    expect(error.message).toContain(message);
    expect(bench.traces()).toEqual(before);
  });

  it('what would start in the agent’s folder, where nothing confines it', async () => {
    const bench = openBench();
    settings(bench, 'hooks: [{ on: turn-ended, run: "true" }, { on: turn-ended, run: npm test, cwd: task }]');
    const taskCage = () =>
      Promise.resolve({ type: 'none', why: 'bubblewrap is not installed', next: 'install it' } as const);
    const before = bench.traces();
    const error = await bench.refusal({ yes: true }, { taskCage });
    expect(error.message).toContain(at(6, 'hooks[1].cwd: it starts in the agent’s folder (`cwd: task`)'));
    expect(error.message).toContain('bubblewrap is not installed. To go on, install it, or take out `cwd: task`');
    expect(bench.traces()).toEqual(before);
  });

  it.each<[string, string, Failure['setting'], string]>([
    ['skills', 'skills: [review]', 'skills', at(6, 'skills: claude cannot honour it')],
    ['env', 'env: [HOME]', 'environment', at(6, 'env: claude cannot honour it')],
    ['deny', 'deny: [x]', 'toolRules', at(6, 'deny: claude cannot honour it')],
    ['allow', 'allow: [x]', 'toolRules.allow', at(6, 'allow: claude cannot honour it')],
    ['network', 'network: true', 'access.network', at(6, 'network: claude cannot honour it')],
    ['something else', 'effort: low', 'limits', at(3, 'claude cannot honour it')],
  ])('what the runtime says that it cannot honour: %s', async (_name, field, setting, message) => {
    const bench = openBench();
    write(bench, 'review/SKILL.md', SKILL);
    settings(bench, field);
    const asked: TurnRequest[] = [];
    const failure: Failure = {
      kind: 'setting-unsupported',
      setting,
      message: 'claude cannot honour it',
      mayHaveActed: false,
    };
    const error = await bench.refusal({ yes: true }, refusing(failure, asked));
    expect(error.message).toContain(message);
    expect(asked).toMatchObject([{ workspace: { path: bench.repository }, prompt: '' }]);
  });

  it('what the runtime finds in a skill, which it may read before there is a copy', async () => {
    const bench = openBench();
    write(bench, 'docs/review/SKILL.md', SKILL);
    write(bench, 'tools/desk.mjs', '');
    settings(bench, 'skills: [docs/review]', 'mcp: [{ name: desk, command: node, args: [tools/desk.mjs] }]');
    const asked: TurnRequest[] = [];
    const failure: Failure = { kind: 'setting-unsupported', setting: 'skills', message: 'no', mayHaveActed: false };
    await bench.refusal({ yes: true }, refusing(failure, asked));
    const at = (path: string) => join(bench.repository, path);
    expect(asked[0]).toMatchObject({
      skills: [{ name: 'review', folder: at('docs/review') }],
      mcp: [{ name: 'desk', transport: { command: 'node', args: [at('tools/desk.mjs')] } }],
    });
  });

  it('nothing of an agent without settings of its own, and nothing that a probe has to say', async () => {
    const bench = openBench();
    const asked: TurnRequest[] = [];
    const failure: Failure = { kind: 'cli-missing', setting: 'x', message: 'gone', mayHaveActed: false };
    settings(bench);
    await bench.run({}, refusing(failure, asked));
    expect(asked).toEqual([]);
    settings(bench, 'deny: [x]');
    await bench.run({}, refusing(failure, asked));
    expect(asked).toHaveLength(1);
  });
});

/** Runtimes that are there, and refuse every request that they are asked about. */
function refusing(failure: Failure, asked: TurnRequest[]): Partial<PreflightPorts> {
  const never = () => {
    throw new Error('no turn may start before there is a run');
  };
  return {
    runtime: (name) => ({
      portVersion: 1,
      name,
      probe: () => Promise.resolve({ ok: true, login: 'ok', sandbox: 'os', problems: [] }),
      refusal: (request) => {
        asked.push(request);
        return Promise.resolve(failure);
      },
      start: never,
      attach: never,
    }),
  };
}

describe('what of it has to be agreed to', () => {
  const FIELDS = [
    'skills: [review, /opt/skills/pdf]',
    'mcp: [{ name: desk, command: node, args: ["--a b"], env: [HOME] }, { name: npx, command: env, args: [npx, -y, desk-mcp], cwd: task }, { name: web, url: "https://example.org/x" }]',
    'hooks: [{ on: tool-ended, tool: Edit, run: "npm test", cwd: task }, { on: turn-ended, run: "npx -y lint {folder}" }]',
    'env: [HOME, ANTHROPIC_BASE_URL]',
    'network: true',
    'home: mine',
    'effort: high',
    'deny: [x]',
  ];
  const ITEMS = [
    'ann may use the network (network: true)',
    'ann works with your own settings, memory and plugins (home: mine)',
    'ann reads the skill /opt/skills/pdf',
    "ann starts the MCP server desk: node '--a b'",
    'the MCP server desk of ann gets the variable HOME',
    'ann starts the MCP server npx (downloads and runs desk-mcp; starts in the agent’s folder, in a cage): env npx -y desk-mcp',
    'ann uses the MCP server web at https://example.org/x',
    'ann runs on tool-ended of Edit (starts in the agent’s folder, in a cage): npm test',
    'ann runs on turn-ended (downloads and runs lint; gets the agent’s folder): npx -y lint {folder}',
    'ann gets the variable HOME',
    'ann works with effort high',
  ];

  it('is what runs or opens something, and not what a model only reads or may not do', async () => {
    const bench = openBench();
    const shown: TrustItem[] = [];
    const confirm = (items: readonly TrustItem[]) => {
      shown.push(...items);
      return Promise.resolve(false);
    };
    write(bench, 'review/SKILL.md', SKILL);
    settings(bench, ...FIELDS.map((field) => field.replace(', /opt/skills/pdf', '')));
    const host = bench.host({
      environment: { PATH: process.env['PATH'], HOME: process.env['HOME'], ANTHROPIC_BASE_URL: 'https://example.org' },
    });
    const taskCage = () =>
      Promise.resolve({
        type: 'caged',
        around: (one: { command: string; args: readonly string[] }) => Promise.resolve(one),
      } as const);
    const refused = await bench.refusal({}, { host, confirm, taskCage });
    expect([refused.code, refused.message]).toEqual(['not-trusted', expect.any(String)]);
    expect(shown.map(({ run }) => run)).toEqual(ITEMS.filter((item) => !item.includes('/opt')));
    expect(new Set(shown.map(({ from }) => from))).toEqual(new Set(['agent', 'models']));
  });

  it('is the user’s own word in the user’s own file, and the run says so', async () => {
    const bench = openBench();
    const own = join(bench.root, 'config', 'squad');
    mkdirSync(own, { recursive: true, mode: 0o700 });
    const folder = join(bench.root, 'skills/review');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'SKILL.md'), SKILL);
    const file = `agents: [{ name: ann, role: builder, runtime: claude, home: mine, skills: [${folder}] }]\n`;
    writeFileSync(join(own, 'config.yaml'), file, { mode: 0o600 });
    const { definition, warnings } = await bench.run();
    expect(definition).toMatchObject({ trusted: null, agents: [{ home: 'mine', skills: [{ from: folder }] }] });
    const note = warnings.find(({ about }) => about === 'own-settings')?.text;
    expect(note).toContain('ann works with your own settings, memory and plugins');
    expect(note).toContain(`ann reads the skill ${folder}`);
  });
});
