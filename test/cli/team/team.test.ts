import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, NO_TMUX } from '../../support/tmux.ts';
import { LED, mailRoom, POLICY } from '../mail/room.ts';
import { teamRoom, type TeamRoom } from './room.ts';
import { ALL } from '../../support/lane.ts';
import { stateOf } from '../../support/state.ts';

const MAIN = /^team-[0-9a-f]{8}-MAIN/;
const A = /^team-[0-9a-f]{8}-A/;
const ESCAPES = '\u001b]2;owned\u0007\u001b[2J\u001b[1;31m';

describe.skipIf(NO_TMUX !== undefined)(`squad team${NO_TMUX === undefined ? '' : ` (skipped: ${NO_TMUX})`}`, () => {
  it(
    'opens a named pane for each member, in which its agent is seen at work',
    { ...ALL, timeout: 300_000 },
    async () => {
      const room = teamRoom();
      const playing = room.begin('tidy.greet-1', 'a');
      playing.print({ type: 'session', id: 's', resumed: false }, { type: 'text', text: 'I look around first.' });
      const opened = await room.team('--detach');
      expect(opened).toMatchObject({ code: 0, stderr: '' });
      expect(opened.stdout).toMatch(
        /^tidy: panes for MAIN, A, B\.\nShow them: tmux -L (team-[0-9a-f]{8}) attach-session -t =\1\n/,
      );
      expect(await room.titles()).toEqual([
        expect.stringMatching(MAIN),
        expect.stringMatching(A),
        expect.stringMatching(/^team-[0-9a-f]{8}-B/),
      ]);
      for (const title of [MAIN, A, /-B/]) await seen(room, title, 'Type /help');
      await seen(room, A, 'turn      greet-1 started: a (scripted)');
      await seen(room, A, 'says      I look around first.');

      playing.print(
        { type: 'tool-started', id: 't', tool: 'shell', kind: 'execute', input: { command: 'npm test' } },
        { type: 'text', text: `all ${ESCAPES}green` },
      );
      await seen(room, A, 'tool      shell npm test');
      await seen(room, A, 'says      all green');
      playing.print({ type: 'text', text: 'the very last word' });
      playing.settle();
      await seen(room, A, 'turn      greet-1 completed after 1.5 s: a');
      expect(await room.screenOf(A)).toContain('the very last word');
      expect(await room.screenOf(MAIN)).not.toContain('I look around');
      expect((await room.titles()).join()).not.toContain('owned');
      await expectOwnVariables(room);
    },
  );

  it('sends a line after /as as a question, and shows its answer', { ...ALL, timeout: 300_000 }, async () => {
    const room = teamRoom();
    await room.team('--detach');
    await seen(room, A, 'Type /help');
    await room.type(A, '/as which backoff? $(touch pwned) `x`');
    await seen(room, MAIN, 'mail  ←   from:A | question:which backoff? $(touch pwned) `x`');
    await seen(room, A, 'mail  →   from:A | question:which backoff?');
    await eventually('the title', async () => ((await room.titles())[0]?.includes('1 to answer') ? true : undefined));

    await room.type(MAIN, 'exponential, from 100 ms');
    await seen(room, A, 'exponential, from 100 ms');
    expect(room.messages()).toMatchObject([
      {
        from: 'A',
        to: ['MAIN'],
        type: 'ask',
        action: 'clarify',
        agent_instance: expect.stringMatching(/^A-/) as string,
      },
      { from: 'MAIN', to: ['A'], type: 'send', action: 'answer', corr: room.messages()[0]?.id },
    ]);

    await room.type(MAIN, 'and now?');
    await seen(room, MAIN, 'not sent  no question is open');
    await room.type(MAIN, '@B are you there?');
    await seen(room, MAIN, 'mail  →   from:MAIN | question:are you there?');
    await seen(room, /-B/, 'mail  ←   from:MAIN | question:are you there?');
    await room.type(A, '@B hello');
    await seen(room, A, 'refused   not_authorized');
    expect(room.messages()).toHaveLength(3);
    // An agent's mail is the agent's to read, whoever looks on.
    const deliveries = room.recorded.ledger.mail.deliveries(room.messages()[2]?.id ?? '');
    expect(deliveries).toMatchObject([{ recipient: 'B', state: 'waiting' }]);
    expect(existsSync(join(room.repository, 'pwned'))).toBe(false);

    const { recorded } = room;
    recorded.plan([
      { entry: 'changes', seq: 9, at: 9, changes: [{ do: 'finish', outcome: 'failed', why: 'nobody answers' }] },
    ]);
    recorded.publish();
    recorded.ledger.releaseLease(recorded.lease);
    await room.type(A, '/as one more thing');
    await seen(room, A, 'refused   run tidy is finished: no agent reads mail any more. Next: To have more done');
    expect(room.messages()).toHaveLength(3);
  });

  it('has a person’s mail read as it is shown, and closes what it opened', { ...ALL, timeout: 300_000 }, async () => {
    const room = teamRoom(POLICY);
    await room.team('--detach');
    await seen(room, A, 'Type /help');
    const { mail, id: runId } = { mail: room.recorded.ledger.mail, id: room.recorded.id };
    mail.send(room.person('A'), {
      to: ['MAIN'],
      type: 'ask',
      action: 'clarify',
      body: JSON.stringify({ code_path: '-', question: `is ${ESCAPES}it read?`, context: '-' }),
    });
    await seen(room, MAIN, 'question:is it read?');
    await eventually('that it was read', () =>
      mail.inbox({ by: 'person', runId, address: 'MAIN', name: 'x' }).length === 0 ? true : undefined,
    );
    expect(mail.status(runId).members).toMatchObject([
      { address: 'MAIN', online: true, unread: 0 },
      { address: 'A', online: false },
      { address: 'B', online: false },
    ]);

    await room.type(A, '/quit');
    await eventually('two panes', async () => ((await room.titles()).length === 2 ? true : undefined)).catch(
      async (error: unknown) => expect(`${String(error)}\n${await room.screenOf(A)}`).toBe('closed'),
    );
    await room.killProgram(/-B/);
    await seen(room, /-B/, 'This program failed. Press Enter to close the pane.');
    await room.type(/-B/, '');
    await eventually('one pane', async () => ((await room.titles()).length === 1 ? true : undefined));
    expect((await room.team('--detach')).stdout).toMatch(/^The panes of the team are already open\.\n/);
    expect((await room.team('--close')).stdout).toBe('The panes of the team are closed.\n');
    expect((await room.team('--close')).stdout).toBe('No panes of this team are open.\n');
  });
});

/** The token goes by a file that is gone; what others on the machine can see does not hold it. */
async function expectOwnVariables(room: TeamRoom): Promise<void> {
  const panes = room.terminal
    .tmux(await room.socket(), 'list-panes', '-s', '-F', '#{pane_pid}')
    .trim()
    .split('\n');
  const [, pid = ''] = panes;
  const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  const { id, epoch } = room.recorded.ledger.mail.session(room.recorded.id);
  expect(variables).toEqual(
    expect.arrayContaining([
      'TEAM_ROLE=A',
      expect.stringMatching(/^TEAM_AGENT_ID=A-[0-9a-f]{8}$/),
      `TEAM_SESSION=${id}`,
      `TEAM_EPOCH=${epoch}`,
      `TEAM_WINDOW_NAME=team-${id.slice(0, 8)}-A`,
      'SQUAD_AGENT=A',
      'SQUAD_RUN=tidy',
    ]),
  );
  const shown = [readFileSync(`/proc/${pid}/cmdline`, 'utf8'), ...variables].join('\n');
  expect(shown).not.toMatch(/[0-9a-f]{64}/);
  expect(readdirSync(join(stateOf(room.repository), 'panes'))).toEqual([]);
}

describe('squad team, refused', () => {
  it('has no panes for what runs inside a turn: whoever opens one may speak from it', async () => {
    const room = mailRoom(LED);
    const refused = await room.run(['team', '--detach'], { SQUAD_TURN_ID: 'tidy.greet-1' });
    expect(refused).toMatchObject({ code: 65, stdout: '' });
    expect(refused.stderr).toContain('not_authorized: a turn cannot open panes');
  });

  it.each([
    ['a run that is not there', ['--run', 'nobody'], 2, 'nobody'],
    ['an objective and a run', ['objective.md', '--run', 'tidy'], 2, 'cannot be given together'],
  ])('%s', async (_title, args, code, why) => {
    const refused = await mailRoom(LED).run(['team', '--detach', ...args]);
    expect(refused).toMatchObject({ code, stderr: expect.stringContaining(why) as string });
  });

  it('names what to install where there is no tmux', async () => {
    const room = mailRoom(LED);
    const git = join(room.root, 'git');
    mkdirSync(git);
    const found = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    symlinkSync(found, join(git, 'git'));
    const refused = await room.run(['team', '--detach'], { PATH: git });
    expect(refused).toMatchObject({ code: 78, stderr: expect.stringContaining('tmux is not on PATH') as string });
    expect(refused.stderr).toContain('Next: Install tmux 3.2 or newer');
  });
});

async function seen(room: TeamRoom, title: RegExp, text: string): Promise<void> {
  let last = '';
  try {
    await eventually(text, async () => {
      last = await room.screenOf(title).catch(String);
      return last.includes(text) ? true : undefined;
    });
  } catch (error) {
    throw new Error(`${String(error)}\n${last.trim()}`, { cause: error });
  }
}
