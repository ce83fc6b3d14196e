import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../src/model/turn-request.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { chosenSessionId } from '../../src/runtimes/shared/session.ts';
import { git } from '../support/git.ts';
import { snapshot } from '../support/snapshot.ts';
import { CLAUDE_BINARY, NO_BINARY, openClaudeBench, type ClaudeBench } from './claude-harness.ts';
import { calls, runs, says, type FakeReply, type FakeRequest } from './fake-anthropic.ts';

/** The real binary with a model that tries everything an agent must not be able to do. */
const lane = CLAUDE_BINARY === undefined ? describe.skip : describe;

let steps: FakeReply[] = [];
let bench: ClaudeBench;
let place: { root: string; clone: string; user: string; other: string; outside: string };

async function open(environment: Record<string, string> = {}): Promise<void> {
  bench = await openClaudeBench(({ step }) => steps[step] ?? says('done'), { environment });
  const { root } = bench.parts;
  const other = await bench.otherWorkspace();
  const user = join(root, 'repository');
  place = { root, clone: bench.workspace.path, user, other: other.path, outside: join(root, 'outside') };
  mkdirSync(place.outside);
}

async function act(replies: FakeReply[], changes: Partial<TurnRequest> = {}): Promise<[TurnResult, readonly string[]]> {
  steps = replies;
  const request: TurnRequest = {
    turnId: `sandbox-${process.pid}-${Date.now()}`,
    workspace: bench.workspace,
    prompt: 'Go on.',
    instructions: 'You are a member of a squad.',
    access: { level: 'edit' },
    mcp: [],
    limits: { ...DEFAULT_TURN_LIMITS, wallMs: 90_000 },
    ...changes,
  };
  const directory = await bench.directory();
  const turn = bench.runtime().start(request, { directory, onSpawned: () => Promise.resolve() });
  const result = await turn.result;
  return [result, bench.requests.at(-1)?.toolResults ?? []];
}

/** The CLI itself, outside its sandbox, makes empty folders as it needs them. */
function files(seen: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(seen).filter(([, content]) => content !== 'folder'));
}

/** A server that does not start: of these the CLI tells the model, too. */
const DEAD = { command: '/bin/false', args: [], env: {} };

function lengthOf(request: FakeRequest | undefined): number {
  const { messages } = JSON.parse(request?.raw ?? '{}') as { messages: unknown };
  return JSON.stringify(messages).length;
}

function everythingElse(): Record<string, string> {
  const { clone, root, user, other, outside } = place;
  const own = ['config', 'hooks', 'config.worktree', join('objects', 'info', 'alternates')];
  return {
    ...snapshot(user),
    ...snapshot(other),
    ...snapshot(outside),
    // Of its own repository the CLI keeps these.
    ...Object.assign({}, ...own.map((name) => snapshot(join(clone, '.git', name)))),
    // The CLI itself, outside its sandbox, runs npm, and tells git to ignore a folder of its own from its second turn on.
    ...files(
      snapshot(join(root, 'home'), [join(root, 'home', '.npm'), join(root, 'home', '.config', 'git', 'ignore')]),
    ),
  };
}

lane(
  `access edit of claude, confined by its sandbox${CLAUDE_BINARY === undefined ? ` (not run: ${NO_BINARY})` : ''}`,
  () => {
    beforeEach(() => open());
    afterEach(() => bench.close());

    it('edits, builds, tests and commits in its folder, and leaves nothing else behind', async () => {
      const before = snapshot(place.user);
      const [result, outputs] = await act([
        calls('Write', {
          file_path: join(place.clone, 'sum.mjs'),
          content: 'export const sum = (a, b) => a + b;\n',
        }),
        runs(
          'mkdir -p dist && cp sum.mjs dist/ && node -e "import(\'./dist/sum.mjs\').then(m => console.log(m.sum(1, 2)))"',
        ),
        runs('git status --short && git add -A && git commit -m "add sum" && git log --oneline'),
        calls('Edit', { file_path: join(place.clone, 'sum.mjs'), old_string: 'a + b', new_string: 'b + a' }),
        runs('git commit -am "swap" && git status --short'),
      ]);
      expect(result).toMatchObject({ outcome: 'completed', denials: [] });
      expect(outputs[1]).toContain('3');
      expect(outputs[2]).not.toContain('.bashrc');
      expect(git(place.clone, 'log', '--format=%s').split('\n')).toEqual(['swap', 'add sum', 'base']);
      expect(git(place.clone, 'status', '--porcelain')).toBe('');
      expect(() => git(place.clone, 'symbolic-ref', 'HEAD')).toThrow();
      expect(snapshot(place.user)).toEqual(before);
    });

    it('lets no shell command change anything outside', async () => {
      await act([runs('true')]);
      const before = everythingElse();
      const { user, other, outside, root } = place;
      const common = join(user, '.git');
      const corpus = [
        `touch ${outside}/x; echo x > ${root}/x; touch /tmp/squad-sandbox-escape-$$ /squad-sandbox-escape ~/x`,
        `cd ${other} && touch x && git add -A && git commit -m x`,
        `ln -s ${outside} link && echo x > link/y; ln ${root}/repository/readme.md hard && echo x >> hard`,
        `printf '#!/bin/sh\\ntouch ${outside}/hook\\n' > ${common}/hooks/pre-commit; chmod +x ${common}/hooks/pre-commit`,
        `mkdir ${common}/hooks2; mv ${common}/hooks ${common}/hooks2; touch ${common}/hooks/post-checkout`,
        'git config core.hooksPath /tmp/hooks; git config --worktree core.fsmonitor "touch x"; git config --global a.b c',
        `echo '[core]' >> ${common}/config; echo '[core]' > ${common}/config.worktree; mv ${common}/config ${common}/old`,
        'git branch evil; git tag evil; git update-ref refs/heads/main HEAD~0; git checkout -b evil; git stash',
        `echo x > ${common}/refs/heads/evil; echo x > ${common}/packed-refs; echo x > ${common}/HEAD; rm ${common}/index`,
        `git push ${common} HEAD:refs/heads/evil; git fetch . HEAD:refs/heads/evil; git worktree add ${outside}/w`,
        `touch ${common}/shallow ${common}/MERGE_HEAD ${common}/index.lock; mkdir ${common}/rebase-merge ${common}/modules`,
        `rm -rf ${common}/worktrees ${common}/objects ${common}/refs; mv ${common} ${common}-moved; mkdir -p ${common}/worktrees/x`,
        `echo ${outside} > ${common}/objects/info/alternates; touch ${common}/objects/x ${common}/objects/pack/x.pack`,
        `echo '[core] fsmonitor = touch ${outside}/fsmonitor' >> .git/config; printf 'touch ${outside}/hook' > .git/hooks/pre-commit; echo x > .git/config.worktree`,
        `echo ${outside} > .git/objects/info/alternates; echo ${outside} > .git/commondir; git status; rm -f .git/commondir; git status`,
        `mv .git old; rm -rf .git; ln -s ${common} .git; echo 'gitdir: ${outside}' > .git; mkdir .git/x; git status`,
        `mount --bind ${outside} ${common}/hooks; umount -l ${common}/hooks; unshare -m true; nsenter -t 1 -m touch ${outside}/x`,
        `python3 -c "open('${outside}/x','w')"; node -e "require('fs').writeFileSync('${outside}/x','x')"; dd if=/dev/null of=${outside}/x`,
        `setsid sh -c 'sleep 0.2; touch ${outside}/late' & sleep 0.5`,
        'kill -9 $CLAUDE_PID; kill -9 1; echo x > /proc/1/mem; echo b > /proc/sysrq-trigger',
      ];
      const [result, outputs] = await act([
        ...corpus.map(runs),
        calls('Bash', { command: `touch ${outside}/unsandboxed`, dangerouslyDisableSandbox: true, description: 'x' }),
      ]);
      expect(result.outcome).toBe('completed');
      expect(outputs).toHaveLength(corpus.length + 1);
      expect(everythingElse()).toEqual(before);
      expect(
        readdirSync('/')
          .concat(readdirSync('/tmp'))
          .filter((name) => name.startsWith('squad-sandbox-')),
      ).toEqual([]);
    });

    it('lets no file tool write outside, through a link, or into git', async () => {
      await act([runs('true')]);
      const before = everythingElse();
      symlinkSync(place.outside, join(place.clone, 'link'));
      const targets = [
        join(place.outside, 'x'),
        join(place.clone, 'link', 'x'),
        join(place.clone, '..', 'outside', 'x'),
        join(place.user, '.git', 'hooks', 'pre-commit'),
        join(place.user, '.git', 'objects', 'x'),
        join(place.user, 'readme.md'),
        join(place.clone, '.git', 'config'),
        join(place.clone, '.git', 'hooks', 'pre-commit'),
        join(place.other, 'x'),
      ];
      const [result] = await act([
        calls('Read', { file_path: join(place.clone, '.git', 'config') }),
        ...targets.map((file_path) => calls('Write', { file_path, content: 'x' })),
        calls('Edit', { file_path: join(place.clone, '.git', 'config'), old_string: 'core', new_string: 'diff' }),
      ]);
      expect(result.denials.length).toBeGreaterThanOrEqual(targets.length - 2);
      expect(everythingElse()).toEqual(before);
    });

    it('keeps keys, logins and tokens from the shell and from the file tools', async () => {
      const desk = {
        type: 'stdio' as const,
        ...bench.mcpServer,
        args: [...bench.mcpServer.args],
        env: { TOKEN: 'mcp-secret' },
      };
      const credentials = join(bench.parts.stateDirectory, 'claude', 'home', '.credentials.json');
      mkdirSync(join(credentials, '..'), { recursive: true });
      writeFileSync(credentials, 'login-secret');
      const turnId = `sandbox-keys-${process.pid}`;
      const session = chosenSessionId('claude', turnId);
      const config = join(bench.parts.stateDirectory, 'claude', 'sessions', `${session}-mcp.json`);
      const [, outputs] = await act(
        [
          runs('env; cat /proc/self/environ'),
          runs(`cat ${credentials} ${config}`),
          calls('Read', { file_path: credentials }),
          calls('Read', { file_path: config }),
          runs('python3 -c "import socket; socket.socket(socket.AF_UNIX)"'),
        ],
        { turnId, mcp: [{ name: 'desk', transport: desk }] },
      );
      expect(outputs).toHaveLength(5);
      expect(outputs[1]).toMatch(/mcp\.json: Permission denied/);
      expect(outputs.join('\n')).toContain('PATH=');
      expect(outputs.join('\n')).not.toMatch(/key-of-the-fake|login-secret|mcp-secret/);
      expect(outputs[4]).toContain('PermissionError');
    });

    it('costs a resumed turn nothing but the prompt: the CLI repeats no text that the conversation has', async () => {
      const [first] = await act([runs('true')], { mcp: [{ name: 'desk', transport: { type: 'stdio', ...DEAD } }] });
      const before = lengthOf(bench.requests.at(-1));
      const [, answers] = await act([runs('true')], {
        ...(first.session === undefined ? {} : { session: first.session }),
        mcp: [{ name: 'desk', transport: { type: 'stdio', ...DEAD } }],
      });
      expect(answers).toHaveLength(1);
      // A prompt, an answer of the model and a call with its result. It was 7.8 kB while the files lay in a folder of the turn.
      expect(lengthOf(bench.requests.at(-1)) - before).toBeLessThan(800);
    });

    it('opens the network only when the access says so', async () => {
      const ask = `curl -sS -m 5 http://example.com/; curl --noproxy '*' -sS -m 5 $ANTHROPIC_BASE_URL/v1/models`;
      const [, closed] = await act([runs(ask)]);
      expect(closed[0]).toContain('not on the allow list');
      expect(closed[0]).toContain("Couldn't connect");
      const [, opened] = await act([runs(ask)], { access: { level: 'edit', network: true } });
      expect(opened[0]).not.toContain('not on the allow list');
    });

    it('lets the shell and the file tools write to the folders that the access adds', async () => {
      const [result] = await act(
        [
          runs(`echo x > ${place.outside}/shell`),
          calls('Write', { file_path: join(place.outside, 'tool'), content: 'x' }),
        ],
        { access: { level: 'edit', writable: [place.outside] } },
      );
      expect(result.denials).toEqual([]);
      expect(readdirSync(place.outside).toSorted()).toEqual(['shell', 'tool']);
    });

    it('read-only access can look, with git and the shell too, and nothing else', async () => {
      const readOnly = { access: { level: 'read-only' } } as const;
      // What squad itself prepares for the sandbox is there after a first turn.
      await act([], readOnly);
      const everything = () => ({ ...everythingElse(), ...files(snapshot(place.clone)) });
      const before = everything();
      const [result, outputs] = await act(
        [
          calls('Read', { file_path: join(place.clone, 'readme.md') }),
          runs('git show --stat HEAD && git status --short && node -e "console.log(6 * 7)"'),
          runs('touch x'),
          runs(
            `touch ${place.user}/x; touch ${place.user}/.git/x; touch .git/x; touch .git/objects/x; touch ${place.outside}/x`,
          ),
          runs('git commit --allow-empty -m x; git update-ref refs/heads/main HEAD~1; git branch x'),
          runs(`sed -i s/fixture/planted/ readme.md; echo x > .git/HEAD; rm -f readme.md`),
          calls('Write', { file_path: join(place.clone, 'x'), content: 'x' }),
          calls('Read', { file_path: '/etc/passwd' }),
        ],
        readOnly,
      );
      expect(result.outcome).toBe('completed');
      expect(outputs[0]).toContain('# fixture');
      expect(outputs[1]).toContain('readme.md');
      expect(outputs[1]).toContain('42');
      expect(outputs[7]).not.toContain('root:');
      expect(everything()).toEqual(before);
    });

    it('full access is not confined', async () => {
      const [result] = await act([runs(`touch ${place.outside}/x`)], { access: { level: 'full' } });
      expect(result).toMatchObject({ outcome: 'completed', denials: [] });
      expect(existsSync(join(place.outside, 'x'))).toBe(true);
    });
  },
);

lane('access edit of claude without bubblewrap', () => {
  afterEach(() => bench.close());

  let tools: string;
  beforeEach(async () => {
    tools = mkdtempSync(join(tmpdir(), 'squad-tools-'));
    for (const name of ['git', 'bash', 'sh', 'touch', 'cat', 'env', 'curl']) {
      const from = (process.env['PATH'] ?? '')
        .split(':')
        .map((folder) => join(folder, name))
        .find((path) => existsSync(path));
      if (from !== undefined) symlinkSync(from, join(tools, name));
    }
    await open({ PATH: tools });
  });
  afterEach(() => rmSync(tools, { recursive: true }));

  it('falls back to permission rules, and says so', async () => {
    expect((await bench.runtime().probe()).sandbox).toBe('rules');
    expect((await bench.runtime().probe()).problems.map(({ next }) => next).join()).toContain('bubblewrap');
    const [result, outputs] = await act([
      calls('Write', { file_path: join(place.clone, 'made.txt'), content: 'made\n' }),
      calls('Write', { file_path: join(place.outside, 'made.txt'), content: 'made\n' }),
      runs('curl http://example.com'),
      runs(`touch ${place.outside}/x`),
      runs(`git diff --output=${place.outside}/diff`),
      runs(`git log --output=${place.outside}/log`),
      runs('git status --short && git diff && git log -1 && git show --stat'),
      runs('git add -A'),
      runs('git commit -m made'),
    ]);
    expect(git(place.clone, 'log', '-1', '--format=%s')).toBe('made');
    expect(result.denials.map(({ tool }) => tool)).toEqual(['Write', 'Bash', 'Bash', 'Bash', 'Bash']);
    expect(outputs.join('\n')).toContain('commit ');
    expect(existsSync(join(place.clone, 'made.txt'))).toBe(true);
    expect(readdirSync(place.outside)).toEqual([]);
  });

  it('lets who only looks see the change, and nothing that the CLI does not take for reading', async () => {
    const before = snapshot(place.root, [
      join(place.root, 'state'),
      join(place.root, 'home'),
      join(place.root, '.squad'),
    ]);
    const [result, outputs] = await act(
      [
        runs('git show --stat HEAD && git diff HEAD'),
        runs('touch x'),
        runs(`git log --output=${place.outside}/log`),
        runs('git commit --allow-empty -m x'),
        runs('env'),
        runs('cat /etc/passwd'),
        runs('echo x > made.txt'),
      ],
      { access: { level: 'read-only' } },
    );
    expect(result.denials).toHaveLength(6);
    expect(outputs[0]).toContain('readme.md');
    expect(outputs.join()).not.toContain('key-of-the-fake');
    const after = snapshot(place.root, [
      join(place.root, 'state'),
      join(place.root, 'home'),
      join(place.root, '.squad'),
    ]);
    expect(after).toEqual(before);
  });
});
