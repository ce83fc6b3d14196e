import { english } from '../../support/english.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readMachine } from '../../../src/squad/machine.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { PLAIN } from '../../../src/cli/render/style.ts';
import { expectSound, roomForTest } from '../room.ts';
import { LED, mailRoom } from './room.ts';
import { ALL } from '../../support/lane.ts';

const VERBS = [
  'review',
  'report',
  'assign',
  'ask',
  'send',
  'done',
  'fail',
  'say',
  'reply',
  'listen',
  'inbox',
  'status',
  'trace',
];

describe('squad mail', () => {
  it.each(VERBS)('%s --help has an example', async (verb) => {
    const printed: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
    const none = () => undefined;
    const output = {
      line: none,
      json: none,
      problem: none,
      terminal: undefined,
      style: PLAIN,
      columns: none,
      isLost: () => false,
    };
    const argv = ['node', 'squad', 'mail', verb, '--help'];
    const program = await createProgram({ host: readMachine(), output, exit: () => undefined }, '0', argv);
    try {
      await expect(program.parseAsync(argv)).rejects.toThrow('outputHelp');
    } finally {
      write.mockRestore();
    }
    expect(printed.join('')).toMatch(new RegExp(`Example:\\n {2}squad mail ${verb}`));
  });

  it('says where nothing ran that there is no mail, and makes nothing', async () => {
    const room = roomForTest();
    expect(await room.run(['mail', 'inbox'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'squad: nothing has run here yet, so there is no mail\nNext: Start a run: `squad run objective.md`.\n',
    });
  });
});

describe('a whole round by hand', () => {
  it('review, report, verify, verified, assign, say, reply, done', ALL, async () => {
    const room = mailRoom();
    const squad = async (...args: string[]) => {
      const end = await room.run(['mail', ...args], {});
      expect(end, args.join(' ')).toMatchObject({ code: 0, stderr: '' });
      return end.stdout;
    };
    expect(
      await squad('review', '--to', 'a,B', '--task', 'DOC-1', '--file', 'docs/design.md', '--focus', 'func,ux'),
    ).toBe('sent  #1  MAIN → A, B  ask/review  DOC-1\n');
    expect(await squad('inbox', '--as', 'a', '--take')).toBe(
      'from:MAIN | ask/review | to:A,B | task:DOC-1 | says:docs/design.md | #1\n',
    );
    expect(await squad('inbox', '--as', 'a', '--take')).toBe('no new mail\n');
    const issues = [
      { doc_path: 'docs/design.md#L1', category: 'docs', severity: 'low', summary: 's', suggestion: 't' },
    ];
    await squad('report', '--as', 'a', '--issues', JSON.stringify(issues), '--summary', 'one thing');
    await squad('done', '--as', 'B');
    await squad(
      'ask',
      '--action',
      'verify',
      '--to',
      'A',
      '--task',
      'DOC-1',
      '--doc-path',
      'docs/design.md',
      '--changes-summary',
      'mended',
      '--question',
      'so?',
    );
    await squad('done', '--as', 'A', '--action', 'verified');
    await squad(
      'assign',
      '--to',
      'B',
      '--task',
      'FEAT-1',
      '--files',
      'src/router.ts',
      '--success-criteria',
      'Tests pass,Read',
      '--deadline',
      '2h',
    );
    expect(await squad('say', '--as', 'b', 'which', 'port?')).toBe('sent  #7  B → MAIN  ask/clarify  FEAT-1\n');
    expect(await squad('inbox')).toMatch(
      /^! from:B \| question:which port\? \| doc:- \| code:src\/router\.ts \| #7\nfrom:/,
    );
    expect(await squad('reply', 'it takes', '4711')).toBe('sent  #8  MAIN → B  send/answer  FEAT-1\n');
    await squad('done', '--as', 'b', '--task', 'FEAT-1', '--summary', 'as agreed');
    const messages = room.messages();
    expect(messages.map(({ from, type, action, corr }) => [from, action ?? type, corr?.split('-').at(-1)])).toEqual([
      ['MAIN', 'review', undefined],
      ['A', 'review_feedback', '1'],
      ['B', 'done', '1'],
      ['MAIN', 'verify', undefined],
      ['A', 'verified', '4'],
      ['MAIN', 'assign', undefined],
      ['B', 'clarify', undefined],
      ['MAIN', 'answer', '7'],
      ['B', 'done', '6'],
    ]);
    expect(JSON.parse(messages[6]?.body ?? '')).toEqual({
      code_path: 'src/router.ts',
      question: 'which port?',
      context: 'Tests pass',
    });
    expect(messages[6]).toMatchObject({
      task_id: 'FEAT-1',
      owner: 'MAIN',
      agent_instance: expect.any(String) as string,
    });
    const [status] = (await room.run(['mail', 'status', '--json'])).lines;
    expect(status).toMatchObject({
      unanswered: [],
      tasks: [
        { id: 'DOC-1', status: 'verified' },
        { id: 'FEAT-1', status: 'done' },
      ],
    });
    expectSound(room);
  });
});

const REFUSED: readonly (readonly [string, string[], number, RegExp])[] = [
  ['a member that is none', ['inbox', '--as', 'x'], 2, /no member is called x; members: MAIN, A, B\nNext: .*--as/],
  [
    'an unknown address',
    ['say', '--to', 'C', 'hi'],
    65,
    /invalid_format {2}to\[0\] {2}must be one of the addresses MAIN, A, B/,
  ],
  ['a run that nobody knows', ['inbox', '--run', 'x'], 2, /no run is called x\nNext: There is: tidy\./],
  ['no recipient', ['say', 'hi'], 2, /squad mail say needs --to/],
  ['an option that is missing', ['ask', '--question', 'x'], 2, /required option '--action <action>'/],
  ['a time that is none', ['review', '--deadline', 'soon'], 2, /soon is not a time/],
  ['a time-out of nothing', ['say', '--timeout', '5s', 'hi'], 2, /--timeout needs --wait/],
  ['a corr that is nobody’s', ['reply', '--to', 'A', '--corr', 'nobody-1-1', 'x'], 65, /invalid_format {2}corr/],
  [
    'a body that is no object',
    ['send', '--to', 'A', '--action', 'note', '--body', '[]'],
    2,
    /--body must be a JSON object/,
  ],
  ['issues that are no list', ['report', '--issues', '{}'], 2, /It must be a JSON array/],
  ['--auto-input', ['listen', '--auto-input'], 2, /declined: squad never types into another program/],
  ['--auto-reply', ['listen', '--auto-reply'], 2, /declined: a model that answers outside/],
  ['--prompt-path', ['listen', '--prompt-path', 'x'], 2, /declined: a model that answers outside/],
  [
    'a wait for an answer to what nobody answers',
    ['send', '--to', 'A', '--action', 'note', '--wait', 'done'],
    2,
    /--wait done is for asks/,
  ],
];

describe('what is refused', () => {
  it('by the router: with reason, field and rule, exit 65, and on record', async () => {
    const room = mailRoom();
    const args = [
      'mail',
      'assign',
      '--as',
      'b',
      '--to',
      'MAIN',
      '--task',
      'T',
      '--files',
      'a',
      '--success-criteria',
      'x',
      '--deadline',
      '60',
    ];
    const told = await room.run(args);
    expect(told).toMatchObject({ code: 65, stdout: '' });
    expect(told.stderr).toMatch(/^refused {2}not_authorized {2}action {2}is not allowed for B; its permissions: /);
    const { lines } = await room.run([...args, '--json']);
    expect(lines).toMatchObject([{ event: 'refused', reason: 'not_authorized', field: 'action' }]);
    const ledger = room.ledger();
    expect(ledger.events({ stream: room.recorded.id }).filter(({ type }) => type === 'mail-refused')).toHaveLength(2);
    ledger.close();
  });

  it('before or by the router, each with what to do, and nothing is sent', ALL, async () => {
    const room = mailRoom();
    for (const [title, args, code, expected] of REFUSED) {
      const end = await room.run(['mail', ...args], {});
      expect(end.stderr, title).toMatch(expected);
      expect(end, title).toMatchObject({ code, stdout: '' });
    }
    expect(room.messages()).toEqual([]);
  });

  it('a person who does not say as whom, where an agent is MAIN', async () => {
    const end = await mailRoom(LED).run(['mail', 'inbox']);
    expect(end.stderr).toMatch(/an agent is MAIN in this run[^]*Next: Add `--as <member>`/);
    expect(end.code).toBe(2);
  });
});

describe('a reply without --corr', () => {
  async function asked(...asks: readonly [as: string, task: string, text: string][]) {
    const room = mailRoom();
    for (const [as, task, text] of asks) await room.run(['mail', 'say', '--as', as, '--task', task, text]);
    return room;
  }

  it('takes the newest ask of one sender about one task', async () => {
    const room = await asked(['a', 'T-1', 'first?'], ['a', 'T-1', 'second?']);
    expect((await room.run(['mail', 'reply', 'yes'])).stdout).toBe('sent  #3  MAIN → A  send/answer  T-1\n');
    expect(room.messages().at(-1)?.corr).toMatch(/-2$/);
  });

  it('is refused where several fit, which are listed with the command, and sends nothing', async () => {
    const room = await asked(['a', 'T-1', 'first?'], ['b', 'T-2', 'second?']);
    const end = await room.run(['mail', 'reply', 'yes']);
    expect(end).toMatchObject({ code: 2, stdout: '' });
    expect(end.stderr).toMatch(
      /MAIN owes several answers[^]*T-1 {2}from:A \| question:first\?.*#1\n.*T-2 .*second\?.*#2\n/,
    );
    expect(end.stderr).toMatch(/Next: .*squad mail reply --corr '#<number>'/);
    expect(room.messages()).toHaveLength(2);
    expect((await room.run(['mail', 'reply', '--task', 'T-2', 'yes'])).stdout).toMatch(/MAIN → B/);
    expect((await room.run(['mail', 'reply', '--corr', '#1', 'no'])).stdout).toMatch(/MAIN → A/);
    expect(
      room
        .messages()
        .slice(2)
        .map(({ corr }) => corr?.split('-').at(-1)),
    ).toEqual(['2', '1']);
  });

  it('is refused where none fits', async () => {
    const end = await mailRoom().run(['mail', 'reply', 'yes']);
    expect(end.stderr).toMatch(/MAIN owes no answer/);
    expect(end.code).toBe(2);
  });
});

describe('what goes out', () => {
  it('is one message under one key', async () => {
    const room = mailRoom();
    const args = ['mail', 'say', '--as', 'a', '--key', 'once', 'so?'];
    expect((await room.run(args)).stdout).toMatch(/^sent {2}#1/);
    expect((await room.run(args)).stdout).toMatch(/^sent before {2}#1/);
    expect(room.messages()).toHaveLength(1);
  });

  it('has a long body from a file, read back whole', async () => {
    const room = mailRoom();
    const text = 'x'.repeat(10_000);
    writeFileSync(join(room.root, 'body.json'), JSON.stringify({ text }));
    await room.run(['mail', 'send', '--to', 'A', '--action', 'note', '--body-file', join(room.root, 'body.json')]);
    expect(room.messages()[0]).toMatchObject({ body: '', body_ref: expect.any(String) as string });
    const [line] = (await room.run(['mail', 'inbox', '--as', 'A', '--take', '--json'])).lines;
    expect(line).toMatchObject({ event: 'message', v: '1', from: 'MAIN' });
    expect(JSON.parse(String(line?.['body']))).toEqual({ text });
  });

  it('shows nothing that a terminal obeys', async () => {
    const room = mailRoom();
    await room.run(['mail', 'say', '--as', 'a', '\u001b[2J\u001b]0;owned\u0007\u202eevil']);
    const { stdout } = await room.run(['mail', 'inbox']);
    expect(stdout).toContain('evil');
    expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });
});

describe('an agent’s mail', () => {
  it('is only looked at, and stays for the agent, unless it is taken in its place', async () => {
    const room = mailRoom();
    await room.run(['mail', 'send', '--to', 'A', '--action', 'note', '--summary', 'hello']);
    const looked = await room.run(['mail', 'inbox', '--as', 'a']);
    expect(looked.stdout).toMatch(/says:hello \| #1\n$/);
    expect(looked.stderr).toBe('It stays unread: it is for the agent A. To read it in its place: --take\n');
    const unread = async () => (await room.run(['mail', 'status', '--json'])).lines[0]?.['counts'];
    expect(await unread()).toMatchObject({ unread: 1 });
    const listening = room.start(['mail', 'listen', '--as', 'a', '--json']);
    await listening.line(({ seq }) => seq === 1);
    listening.child.kill('SIGINT');
    await listening.finished;
    const [status] = (await room.run(['mail', 'status', '--json'])).lines;
    expect(status).toMatchObject({ counts: { unread: 1 }, members: [{}, { address: 'A', online: false }, {}] });
    expect((await room.run(['mail', 'inbox', '--as', 'a', '--take'])).stderr).toBe('');
    expect(await unread()).toMatchObject({ unread: 0 });
  });
});

describe('what waits for a person', () => {
  it('is marked, and stands above all else, also once it is read', async () => {
    const room = mailRoom();
    await room.run(['mail', 'send', '--as', 'a', '--action', 'note', '--to', 'MAIN', '--summary', 'first']);
    await room.run(['mail', 'say', '--as', 'a', 'which?']);
    const inbox = async () => (await room.run(['mail', 'inbox'])).stdout.split('\n');
    expect(await inbox()).toEqual([
      '! from:A | question:which? | doc:- | code:- | #2',
      'from:A | send | to:MAIN | task:- | says:first | #1',
      '',
    ]);
    expect(await inbox()).toEqual(['! from:A | question:which? | doc:- | code:- | #2', '']);
    const status = (await room.run(['mail', 'status'])).stdout.split('\n');
    expect(status.slice(2, 6)).toEqual([
      '',
      'without an answer',
      expect.stringMatching(/^ {2}! .*which\?/),
      expect.anything(),
    ]);
    await room.run(['mail', 'reply', 'this one']);
    expect(await inbox()).toEqual(['no new mail', '']);
  });
});

describe('the language of a line', () => {
  const ZH = '! 窗口:A | 问题:which? | 文档路径:- | 代码路径:- | #1\n';

  it('is English, another one by --locale, or as squad.yaml says', ALL, async () => {
    const room = mailRoom();
    await room.run(['mail', 'say', '--as', 'a', 'which?']);
    const peek = async (...more: string[]) => (await room.run(['mail', 'inbox', '--peek', ...more])).stdout;
    expect(await peek()).toBe('! from:A | question:which? | doc:- | code:- | #1\n');
    expect(await peek('--locale', 'zh')).toBe(ZH);
    writeFileSync(join(room.repository, 'squad.yaml'), 'version: 1\nmail:\n  locale: zh\n');
    expect(await peek()).toBe(ZH);
    expect(await peek('--locale', 'en')).toMatch(/^! from:A/);
    const faces = [
      await room.run(['mail', 'send', '--to', 'A', '--action', 'note', '--summary', '一']),
      await room.run(['mail', 'status']),
      await room.run(['mail', 'trace']),
      await room.run(['mail', 'inbox', '--as', 'a']),
      await room.run(['mail', 'inbox', '--as', 'b']),
      await room.run(['mail', 'reply', '好']),
    ].map(({ stdout, stderr }) => stdout + stderr);
    const own = faces.map((text) => text.replaceAll(/Z {2}|  \(member [ab]\)/g, ' '));
    expect(own.flatMap((text) => english(text.replaceAll(/squad mail [^\n]*/g, '')))).toEqual([]);
    for (const text of faces) expect(text).toMatch(/[一-鿿]/);
  });
});
