import { describe, expect, it } from 'vitest';
import { commandProblem, equip, namedFiles } from '../../src/model/equip.ts';

const HASH = 'a'.repeat(64);
const ports = (environment: Record<string, string> = {}) => ({
  environment,
  folderOf: (hash: string) => `/run one/${hash}`,
  folder: '/tasks/a b',
});

const named = (agent: Parameters<typeof namedFiles>[0]) =>
  namedFiles(agent).map(({ path, must }) => (must ? `${path}!` : path));

describe('the files that commands name', () => {
  it.each<[string, string[]]>([
    ['./check.sh', ['check.sh!']],
    ['tools/check.sh --all a.txt', ['tools/check.sh!', 'a.txt']],
    ['node tools/x.mjs && ./tools/y.sh', ['tools/x.mjs!', 'tools/y.sh!']],
    ['(sh x.sh; sh y.sh)|cat<in.txt', ['x.sh!', 'y.sh!', 'in.txt!']],
    [`sh "tools/x.sh" && 'y'.sh`, ['tools/x.sh!']],
    [String.raw`sh tool\s/x.sh; sh "a b.sh"`, ['tools/x.sh!', 'a b.sh!']],
    ['sh $HOME/x.sh ~/b.sh', []],
    ['/usr/bin/x.sh /etc/y.sh', []],
    ['echo x.txt a/b >/dev/null 2>&1', []],
    ['if sh a.sh; then ! sh b.sh; fi # sh c.sh', ['a.sh!', 'b.sh!']],
    [`sh -c 'sh "tools/x.sh"'`, ['tools/x.sh!']],
    ['env A=1 timeout 5 sh -e tools/x.sh', ['tools/x.sh!']],
    ['eslint --config=lint/a.json', ['lint/a.json!']],
    ['curl https://example.org/x', []],
    ['sh check', ['check!']],
  ])('of a hook: %s', (run, files) => {
    expect(commandProblem({ hooks: [{ run }] })).toBe(undefined);
    expect(named({ hooks: [{ run }] })).toEqual(files);
  });

  it.each<[{ command?: string; args?: string[]; url?: string }, string[]]>([
    [{ command: 'node', args: ['tools/desk.mjs', '--port=1'] }, ['tools/desk.mjs!']],
    [{ command: './desk', args: ['./desk.json', 'a b/c.txt'] }, ['desk!', 'desk.json!', 'a b/c.txt']],
    [{ command: 'node', args: ['--require=./tools/t.js', 'tools/x.js'] }, ['tools/t.js!', 'tools/x.js!']],
    [{ command: '/opt/desk', args: ['-', '/etc/x.json', 'a@b/c.d', 'https://a/b'] }, ['a@b/c.d']],
    [{ command: 'sh', args: ['-c', 'exec node "tools/desk.mjs"'] }, ['tools/desk.mjs!']],
    [{ command: 'npx', args: ['-y', '@scope/desk@1.2'] }, []],
    [{ url: 'https://example.org/x.json' }, []],
  ])('of a server: %j', (server, files) => {
    expect(commandProblem({ mcp: [server] })).toBe(undefined);
    expect(named({ mcp: [server] })).toEqual(files);
  });
});

const EMPTY = /empty (?:folder|one)/;
const COPY = /a file of the repository/;

describe('a hook that squad does not start', () => {
  it.each<[string, RegExp]>([
    ['cd tools && sh h.sh', /may not change to another one by `cd`.*\{folder\}.*`cwd: task`/],
    ['command cd tools; sh h.sh', /may not change to another one/],
    ['sh $(ls tools)', /cannot read the output of another command.*Put it into a file of the repository/],
    ['sh `ls`', /cannot read the output of another command/],
    ['sh "$(ls)"', /cannot read the output of another command/],
    ['sh tools/*.sh', /cannot read a pattern of file names/],
    ['sh tools/{a,b}.sh', /cannot read braces/],
    ['sh "tools/h.sh', /cannot read a quote that is not closed/],
    ['cat <<X', /cannot read text that follows it/],
    ['eval sh h.sh', /cannot read `eval`/],
    ['. tools/h.sh', /cannot read `\.`/],
    ['source h.sh', /cannot read `source`/],
    ['for f in a; do sh $f; done', /cannot read `for`/],
    ['f() { sh x; }; f', /cannot read a function/],
    ['$RUN tools', /cannot know what `\$RUN` runs/],
    ['sh $FILE', /cannot know what `\$FILE` runs/],
    ['sh tools/$X.sh', /cannot know what/],
    ['cat tools/$X.txt', EMPTY],
    ['cat ../x', EMPTY],
    ['grep -r TODO .', /`\.` names nothing there\. Write \{folder\}/],
    ['cat h.sh | sh', /would run what it reads from elsewhere/],
    ['echo x >notes.txt', /`>` needs an absolute path/],
    ['echo x >{folder}/notes.txt', /a link could lead it anywhere/],
    ['sh {folder}/h.sh', /would run what the agent has put there/],
    ['{folder}/h.sh', /would run what the agent has put there/],
    ['sh "$SQUAD_TASK_FOLDER"/h.sh', /would run what the agent has put there/],
    ['sh -c "cd {folder}; ls"', /would run what the agent has put there/],
    ['env -C {folder} ls', /would run what the agent has put there/],
    ['PATH={folder}/bin:/usr/bin ls', /must not hold the agent’s folder/],
    ['ls "$HOME{folder}"', /\{folder\} is in a word with a variable/],
    ['npm run lint', /`npm run` runs what it finds in its working folder.*`cwd: task`/],
    ['sh -c "npm test"', /`npm test` runs what it finds/],
    ['git -C {folder} diff --check', /`git .*` runs what it finds/],
  ])('%s', (run, message) => {
    const problem = commandProblem({ hooks: [{ run: 'true' }, { run }] });
    expect(problem).toEqual({ at: ['hooks', 1, 'run'], message: expect.stringMatching(message) as string });
    // In a cage it may.
    expect(commandProblem({ hooks: [{ run: run.replaceAll('{folder}', '/x'), cwd: 'task' }] })).toBe(undefined);
  });

  it('is also one that puts the folder into a text that nothing but a shell can read', () => {
    const problem = commandProblem({ hooks: [{ run: 'ls $(cat {folder}/x)', cwd: 'task' }] });
    expect(problem?.message).toContain('Write "$SQUAD_TASK_FOLDER" there');
  });
});

describe('a server that squad does not start', () => {
  it.each<[string, string[], RegExp]>([
    ['npm', ['run', 'mcp'], EMPTY],
    ['uv', ['run', 'server.py'], EMPTY],
    ['node', ['{folder}/tools/desk.mjs'], COPY],
    ['{folder}/desk', [], COPY],
    ['sh', ['-c', 'cd tools && node t.js'], /may not change/],
    ['npx', ['-y', '@modelcontextprotocol/server-filesystem', '.'], /Write \{folder\}/],
  ])('%s %j', (command, args, message) => {
    const server = { command, args };
    expect(commandProblem({ mcp: [server] })).toEqual({
      at: ['mcp', 0, 'command'],
      message: expect.stringMatching(message) as string,
    });
    expect(commandProblem({ mcp: [{ ...server, cwd: 'task' }] })).toBe(undefined);
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
            args: ['tools/desk.mjs', './tools/desk.mjs', 'other.mjs', '--root={folder}/src', '--use=./check.sh'],
            env: ['DESK_TOKEN'],
          },
          { name: 'web', url: 'https://example.org', headers: { Authorization: 'WEB_AUTH' } },
        ],
        hooks: [{ on: 'tool-ended', tool: 'Edit', run: 'sh "./check.sh" {folder}; echo "check.sh"' }],
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
              args: [
                `${copy}/desk.mjs`,
                `${copy}/desk.mjs`,
                'other.mjs',
                '--root=/tasks/a b/src',
                `--use=${copy}/check.sh`,
              ],
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
        hooks: [{ on: 'tool-ended', tool: 'Edit', run: `sh '${copy}/check.sh' '/tasks/a b'; echo "check.sh"` }],
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
