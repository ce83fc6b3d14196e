import { describe, expect, it } from 'vitest';
import { equip, fileWords, programPaths } from '../../src/model/equip.ts';

const HASH = 'a'.repeat(64);
const ports = (environment: Record<string, string> = {}) => ({
  environment,
  folderOf: (hash: string) => `/run one/${hash}`,
});

describe('the files that commands name', () => {
  it.each<[string, string[], string[]]>([
    ['npm test', [], []],
    ['./check.sh', ['check.sh'], ['check.sh']],
    ['tools/check.sh --all a.txt', ['tools/check.sh', 'a.txt'], ['tools/check.sh']],
    ['node tools/x.mjs && ./tools/y.sh', ['tools/x.mjs', 'tools/y.sh'], []],
    ['(sh x.sh; sh y.sh)|cat<in.txt', ['x.sh', 'y.sh', 'in.txt'], []],
    ['"tools/x.sh" \'y.sh\'', [], []],
    ['$HOME/x.sh ${A}/b.sh', [], []],
    ['/usr/bin/x.sh ../y.sh a/../z.sh .', [], []],
    ['echo x >out.txt', ['out.txt'], []],
  ])('of a hook: %s', (run, words, programs) => {
    expect(fileWords({ hooks: [{ run }] })).toEqual(words);
    expect(programPaths({ hooks: [{ run }] })).toEqual(programs);
  });

  it.each<[object, string[], string[]]>([
    [{ command: 'node', args: ['tools/desk.mjs', '--port=1'] }, ['tools/desk.mjs'], []],
    [{ command: './desk', args: ['./desk.json', 'a b/c.txt'] }, ['desk', 'desk.json', 'a b/c.txt'], ['desk']],
    [{ command: '/opt/desk', args: ['-', '..', '/etc/x.json'] }, [], []],
    [{ url: 'https://example.org/x.json' }, [], []],
  ])('of a server: %j', (server, words, programs) => {
    expect(fileWords({ mcp: [server] })).toEqual(words);
    expect(programPaths({ mcp: [server] })).toEqual(programs);
  });
});

describe('the equipment of a turn', () => {
  it('is nothing for an agent without any', () => {
    expect(equip({}, ports())).toEqual({ type: 'equipped', equipment: { mcp: [] } });
  });

  it('has the bound copies in place of files, and the values of variables', () => {
    const equipped = equip(
      {
        skills: [{ name: 'review', hash: HASH, from: 'docs/review' }],
        mcp: [
          {
            name: 'desk',
            command: 'node',
            args: ['tools/desk.mjs', './tools/desk.mjs', 'other.mjs'],
            env: ['DESK_TOKEN'],
          },
          { name: 'web', url: 'https://example.org', headers: { Authorization: 'WEB_AUTH' } },
        ],
        hooks: [{ on: 'tool-ended', tool: 'Edit', run: 'sh ./check.sh; echo "check.sh"' }],
        env: ['MY_KEY'],
        home: 'mine',
        ask: 'human',
        files: [
          { path: 'tools/desk.mjs', hash: HASH },
          { path: 'check.sh', hash: HASH },
        ],
      },
      ports({ DESK_TOKEN: 't', WEB_AUTH: 'Bearer w', MY_KEY: 'k' }),
    );
    const copy = `/run one/${HASH}`;
    expect(equipped).toEqual({
      type: 'equipped',
      equipment: {
        mcp: [
          {
            name: 'desk',
            required: true,
            transport: {
              type: 'stdio',
              command: 'node',
              args: [`${copy}/desk.mjs`, `${copy}/desk.mjs`, 'other.mjs'],
              env: { DESK_TOKEN: 't' },
            },
          },
          {
            name: 'web',
            required: true,
            transport: { type: 'http', url: 'https://example.org', headers: { Authorization: 'Bearer w' } },
          },
        ],
        skills: [{ name: 'review', folder: `${copy}/review` }],
        hooks: [{ on: 'tool-ended', tool: 'Edit', run: `sh '${copy}/check.sh'; echo "check.sh"` }],
        environment: ['MY_KEY'],
        home: 'mine',
        ask: 'human',
      },
    });
  });

  const server = { name: 'desk', command: 'desk' };
  it.each<[string, object, Record<string, string>, object]>([
    ['is not set', { env: ['A', 'B'] }, { A: '1' }, { at: ['env', 1], message: 'the variable B is not set' }],
    ['is empty', { env: ['A'] }, { A: '' }, { at: ['env', 0], message: 'the variable A is not set' }],
    [
      'a server needs',
      { mcp: [{ ...server, env: ['A'] }] },
      {},
      { at: ['mcp', 0, 'env', 0], message: 'the variable A is not set' },
    ],
    [
      'a header needs',
      { mcp: [server, { name: 'web', url: 'https://x', headers: { H: 'A' } }] },
      {},
      { at: ['mcp', 1, 'headers', 'H'], message: 'the variable A is not set' },
    ],
    [
      'would begin another header',
      { mcp: [{ name: 'web', url: 'https://x', headers: { H: 'A' } }] },
      { A: 'x\r\nHost: y' },
      {
        at: ['mcp', 0, 'headers', 'H'],
        message: 'the value of the variable A has characters that a header cannot have',
      },
    ],
  ])('is refused for a variable that %s', (_name, agent, environment, expected) => {
    expect(equip(agent, ports(environment))).toEqual({ type: 'refused', ...expected });
  });
});
