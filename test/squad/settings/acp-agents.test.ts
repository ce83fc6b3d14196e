import { describe, expect, it } from 'vitest';
import { mergeSettings } from '../../../src/squad/settings/merge-settings.ts';
import { parseSettings, rawSettings } from '../../../src/squad/settings/parse-settings.ts';
import { KNOWN_NAMES } from '../../support/known-names.ts';

const KNOWN = { ...KNOWN_NAMES, runtimes: [...KNOWN_NAMES.runtimes, 'acp/gemini'] };
const MINE = '{ command: my-agent, args: [--acp, ""], env: [MY_KEY], auth: my-key, quirks: { mcp: http } }';

function runtimes(text: string) {
  const parsed = parseSettings(text, 'squad.yaml', KNOWN);
  return parsed.ok ? parsed.value.runtimes : parsed.problems.map(({ line, message }) => `${line}: ${message}`);
}

describe('agents that settings name', () => {
  it('are runtimes of their own', () => {
    expect(runtimes(`runtimes:\n  acp: { agents: { mine: ${MINE} } }`)).toEqual({
      'acp/mine': {
        command: 'my-agent',
        env: ['MY_KEY'],
        config: { args: ['--acp', ''], auth: 'my-key', quirks: { mcp: 'http' } },
      },
    });
  });

  it('take what the settings say of the runtime by its whole name', () => {
    const own = 'acp/mine: { env: [MORE, MY_KEY], fallback: claude, config: { auth: other } }';
    expect(runtimes(`runtimes:\n  acp: { agents: { mine: ${MINE} } }\n  ${own}`)).toMatchObject({
      'acp/mine': {
        command: 'my-agent',
        env: ['MY_KEY', 'MORE'],
        fallback: 'claude',
        config: { args: ['--acp', ''], auth: 'other' },
      },
    });
  });

  it('can be an agent’s runtime, and stand in for another', () => {
    const text = `agents:
  - { name: a, role: builder, runtime: acp/mine }
  - { name: b, role: builder, runtime: acp/gemini }
runtimes:
  acp: { agents: { mine: { command: ./bin/my-agent } } }
  acp/gemini: { fallback: acp/mine }`;
    expect(parseSettings(text, 'squad.yaml', KNOWN)).toMatchObject({
      ok: true,
      value: { agents: [{ runtime: 'acp/mine' }, { runtime: 'acp/gemini' }] },
    });
  });

  it.each([
    ['runtimes: { acp: { agents: { mine: { args: [] } } } }', '1: runtimes.acp.agents.mine.command is missing'],
    ['runtimes: { acp: { agents: { Mine: { command: x } } } }', '1: runtimes.acp.agents.Mine'],
    ['runtimes: { acp: { agents: { mine: { command: x, arg: [] } } } }', 'did you mean “args”?'],
    ['runtimes: { acp: { command: x } }', 'unknown key “command” in runtimes.acp; known keys: agents'],
    ['runtimes: { claude: { agents: {} } }', 'unknown key “agents” in runtimes.claude'],
    ['runtimes: { acp: { agents: { mine: { command: x, args: ["a\\u202eb"] } } } }', 'invisible characters'],
    ['runtimes: { acp: { agents: { mine: { command: x, env: ["A=1"] } } } }', 'without its value'],
    ['runtimes: { acp/gemni: { fallback: claude } }', 'did you mean “acp/gemini”?'],
    ['agents:\n  - { name: a, role: builder, runtime: acp/gemni }', '2: agents[0].runtime'],
    ['agents:\n  - { name: a, role: builder, runtime: acp }', '2: agents[0].runtime'],
    ['runtimes:\n  acp/gemini: { fallback: acp/gemini }', '2: runtimes.acp/gemini.fallback: a runtime cannot stand in'],
  ])('%s is refused', (text, expected) => {
    expect(JSON.stringify(runtimes(text))).toContain(expected);
  });

  it('come from both files, by name', () => {
    const own = rawSettings(
      'runtimes: { acp: { agents: { mine: { command: mine, env: [A] }, both: { command: here, args: [x] } } } }',
    );
    const repository = rawSettings(
      'runtimes: { acp: { agents: { both: { command: there } } }, acp/mine: { fallback: claude } }',
    );
    expect(mergeSettings(own, repository, KNOWN).settings.runtimes).toEqual({
      'acp/mine': { command: 'mine', env: ['A'], fallback: 'claude', config: {} },
      'acp/both': { command: 'there', env: [], config: {} },
    });
  });

  it('need an absolute path in the user’s own file', () => {
    const text = 'runtimes:\n  acp:\n    agents:\n      mine: { command: ./mine }\n      ok: { command: ok }';
    expect(parseSettings(text, 'config.yaml', KNOWN, 'own')).toMatchObject({
      ok: false,
      problems: [
        { line: 4, message: expect.stringContaining('runtimes.acp.agents.mine.command: this file is for all') },
      ],
    });
  });
});
