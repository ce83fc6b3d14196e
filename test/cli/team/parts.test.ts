import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  enginePane,
  environmentOfRuntimes,
  memberPane,
  membersOf,
  windowNameOf,
} from '../../../src/cli/team/team-panes.ts';
import { compose } from '../../../src/engine/compose.ts';
import { testHost } from '../../support/test-host.ts';
import { paneTitle } from '../../../src/cli/team/pane-mail.ts';
import { takeTicket, ticketSchema, writeTicket } from '../../../src/squad/ticket.ts';
import { readTyped } from '../../../src/cli/team/typed-line.ts';
import { isSquadError } from '../../../src/model/errors.ts';
import { LED } from '../mail/room.ts';

describe('a typed line', () => {
  const main = (line: string, ...asks: number[]) => readTyped(line, { address: 'MAIN', asks, isAgent: false });
  const member = (line: string, ...asks: number[]) => readTyped(line, { address: 'A', asks, isAgent: false });
  const agent = (line: string, ...asks: number[]) => readTyped(line, { address: 'A', asks, isAgent: true });

  it('is a question to MAIN in a member’s pane, whatever is open there', () => {
    expect(member('  which\tbackoff? ')).toEqual({ do: 'say', text: 'which backoff?' });
    expect(member('which backoff?', 7)).toEqual({ do: 'say', text: 'which backoff?' });
  });

  it('answers the only open question in the pane of MAIN, and never one of several', () => {
    expect(main('exponential', 7)).toEqual({ do: 'reply', to: 7, text: 'exponential' });
    expect(main('exponential')).toMatchObject({ do: 'refused', why: expect.stringContaining('@A') as string });
    expect(main('exponential', 7, 9)).toMatchObject({
      do: 'refused',
      why: expect.stringContaining('#7, #9') as string,
    });
  });

  it('is a note to the agent in its pane, and a question to MAIN where it says so', () => {
    expect(agent('use  tabs', 7)).toEqual({ do: 'tell', text: 'use tabs', now: false });
    expect(agent('/now stop')).toEqual({ do: 'tell', text: 'stop', now: true });
    expect(agent('/as which backoff?')).toEqual({ do: 'say', text: 'which backoff?' });
    expect(agent('@B are you there?')).toEqual({ do: 'say', to: 'B', text: 'are you there?' });
    expect(member('/as which backoff?')).toEqual({ do: 'say', text: 'which backoff?' });
    for (const line of ['/as', '/now', '/as ', '/nowhere']) expect(agent(line).do, line).toBe('refused');
    for (const line of ['/now stop', '/as me']) expect(main(line).do, line).toBe('refused');
  });

  it('goes where it says', () => {
    expect(main('@B are you there?', 7)).toEqual({ do: 'say', to: 'B', text: 'are you there?' });
    expect(member('#12 yes')).toEqual({ do: 'reply', to: 12, text: 'yes' });
  });

  it.each(['#12', '#12 ', '@B', '/nothing', '/quit now'])('%j sends nothing', (line) => {
    expect(main(line, 12).do).toBe('refused');
    expect(member(line, 12).do).toBe('refused');
  });

  it('may be words that only begin like a number', () => {
    expect(member('#12th is the day')).toEqual({ do: 'say', text: '#12th is the day' });
    expect(member('#heading')).toEqual({ do: 'say', text: '#heading' });
  });

  it.each([
    ['', 'nothing'],
    ['   ', 'nothing'],
    ['/help', 'help'],
    ['/asks', 'asks'],
    ['/quit', 'quit'],
  ])('%j is %s', (line, what) => {
    expect(main(line)).toEqual({ do: what });
  });
});

describe('the variables of a pane', () => {
  const provider = { model_provider: 'mine', 'model_providers.mine': { env_key: 'MINE_KEY' } };
  const passed = [
    ...[
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'ANTHROPIC_BASE_URL',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'CLAUDE_CONFIG_DIR',
    ],
    ...['CODEX_API_KEY', 'CODEX_HOME', 'CODEX_CA_CERTIFICATE', 'OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_MODEL'],
    ...['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_BASE_URL', 'GOOGLE_VERTEX_BASE_URL', 'DASHSCOPE_API_KEY'],
    ...['COPILOT_GITHUB_TOKEN', 'COPILOT_MODEL', 'COPILOT_PROVIDER_API_KEY', 'GH_TOKEN', 'GITHUB_TOKEN'],
    ...[
      'OPENCODE_API_KEY',
      'KIMI_API_KEY',
      'MOONSHOT_API_KEY',
      'HTTPS_PROXY',
      'MINE_KEY',
      'HIS_KEY',
      'YOUR_KEY',
      'CHECK_KEY',
    ],
  ];

  it('are those that runtimes may get, and those of the settings', () => {
    const environment = Object.fromEntries([...passed, 'AWS_SECRET_ACCESS_KEY', 'LANG'].map((name) => [name, 'x']));
    const runtimes = {
      codex: { env: ['HIS_KEY'], config: provider },
      'acp/mine': { env: ['YOUR_KEY'], command: '/bin/agent' },
    };
    const verify = [{ run: 'npm test', minutes: 10, env: ['CHECK_KEY'] }];
    const settings = { runtimes, tracing: undefined, setup: [], verify };
    const given = environmentOfRuntimes(environment, compose(testHost('/home')), settings);
    expect(Object.keys(given).toSorted()).toEqual(passed.toSorted());
  });
});

describe('names', () => {
  it('say what waits', () => {
    expect(paneTitle('team-1-A', { asks: 0, unread: 0, oldestMs: 0 })).toBe('team-1-A');
    expect(paneTitle('team-1-A', { asks: 2, oldestAskMs: 600_000, unread: 3, oldestMs: 130_000 })).toBe(
      'team-1-A · 2 to answer, oldest 10 min · 3 unread, oldest 2 min',
    );
  });

  it('hold nothing that a terminal acts on, whatever the settings say', () => {
    expect(windowNameOf('\u001b]2;x\u0007{role}\n{session}', '1234', 'A')).toBe('A 1234');
  });

  it('have MAIN first, and a name of its own for each pane', () => {
    const [main, ...others] = LED.members;
    const members = main === undefined ? [] : [...others, main];
    let count = 0;
    const made = membersOf({ ...LED, members }, { session: '3f2504e0-4f89', format: 'x-{session}-{role}' }, () =>
      String((count += 1)),
    );
    expect(made).toEqual([
      { address: 'MAIN', instance: 'MAIN-1', windowName: 'x-3f2504e0-MAIN' },
      { address: 'A', instance: 'A-2', windowName: 'x-3f2504e0-A' },
      { address: 'B', instance: 'B-3', windowName: 'x-3f2504e0-B' },
    ]);
  });
});

describe('panes', () => {
  const facts = { program: ['/node', '/squad'], directory: '/here', environment: { PATH: '/bin' }, run: 'tidy' };
  const whole = { ...facts, session: '3f2504e0-4f89', epoch: 3, format: '' };

  it('have the variables of the protocol', () => {
    const pane = memberPane(whole, { address: 'A', instance: 'A-1', windowName: 'w' }, '/ticket');
    expect(pane).toEqual({
      title: 'w',
      command: ['/node', '/squad', 'team', 'pane', '--run', 'tidy', '--as', 'A', '--ticket', '/ticket'],
      directory: '/here',
      environment: {
        PATH: '/bin',
        TEAM_ROLE: 'A',
        TEAM_AGENT_ID: 'A-1',
        TEAM_SESSION: '3f2504e0-4f89',
        TEAM_EPOCH: '3',
        TEAM_WINDOW_NAME: 'w',
        SQUAD_AGENT: 'A',
        SQUAD_RUN: 'tidy',
      },
      stays: false,
    });
  });

  it('keep the engine’s last words', () => {
    expect(enginePane(facts, ['run', '--', 'x.md'], '/ticket')).toMatchObject({
      command: ['/node', '/squad', 'team', 'engine', '--ticket', '/ticket', '--', 'run', '--', 'x.md'],
      stays: true,
    });
  });
});

describe('a ticket', () => {
  const ticket = {
    token: 'a'.repeat(64),
    run: 'tidy',
    address: 'A',
    windowName: 'w',
    locale: 'en' as const,
    environment: { A: 'b' },
  };

  it('is its owner’s to read, once', async () => {
    const directory = folder();
    const path = await writeTicket(directory, ticket);
    expect([statSync(path).mode & 0o777, statSync(join(directory, 'panes')).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(await takeTicket(path, ticketSchema)).toEqual(ticket);
    expect(readdirSync(join(directory, 'panes'))).toEqual([]);
    await expect(takeTicket(path, ticketSchema)).rejects.toSatisfy(
      (error) => isSquadError(error) && error.code === 'usage',
    );
  });

  it.each([
    ['a link', (path: string) => symlinkSync('/etc/passwd', path)],
    ['no ticket', (path: string) => writeFileSync(path, '{"token":1}')],
    ['a large file', (path: string) => writeFileSync(path, 'x'.repeat(200_000))],
  ])('is not %s', async (_name, make) => {
    const path = join(folder(), 'ticket');
    make(path);
    await expect(takeTicket(path, ticketSchema)).rejects.toSatisfy(
      (error) => isSquadError(error) && error.code === 'usage',
    );
  });
});

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'squad-ticket-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
