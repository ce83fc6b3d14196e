import { describe, expect, it } from 'vitest';
import { channelItems } from '../../../src/squad/preflight/channel-items.ts';
import { variableProblem } from '../../../src/squad/preflight/channel-variables.ts';
import { isPlaceholder } from '../../../src/squad/settings/channel-findings.ts';
import { parseSettings } from '../../../src/squad/settings/parse-settings.ts';

const known = { runtimes: ['claude'], sections: {}, checkList: () => [] };
const parse = (lines: readonly string[], whose: 'repository' | 'own' = 'repository') =>
  parseSettings(['channels:', ...lines].join('\n'), 'squad.yaml', known, whose);
const problems = (...given: Parameters<typeof parse>): string[] => {
  const read = parse(...given);
  return read.ok ? [] : read.problems.map(({ line, message }) => `${line}: ${message}`);
};
const ID = '1298374650123456789';
const TEAM = `  team: { type: discord, token: BOT, places: ["${ID}"], senders: { "1198374650123456781": [ask, request] } }`;
const HOOK = '  hook: { type: webhook, url: "https://a.example/in", secret: HOOK_KEY, listen: { port: 8080 } }';

describe('channels in squad.yaml', () => {
  it('are read', () => {
    const read = parse([TEAM, HOOK]);
    expect(read.ok && read.value.channels).toEqual({
      team: {
        ...{ type: 'discord', token: 'BOT', places: [ID], messagesPerHour: 30 },
        senders: { '1198374650123456781': ['ask', 'request'] },
      },
      hook: {
        ...{ type: 'webhook', url: 'https://a.example/in', secret: 'HOOK_KEY', messagesPerHour: 30, senders: {} },
        listen: { port: 8080, host: '127.0.0.1' },
      },
    });
  });

  it.each([
    ['an unknown type', '  a: { type: slack }', ['2: channels.a.type: “slack” must be discord or webhook']],
    [
      'a token in place of a variable',
      '  a: { type: discord, token: "MTA.x.y" }',
      ['2: channels.a.token needs the name'],
    ],
    [
      'an id that is a name',
      '  a: { type: discord, token: T, places: [general] }',
      ['2: channels.a.places[0]: “general” needs an id'],
    ],
    [
      'an id without quotes',
      `  a: { type: discord, token: T, places: [${ID}] }`,
      ['2: channels.a.places[0] must be text'],
    ],
    [
      'a sender without quotes',
      `  a: { type: discord, token: T, senders: { ${ID}: [ask] } }`,
      ['2: a name of so many'],
    ],
    [
      'a placeholder of digits',
      '  a: { type: discord, token: T, places: ["123456789012345678"] }',
      ['2: channels.a.places[0]: “123'],
    ],
    [
      'a placeholder sender',
      '  a: { type: webhook, secret: S, url: "https://x", senders: { YOUR_ID: [ask] } }',
      ['2: channels.a.senders.YOUR_ID: “YOUR_ID” stands for an id'],
    ],
    [
      'an unknown right',
      `  a: { type: discord, token: T, senders: { "${ID}": [all] } }`,
      [`2: channels.a.senders.${ID}[0] must be`],
    ],
    [
      'a name that is taken',
      '  terminal: { type: discord, token: T }',
      ['2: channels.terminal: “terminal” would look like the channel'],
    ],
    ['a name that is no slug', '  "A b": { type: discord, token: T }', ['2: channels.A b']],
    [
      'an address with a login',
      '  a: { type: webhook, secret: S, url: "https://u:p@x" }',
      ['2: channels.a.url: “https://u:p@x” needs an address'],
    ],
    [
      'two ways in',
      '  a: { type: webhook, secret: S, url: "https://x", poll: "https://y", listen: { port: 1 } }',
      ['2: channels.a.listen: messages are'],
    ],
    ['a webhook that cannot answer', '  a: { type: webhook, secret: S }', ['2: channels.a.url is missing']],
  ])('%s is refused', (_what, line, expected) => {
    const found = problems([line]);
    expect(found).toHaveLength(expected.length);
    for (const [index, text] of expected.entries()) expect(found[index]).toContain(text);
  });

  it('share neither a token, a secret, a place nor an inbox', () => {
    const twins = [TEAM, TEAM.replace('team:', 'other:')];
    expect(problems(twins)).toEqual([
      '3: channels.other.token: the variable of its token is that of channels.team already; each needs its own',
      `3: channels.other.places[0]: “${ID}” is that of channels.team already; each needs its own`,
    ]);
    expect(problems([HOOK, HOOK.replace('hook:', 'other:').replace('HOOK_KEY', 'B')])).toEqual([
      '3: channels.other.listen.port: the port 8080 is that of channels.hook already; each needs its own',
    ]);
  });

  it('belong in the file of one repository', () => {
    expect(problems([TEAM], 'own')[0]).toContain('channels belong in the squad.yaml of one');
  });

  it('show every sender with its rights, and where squad can be reached', () => {
    const text = ['channels:', TEAM, HOOK.replace('8080', '8080, host: 0.0.0.0')].join('\n');
    const read = parseSettings(text, 'squad.yaml', known);
    const shown = Object.entries((read.ok && read.value.channels) || {}).flatMap(([name, channel]) =>
      channelItems(name, channel, { file: 'squad.yaml', text }).map(({ where, run }) => `${where} ${run}`),
    );
    expect(shown).toEqual([
      'squad.yaml:2 team: a bot of Discord, with the token in BOT, which is sent to the address of Discord',
      `squad.yaml:2 team: the bot reads ${ID}, and direct messages`,
      'squad.yaml:2 team: the sender 1198374650123456781 may: ask how things are; make requests (30 messages an hour at most)',
      'squad.yaml:3 hook: what squad says is posted to https://a.example/in, signed with the secret in HOOK_KEY',
      'squad.yaml:3 hook: messages are taken at 0.0.0.0:8080, which other machines can reach',
    ]);
  });

  it.each([
    [{}, 'the variable A is not set here'],
    [{ A: '' }, 'the variable A is not set here'],
    [{ A: 'two words' }, 'the variable A has blanks or line ends in it'],
    [{ A: 'x' }, undefined],
  ])('need their variable: %j', (environment, why) => {
    const channels = { a: channelOf('A') };
    expect(variableProblem('a', channels, environment)?.why).toBe(why);
  });

  it('need values of their own', () => {
    const channels = { a: channelOf('A'), b: channelOf('B') };
    expect(variableProblem('a', channels, { A: 'x', B: 'x' })).toBeUndefined();
    expect(variableProblem('b', channels, { A: 'x', B: 'x' })?.why).toBe('the variable B has the value of channels.a');
    expect(variableProblem('b', channels, { A: 'x', B: 'y' })).toBeUndefined();
  });
});

function channelOf(token: string) {
  return { type: 'discord' as const, token, places: [], senders: {}, messagesPerHour: 30 };
}

describe('a placeholder', () => {
  it.each([
    '000000000000000000',
    '111111111111111111',
    '123456789012345678',
    '987654321098765432',
    '100000000000000000',
    '<id>',
    '$ID',
    'your-id',
    'changeme',
    'xxx',
    '...',
  ])('%s', (id) => expect(isPlaceholder(id)).toBe(true));

  it.each([ID, '175928847299117063', '80351110224678912', 'U024BE7LH', 'ann', 'x', 'max', '42', '1111111'])(
    'is not %s',
    (id) => expect(isPlaceholder(id)).toBe(false),
  );
});
