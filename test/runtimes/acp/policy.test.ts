import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { McpServer } from '../../../src/model/turn-request.ts';
import type { HostPlan } from '../../../src/runtimes/acp/host/plan.ts';
import { decide, nameOf, optionFor } from '../../../src/runtimes/acp/host/policy.ts';
import { profileOf } from '../../../src/runtimes/acp/profiles.ts';
import { realPath } from '../../../src/substrate/system/files/real-path.ts';

const transport: McpServer['transport'] = { type: 'stdio', command: '/bin/true', args: [], env: {} };
const MAIL: McpServer = { name: 'squad', transport };
const ISSUES: McpServer = { name: 'issues', tools: ['list'], transport };

type Policy = HostPlan['policy'];
const policy = (more: Partial<Policy> = {}): Policy => ({
  ...{ access: 'edit', network: false, writable: [], allow: [], deny: [] },
  ...more,
});

/** Paths are what they say. */
function judge(call: object, of: Partial<Policy> = {}, quirks: HostPlan['quirks'] = {}) {
  const rules = { policy: policy(of), mcp: [MAIL, ISSUES], cwd: '/task', quirks };
  return decide({ ...call }, rules, (path) => (path.includes('lost') ? undefined : join(path, '')));
}

const edit = (path: unknown) => ({ kind: 'edit', locations: [{ path }] });
const LEVELS = ['read-only', 'edit', 'full'] as const;

describe('OpenCode’s own tools', () => {
  it.each([
    ['todowrite', 'allowed'],
    ['skill', 'allowed'],
    ['doom_loop', 'unknown'],
  ])('%s is %s', (title, answer) => {
    const { quirks = {} } = profileOf('opencode');
    expect(judge({ title, kind: 'other' }, { access: 'read-only' }, quirks).answer).toBe(answer);
  });
});

describe('what is asked for, by access', () => {
  it.each<[string, object, readonly string[]]>([
    ['a read', { kind: 'read', locations: [{ path: '/etc/hosts' }] }, ['allowed', 'allowed', 'allowed']],
    ['a search', { kind: 'search' }, ['allowed', 'allowed', 'allowed']],
    ['a thought', { kind: 'think' }, ['allowed', 'allowed', 'allowed']],
    ['an edit inside', edit('/task/a.ts'), ['rejected', 'allowed', 'allowed']],
    ['an edit outside', edit('/etc/passwd'), ['rejected', 'rejected', 'allowed']],
    ['an edit of no file', { kind: 'edit', rawInput: { text: 'x' } }, ['rejected', 'rejected', 'allowed']],
    ['a deletion inside', { kind: 'delete', rawInput: { path: 'a.ts' } }, ['rejected', 'allowed', 'allowed']],
    [
      'a move out',
      { kind: 'move', rawInput: { from_path: 'a', target: '/tmp/a' } },
      ['rejected', 'rejected', 'allowed'],
    ],
    ['a command', { kind: 'execute', rawInput: { command: 'ls' } }, ['rejected', 'allowed', 'allowed']],
    [
      'a command elsewhere',
      { kind: 'execute', rawInput: { command: 'ls', cwd: '/' } },
      ['rejected', 'rejected', 'allowed'],
    ],
    ...[
      'git diff --no-ext-diff --no-textconv 1a2b3c HEAD~1',
      'git --no-pager show --stat HEAD -- src/a.ts',
      'git log -3',
      'git status',
    ].map((command): [string, object, readonly string[]] => [
      command,
      { kind: 'execute', rawInput: { command } },
      ['allowed', 'allowed', 'allowed'],
    ]),
    ...[
      'git diff; rm a',
      'git diff > a',
      'git diff $(rm a)',
      'git diff --output=a',
      'git diff --ext-diff',
      'git diff --ext-d',
      'git log --outpu=x',
      'git show -Oa',
      'git log\nrm a',
      'git push',
      'git  diff',
      'git -c core.pager=rm log',
      'ls',
    ].map((command): [string, object, readonly string[]] => [
      command,
      { kind: 'execute', rawInput: { command } },
      ['rejected', 'allowed', 'allowed'],
    ]),
    ['a look that is named in the title', { kind: 'execute', title: 'git diff' }, ['allowed', 'allowed', 'allowed']],
    [
      'a command with the title of a look',
      { kind: 'execute', title: 'git diff', rawInput: { command: 'rm a' } },
      ['rejected', 'allowed', 'allowed'],
    ],
    [
      'two commands, one of them a look',
      { kind: 'execute', rawInput: { command: 'git diff', commands: ['git diff', 'rm a'] } },
      ['rejected', 'allowed', 'allowed'],
    ],
    ['a download', { kind: 'fetch', rawInput: { url: 'https://x.test' } }, ['rejected', 'rejected', 'allowed']],
    ['a tool of the turn’s servers', { kind: 'other', name: 'mcp__squad__send' }, ['allowed', 'allowed', 'allowed']],
    ['a tool of another server', { kind: 'other', name: 'mcp__other__send' }, ['unknown', 'unknown', 'allowed']],
    ['another mode', { kind: 'switch_mode', title: 'Leave plan mode' }, ['unknown', 'unknown', 'allowed']],
    ['a kind that is new', { kind: 'teleport' }, ['unknown', 'unknown', 'allowed']],
    ['no kind', {}, ['unknown', 'unknown', 'allowed']],
    ['a kind that is no text', { kind: { toString: 'read' } }, ['unknown', 'unknown', 'allowed']],
    // What an agent calls a read may say in itself that it is none.
    [
      'a read with a change',
      { kind: 'read', content: [{ type: 'diff', path: '/etc/x' }] },
      ['rejected', 'rejected', 'allowed'],
    ],
    ['a read by a command', { kind: 'read', rawInput: { command: 'rm x' } }, ['rejected', 'allowed', 'allowed']],
    ['a mail tool that edits', { kind: 'edit', name: 'mcp__squad__send' }, ['rejected', 'rejected', 'allowed']],
    [
      'a mail tool with a command',
      { name: 'mcp__squad__send', rawInput: { command: 'x' } },
      ['rejected', 'allowed', 'allowed'],
    ],
  ])('%s', (_what, call, wanted) => {
    expect(LEVELS.map((access) => judge(call, { access }).answer)).toEqual(wanted);
  });

  it('allows a download where the turn has a network', () => {
    expect(judge({ kind: 'fetch' }, { network: true }).answer).toBe('allowed');
    expect(judge({ kind: 'fetch' }, { network: true, access: 'read-only' }).answer).toBe('allowed');
  });
});

describe('paths of an edit', () => {
  it.each<[string, object, 'allowed' | 'rejected']>([
    ['relative', edit('src/a.ts'), 'allowed'],
    ['the folder itself', edit('/task'), 'allowed'],
    ['a name that begins alike', edit('/tasks/a'), 'rejected'],
    ['above', edit('../a'), 'rejected'],
    ['above and back', edit('../task/a'), 'allowed'],
    ['down and far up', edit('a/../../b'), 'rejected'],
    ['the home', edit('~/.bashrc'), 'rejected'],
    ['a URL', edit('file:///task/a'), 'rejected'],
    ['a drive', edit('C:\\work\\a'), 'rejected'],
    ['a control character', edit('a\u0007b'), 'rejected'],
    ['half a character', edit('a\ufffdb'), 'rejected'],
    ['one whose place is unknown', edit('/task/lost'), 'rejected'],
    ['a writable folder', edit('/more/a'), 'allowed'],
    [
      'a diff inside, a location outside',
      { ...edit('/etc/a'), content: [{ type: 'diff', path: '/task/a' }] },
      'rejected',
    ],
    [
      'a location inside, a diff outside',
      { ...edit('/task/a'), content: [{ type: 'diff', path: '/etc/a' }] },
      'rejected',
    ],
    ['only in the input', { kind: 'edit', rawInput: { file_path: '/task/a', content: '/etc/passwd' } }, 'allowed'],
    ['deep in the input', { kind: 'edit', rawInput: { edits: [{ where: { filePath: '/etc/a' } }] } }, 'rejected'],
    ['a list', { kind: 'edit', rawInput: { paths: ['a', '/etc/b'] } }, 'rejected'],
    ['a file name', { kind: 'edit', rawInput: { fileName: '/etc/b' } }, 'rejected'],
    ['a path that is no text', edit({ path: 1 }), 'rejected'],
    [
      'more than anybody looks at',
      { kind: 'edit', rawInput: { paths: Array.from({ length: 5000 }, () => 'a') } },
      'rejected',
    ],
  ])('%s', (_what, call, wanted) => {
    expect(judge(call, { writable: ['/more'] }).answer).toBe(wanted);
  });

  it('looks at the true places', () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-policy-')));
    const [cwd, outside] = [join(root, 'inside'), join(root, 'outside')];
    for (const folder of [cwd, join(cwd, 'deep'), outside]) mkdirSync(folder);
    writeFileSync(join(outside, 'secret'), '');
    symlinkSync(outside, join(cwd, 'out'));
    symlinkSync(join(cwd, 'deep'), join(cwd, 'in'));
    symlinkSync(join(outside, 'new'), join(cwd, 'dangling'));
    symlinkSync('loop', join(cwd, 'loop'));
    // `deep/up/..` is `outside` to the system, and `deep` to a program that shortens paths first.
    symlinkSync(join(outside), join(cwd, 'deep', 'up'));
    const rules = { policy: policy(), mcp: [], cwd, quirks: {} };
    const answers = [
      'in/a',
      'new/a',
      'deep/a',
      'out/secret',
      'out/new',
      'dangling',
      'loop',
      'deep/up/../x',
      'out/../secret',
      'out/../inside/a',
    ].map((path) => [path, decide(edit(path), rules, realPath).answer]);
    expect(answers).toEqual([
      ...[
        ['in/a', 'allowed'],
        ['new/a', 'allowed'],
        ['deep/a', 'allowed'],
      ],
      ...[
        ['out/secret', 'rejected'],
        ['out/new', 'rejected'],
        ['dangling', 'rejected'],
        ['loop', 'rejected'],
      ],
      ...[
        ['deep/up/../x', 'rejected'],
        ['out/../secret', 'rejected'],
        ['out/../inside/a', 'allowed'],
      ],
    ]);
    // The folder of the turn may be a link itself.
    symlinkSync(cwd, join(root, 'link'));
    expect(decide(edit('a'), { ...rules, cwd: join(root, 'link') }, realPath).answer).toBe('allowed');
  });
});

describe('rules', () => {
  it.each<[string, object, Partial<Policy>, string]>([
    ['deny by name', { kind: 'execute', name: 'shell' }, { deny: ['shell'] }, 'rejected'],
    ['deny by kind', { kind: 'execute', name: 'shell' }, { deny: ['execute'], access: 'full' }, 'rejected'],
    ['deny by beginning', { kind: 'read', name: 'read_many' }, { deny: ['read*'] }, 'rejected'],
    ['deny a server', { name: 'mcp__squad__send' }, { deny: ['squad'] }, 'rejected'],
    ['deny a tool of a server', { name: 'squad-send' }, { deny: ['squad/send'] }, 'rejected'],
    ['deny another one', { name: 'squad-inbox' }, { deny: ['squad/send'] }, 'allowed'],
    ['deny before allow', { name: 'browser' }, { deny: ['browser'], allow: ['browser'] }, 'rejected'],
    ['allow what no rule covers', { name: 'browser' }, { allow: ['browser'] }, 'allowed'],
    ['allow a download', { kind: 'fetch', name: 'web' }, { allow: ['web'] }, 'allowed'],
    [
      'never allow an edit in read-only',
      { ...edit('a'), name: 'write' },
      { access: 'read-only', allow: ['write'] },
      'rejected',
    ],
    ['never allow an edit outside', { ...edit('/etc/a'), name: 'write' }, { allow: ['write', 'edit'] }, 'rejected'],
  ])('%s', (_what, call, of, wanted) => {
    expect(judge(call, of).answer).toBe(wanted);
  });
});

describe('the names of MCP tools', () => {
  it.each<[string, object, HostPlan['quirks'], string]>([
    ['claude', { name: 'mcp__squad__mailbox_send' }, {}, 'allowed'],
    ['copilot', { name: 'squad-send' }, {}, 'allowed'],
    ['opencode', { name: 'squad_send' }, {}, 'allowed'],
    ['gemini', { name: 'mcp_squad_send' }, {}, 'allowed'],
    ['gemini, by its title', { title: 'send (squad MCP Server)' }, {}, 'allowed'],
    [
      'gemini, by its call',
      { toolCallId: 'mcp_squad_send__mcp_squad_send_1795364294609_0' },
      { toolName: 'call-id' },
      'allowed',
    ],
    ['its older form', { toolCallId: 'mcp_squad_send-1763800000-1' }, { toolName: 'call-id' }, 'allowed'],
    ['a server’s tool that is allowed', { name: 'issues_list' }, {}, 'allowed'],
    ['a server’s tool that is not', { name: 'issues_delete' }, {}, 'unknown'],
    ['a server whose name only begins alike', { name: 'squadron_send' }, {}, 'unknown'],
    ['no tool', { name: 'squad_' }, {}, 'unknown'],
    ['a sentence', { title: 'squad: send rm -rf /' }, {}, 'unknown'],
    ['a title where the name says otherwise', { name: 'browser', title: 'send (squad MCP Server)' }, {}, 'unknown'],
    [
      'a quirk for its kind',
      { name: 'squad_send', kind: 'execute' },
      { toolKinds: { squad_send: 'other' } },
      'allowed',
    ],
  ])('%s', (_agent, call, quirks, wanted) => {
    expect(judge(call, {}, quirks).answer).toBe(wanted);
  });

  it('has a name for everything', () => {
    expect(nameOf({}, {})).toBe('unknown');
    expect(nameOf({ name: 7, title: 'x'.repeat(500) }, {})).toHaveLength(200);
  });
});

describe('the option', () => {
  const option = (optionId: unknown, kind: unknown) => ({ optionId, kind, name: 'x' });
  const ALL = [
    option('a', 'allow_always'),
    option('o', 'allow_once'),
    option('r', 'reject_once'),
    option('n', 'reject_always'),
  ];
  it.each<[string, unknown, 'allow' | 'reject', boolean, string | undefined]>([
    ['once', ALL, 'allow', false, 'o'],
    ['once, even if it may be lasting', ALL, 'allow', true, 'o'],
    ['lasting if there is no other', ALL.slice(0, 1), 'allow', true, 'a'],
    ['never lasting otherwise', ALL.slice(0, 1), 'allow', false, undefined],
    ['rejecting', ALL, 'reject', true, 'r'],
    ['rejecting for good', ALL.slice(3), 'reject', true, 'n'],
    ['none', [], 'allow', false, undefined],
    ['no list', undefined, 'allow', false, undefined],
    ['a text', 'allow_once', 'allow', false, undefined],
    ['kinds that are new', [option('o', 'allow_today'), option('x', undefined)], 'allow', true, undefined],
    ['a control character', [option('o\u0000', 'allow_once')], 'allow', false, undefined],
    [
      'a control character in another',
      [option('o', 'allow_once'), option('\u001b[2J', 'reject_once')],
      'allow',
      false,
      undefined,
    ],
    ['invalid UTF-8', [option('\ufffd', 'allow_once')], 'allow', false, undefined],
    ['half a surrogate', [option('\ud800', 'allow_once')], 'allow', false, undefined],
    ['no id', [option(undefined, 'allow_once')], 'allow', false, undefined],
    ['an empty id', [option('', 'allow_once')], 'allow', false, undefined],
    ['one id with two meanings', [option('o', 'reject_once'), option('o', 'allow_once')], 'allow', false, undefined],
    ['one id twice, another once', [...ALL, option('a', 'reject_once')], 'allow', false, 'o'],
    ['what is no option', [null, 1, 'allow_once', ...ALL], 'allow', false, 'o'],
  ])('%s', (_what, options, wanted, lasting, id) => {
    expect(optionFor(options, wanted, lasting)).toBe(id);
  });
});
