import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { equipmentSettings } from '../../../src/model/armory.ts';
import { parseSettings } from '../../../src/squad/settings/parse-settings.ts';
import { problemText } from '../../../src/text/problem.ts';
import { KNOWN_NAMES } from '../../support/known-names.ts';

function problems(fields: string, whose: 'repository' | 'own' = 'repository'): string[] {
  const text = `agents:\n  - { name: a, role: b, runtime: claude, access: edit }\n  - name: c\n    role: b\n    runtime: claude\n${fields}\n`;
  const parsed = parseSettings(text, 's', KNOWN_NAMES, whose);
  return parsed.ok ? [] : parsed.problems.map((one) => problemText({ ...one, example: undefined }).slice(2));
}

describe('what an agent may be equipped with', () => {
  it.each<[string]>([
    ['skills: [docs/skills/review, /opt/skills/pdf]'],
    ['mcp: [{ name: desk, command: node, args: [tools/desk.mjs, "", "two words"], env: [DESK_TOKEN] }]'],
    ['mcp: [{ name: web, url: "https://example.org/mcp?x=1", headers: { Authorization: WEB_AUTH } }]'],
    ['hooks: [{ on: tool-ended, tool: Edit, run: "./check.sh" }, { on: turn-started, run: "echo hi" }]'],
    ['effort: high'],
    ['network: true'],
    ['network: false'],
    ['deny: ["Bash(rm:*)"]'],
    ['env: [MY_KEY]'],
    ['home: mine'],
    ['ask: human'],
  ])('%s', (field) => {
    expect(problems(`    ${field}`)).toEqual([]);
  });
});

describe('docs/armory.md', () => {
  it('has an example that can be used, with every key and a line about each', () => {
    const document = readFileSync(new URL('../../../docs/armory.md', import.meta.url), 'utf8');
    const [, example = ''] = /```yaml\n([^]*?)```/.exec(document) ?? [];
    const known = { ...KNOWN_NAMES, runtimes: [...KNOWN_NAMES.runtimes, 'acp/gemini'] };
    const parsed = parseSettings(example, 's', known);
    expect(parsed.ok ? [] : parsed.problems).toEqual([]);
    const used = parsed.ok ? (parsed.value.agents ?? []).flatMap((agent) => Object.keys(agent)) : [];
    const [, table = ''] = /([^]*?)\n## /.exec(document) ?? [];
    for (const key of Object.keys(equipmentSettings)) {
      expect(used).toContain(key);
      expect(table).toContain(`| \`${key}\` |`);
    }
  });
});

describe('what it may not', () => {
  it.each<[string, string[]]>([
    ['skills: []', ['6:13: agents[1].skills is empty; leave the key out instead']],
    [
      'skills: [../x]',
      [
        '6:14: agents[1].skills[0]: “../x” needs a folder with a SKILL.md: an absolute path, or one from the root of the repository without “..”',
      ],
    ],
    [
      'skills: [/a/../b]',
      [
        '6:14: agents[1].skills[0]: “/a/../b” needs a folder with a SKILL.md: an absolute path, or one from the root of the repository without “..”',
      ],
    ],
    [
      'skills: [a/review, b/review]',
      [
        '6:24: agents[1].skills[1]: “review” is the name of the folder at agents[1].skills[0] already, and a skill is called like its folder',
      ],
    ],
    ['mcp: [{ name: desk }]', ['6:11: agents[1].mcp[0]: a mapping needs either `command` or `url`']],
    [
      'mcp: [{ name: desk, command: a, url: "https://b" }]',
      ['6:11: agents[1].mcp[0]: a mapping needs either `command` or `url`'],
    ],
    [
      'mcp: [{ name: desk, url: "https://b", env: [A] }]',
      ['6:11: agents[1].mcp[0]: a mapping has a `url`, so it takes `headers` and neither `args` nor `env` nor `cwd`'],
    ],
    [
      'mcp: [{ name: desk, command: a, headers: { A: B } }]',
      ['6:11: agents[1].mcp[0]: a mapping has a `command`, so it takes `env` and no `headers`'],
    ],
    [
      'mcp: [{ name: squad, command: a }]',
      ['6:19: agents[1].mcp[0].name: “squad” is the name of squad’s own server; choose another one'],
    ],
    [
      'mcp: [{ name: desk, command: a }, { name: desk, command: b }]',
      ['6:47: agents[1].mcp[1].name: “desk” is the name of agents[1].mcp[0] already; each server needs its own'],
    ],
    [
      'mcp: [{ name: a__b, command: a }]',
      [
        '6:19: agents[1].mcp[0].name: “a__b” needs lower-case letters, digits, dashes and single underscores, starting with a letter',
      ],
    ],
    [
      'mcp: [{ name: desk, command: a, env: [A=1] }]',
      ['6:43: agents[1].mcp[0].env[0] needs the name of a variable, without its value'],
    ],
    [
      'mcp: [{ name: desk, url: "file:///etc/passwd" }]',
      ['6:30: agents[1].mcp[0].url: “file:///etc/passwd” needs an address that begins with https:// or http://'],
    ],
    [
      'mcp: [{ name: desk, url: "https://user:pw@example.org" }]',
      [
        '6:30: agents[1].mcp[0].url: “https://user:pw@example.org” needs an address that begins with https:// or http://',
      ],
    ],
    [
      'mcp: [{ name: desk, url: "https://b", headers: { A: "Bearer 123" } }]',
      ['6:57: agents[1].mcp[0].headers.A needs the name of a variable, without its value'],
    ],
    [
      'mcp: [{ name: desk, command: a, args: ["\u202e"] }]',
      [
        '6:44: agents[1].mcp[0].args[0]: “\u202e” holds invisible characters; it is shown before it is used, so everything in it must be visible',
      ],
    ],
    [
      'hooks: [{ on: sometimes, run: a }]',
      ['6:19: agents[1].hooks[0].on must be turn-started, tool-started, tool-ended or turn-ended, not “sometimes”'],
    ],
    [
      'hooks: [{ on: turn-ended, tool: Edit, run: a }]',
      ['6:37: agents[1].hooks[0].tool: only `tool-started` and `tool-ended` are about a tool'],
    ],
    ['effort: most', ['6:13: agents[1].effort must be low, medium, high, xhigh or max, not “most”']],
    ['env: [MY_KEY=1]', ['6:11: agents[1].env[0] needs the name of a variable, without its value']],
    ['home: /home/me', ['6:11: agents[1].home must be mine, not “/home/me”']],
    ['ask: agent', ['6:10: agents[1].ask must be human, not “agent”']],
    [
      'network: true\n    access: read-only',
      [
        '6:14: agents[1].network: an agent with `access: read-only` has no network; give it `access: edit`, or take this out',
      ],
    ],
    [
      'network: false\n    access: full',
      ['6:14: agents[1].network: `access: full` confines nothing, so the network stays open; take this out'],
    ],
  ])('%s', (field, expected) => {
    expect(problems(`    ${field}`)).toEqual(expected);
  });

  it('in a file for all repositories: a path of one of them', () => {
    const absolute = 'this file is for all repositories, so it needs an absolute path';
    expect(
      problems(
        [
          '    skills: [docs/review, review, /opt/review-2]',
          '    mcp: [{ name: desk, command: tools/desk }, { name: b, command: npx }]',
          '    hooks: [{ on: turn-ended, run: "./check.sh x" }, { on: turn-ended, run: "npm test" }]',
        ].join('\n'),
        'own',
      ),
    ).toEqual([
      `6:14: agents[1].skills[0]: ${absolute}`,
      expect.stringContaining('6:27: agents[1].skills[1]: “review” is the name'),
      `6:27: agents[1].skills[1]: ${absolute}`,
      `7:34: agents[1].mcp[0].command: ${absolute}`,
      `8:36: agents[1].hooks[0].run: ${absolute}`,
    ]);
  });
});
