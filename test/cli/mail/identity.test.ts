// @module-tag all
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { insideTurn } from '../../../src/substrate/system/process/process-table.ts';
import { mailRoom, POLICY, type MailRoom } from './room.ts';
import { result } from '../../substrate/ledger/support.ts';
import { CLI_ENTRY } from '../../support/cli-entry.ts';

/** The token of a window of A’s, which holds as long as the run’s engine or nobody drives. */
function paneToken({ recorded }: MailRoom): string {
  return recorded.ledger.mail.issuePaneToken(recorded.id, 'A', 'A-1');
}

function refusals(room: MailRoom, stream: string): number {
  return room.recorded.ledger.events({ stream }).filter(({ type }) => type === 'mail-refused').length;
}

describe('SQUAD_TOKEN', () => {
  it('says who speaks and reads', async () => {
    const room = mailRoom(undefined, true);
    const env = { SQUAD_TOKEN: paneToken(room), SQUAD_AGENT: 'a', TEAM_ROLE: 'B' };
    expect(await room.run(['mail', 'say', 'which?'], env)).toMatchObject({ code: 0, stderr: '' });
    expect(room.messages()).toMatchObject([{ from: 'A', agent_instance: 'A-1' }]);
    await room.run(['mail', 'reply', 'that']);
    expect((await room.run(['mail', 'inbox', '--as', 'A', '--take'], env)).stdout).toMatch(
      /^from:MAIN \| send\/answer .* says:that/,
    );
  });

  it.each<[string, string[], Record<string, string>]>([
    ['--as', ['--as', 'B'], {}],
    ['SQUAD_AGENT', [], { SQUAD_AGENT: 'MAIN' }],
    ['a name that is nobody’s', [], { SQUAD_AGENT: 'root' }],
  ])('is believed before %s, and the try is on record', async (_title, more, environment) => {
    const room = mailRoom(undefined, true);
    const end = await room.run(['mail', 'say', 'hi', ...more], { SQUAD_TOKEN: paneToken(room), ...environment });
    expect(end.stderr).toMatch(/not_authorized: SQUAD_TOKEN belongs to A: you cannot speak as another member/);
    expect(end).toMatchObject({ code: 65, stdout: '' });
    expect(room.messages()).toEqual([]);
    expect(refusals(room, room.recorded.id)).toBe(1);
  });

  it.each(['mail inbox', 'mail say hi', 'mail listen', 'mail done'])(
    'that is nobody’s any more is refused by `%s`, and the try is on record',
    async (words) => {
      const room = mailRoom(undefined, true);
      const token = paneToken(room);
      room.recorded.ledger.mail.closePane(token);
      const end = await room.run(words.split(' '), { SQUAD_TOKEN: token });
      expect(end.stderr).toMatch(/not_authorized: SQUAD_TOKEN is not valid: its turn or window has ended/);
      expect(end).toMatchObject({ code: 65, stdout: '' });
      expect(refusals(room, 'workspace')).toBe(1);
    },
  );

  it('means the run that it is of', async () => {
    const room = mailRoom(undefined, true);
    const end = await room.run(['mail', 'inbox', '--run', 'other'], { SQUAD_TOKEN: paneToken(room) });
    expect(end.stderr).toMatch(/SQUAD_TOKEN belongs to the run tidy/);
    expect(end.code).toBe(65);
  });
});

describe('a turn’s own token', () => {
  function turnOf(agent: string) {
    const policy = { ...POLICY, members: POLICY.members.map((one) => (one.address === 'B' ? { ...one, agent } : one)) };
    const room = mailRoom(policy, true);
    room.recorded.turn('a', 1, agent);
    const SQUAD_TOKEN = room.recorded.ledger.mail.issueTurnToken(room.recorded.lease, 'tidy.a-1');
    return { room, environment: { SQUAD_TOKEN, SQUAD_TURN_ID: 'tidy.a-1' } };
  }

  it('speaks for its agent, and what changes the plan waits for the turn’s end', async () => {
    const { room, environment } = turnOf('bob');
    const assign = ['--to', 'B', '--task', 'T', '--files', 'a', '--success-criteria', 'x', '--deadline', '2h'];
    await room.run(['mail', 'assign', ...assign]);
    const waiting = await room.run(['mail', 'done', '--wait', 'accepted'], environment);
    expect(waiting.stderr).toMatch(
      /takes effect when this turn completes, so this turn cannot wait until it is accepted/,
    );
    expect(waiting.code).toBe(2);
    const done = await room.run(['mail', 'done', '--wait', 'delivered'], environment);
    expect(done.stdout).toMatch(
      /^sent {2}#2 {2}B → MAIN {2}done {2}T {2}\(when this turn completes\)\nMAIN {2}waiting\n$/,
    );
    expect((await room.run(['mail', 'inbox'])).stdout).toBe('no new mail\n');
    expect((await room.run(['mail', 'trace'])).stdout).toMatch(/#2 \| waits for the end of its turn\n/);
  });

  it('is nobody’s once the turn is settled', async () => {
    const { room, environment } = turnOf('bob');
    room.recorded.ledger.settle(room.recorded.lease, 'tidy.a-1', result({}));
    const end = await room.run(['mail', 'say', 'hi'], environment);
    expect(end).toMatchObject({ code: 65, stdout: '' });
    expect(room.messages()).toEqual([]);
  });
});

describe('inside a turn', () => {
  it('nobody is a person, with the mark in the environment', async () => {
    const room = mailRoom(undefined, true);
    const end = await room.run(['mail', 'say', '--as', 'a', 'hi'], { SQUAD_TURN_ID: 'tidy.abcdef.a-1' });
    expect(end.stderr).toMatch(/a turn cannot speak as a person[^]*Next: Use those tools/);
    expect(end).toMatchObject({ code: 65, stdout: '' });
    expect(refusals(room, room.recorded.id)).toBe(1);
  });

  it('nor without it, where what started it has the mark', async () => {
    const room = mailRoom(undefined, true);
    const line = `env -u SQUAD_TURN_ID "${process.execPath}" "${CLI_ENTRY}" mail say --as MAIN --to A hi; exit $?`;
    const child = spawn('/bin/sh', ['-c', line], {
      cwd: room.repository,
      env: {
        PATH: process.env['PATH'],
        HOME: room.root,
        XDG_STATE_HOME: join(room.root, 'state'),
        SQUAD_TURN_ID: 'tidy.abcdef.a-1',
      },
      stdio: 'ignore',
    });
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).toBe(65);
    expect(room.messages()).toEqual([]);
  });

  it('is known by a sandbox’s folder for temporary files too', () => {
    expect(insideTurn({ TMPDIR: '/turns/squad-tidy.abcdef.a-1/tmp' }, process.pid)).toBe(true);
    expect(insideTurn({ TMPDIR: '/tmp/squad-engine-x', SQUAD_TURN: 'x' }, process.pid)).toBe(false);
  });

  it('everybody may look', async () => {
    const room = mailRoom(undefined, true);
    expect(await room.run(['mail', 'status'], { SQUAD_TURN_ID: 'tidy.abcdef.a-1' })).toMatchObject({ code: 0 });
  });
});
